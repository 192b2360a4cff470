/// An uncounted reference to an object. It is valid for as long as its owner is borrowed.
package struct Lent<Object: AnyObject>: ~Escapable, BitwiseCopyable {
  private let object: Unmanaged<Object>

  /// - Precondition: The owner keeps the object.
  @inline(__always)
  @_lifetime(borrow owner)
  package init<Owner: ~Copyable & ~Escapable>(_ object: Object, of owner: borrowing Owner) {
    self.object = .passUnretained(object)
  }

  @inline(__always)
  package func use<Result>(_ body: (Object) -> Result) -> Result { object._withUnsafeGuaranteedRef(body) }

  /// The bytes of an array of the object, for as long as the object is lent.
  ///
  /// - Precondition: The object stores the array that the closure returns, and never changes it.
  @_lifetime(copy self)
  func bytes(_ array: (Object) -> [UInt8]) -> RawSpan {
    // The object keeps the array's storage, so the bytes do not move.
    let buffer = use { array($0).withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[...]) } }
    return _overrideLifetime(RawSpan(_unsafeBytes: buffer), copying: self)
  }
}

/// An uncounted reference to an object that other code keeps.
struct UncountedReference<Object: AnyObject>: BitwiseCopyable {
  private let object: Unmanaged<Object>

  /// - Precondition: Other code keeps the object for as long as this reference is used.
  @inline(__always)
  init(_ object: Object) { self.object = .passUnretained(object) }

  @inline(__always)
  func use<Result, Failure>(_ body: (Object) throws(Failure) -> Result) throws(Failure) -> Result {
    try object.lend(body)
  }

  var counted: Object { object.takeUnretainedValue() }
}

extension Unmanaged {
  /// Lends the object without counting a reference.
  ///
  /// - Precondition: Other code keeps the object meanwhile.
  @inline(__always)
  func lend<Result, Failure>(_ body: (Instance) throws(Failure) -> Result) throws(Failure) -> Result {
    // `_withUnsafeGuaranteedRef` passes on untyped errors only.
    let result: Swift.Result<Result, Failure> = _withUnsafeGuaranteedRef { object in
      do throws(Failure) { return .success(try body(object)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
