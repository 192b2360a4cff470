/// A reference that counts nothing, for as long as its owner is borrowed.
package struct Lent<Object: AnyObject>: ~Escapable, BitwiseCopyable {
  private let object: Unmanaged<Object>

  /// - Precondition: the owner keeps the object.
  @inline(__always)
  @_lifetime(borrow owner)
  package init<Owner: ~Copyable & ~Escapable>(_ object: Object, of owner: borrowing Owner) {
    self.object = .passUnretained(object)
  }

  @inline(__always)
  package func use<Result>(_ body: (Object) -> Result) -> Result { object._withUnsafeGuaranteedRef(body) }

  /// The bytes of an array of the object, for as long as the object is lent.
  ///
  /// - Precondition: the object stores the array that `array` answers, and never changes it.
  @_lifetime(copy self)
  func bytes(_ array: (Object) -> [UInt8]) -> RawSpan {
    // The object keeps the array's storage, in which the bytes stand where they are.
    let buffer = use { array($0).withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[...]) } }
    return _overrideLifetime(RawSpan(_unsafeBytes: buffer), copying: self)
  }
}

/// A reference that counts nothing, to an object that somebody else keeps.
struct UncountedReference<Object: AnyObject>: BitwiseCopyable {
  private let object: Unmanaged<Object>

  /// - Precondition: somebody keeps the object for as long as this is used.
  @inline(__always)
  init(_ object: Object) { self.object = .passUnretained(object) }

  @inline(__always)
  func use<Result, Failure>(_ body: (Object) throws(Failure) -> Result) throws(Failure) -> Result {
    try object.lend(body)
  }

  var counted: Object { object.takeUnretainedValue() }
}

extension Unmanaged {
  /// Lends the object, which somebody keeps meanwhile, without counting a reference.
  @inline(__always)
  func lend<Result, Failure>(_ body: (Instance) throws(Failure) -> Result) throws(Failure) -> Result {
    // It passes on untyped errors only.
    let result: Swift.Result<Result, Failure> = _withUnsafeGuaranteedRef { object in
      do throws(Failure) { return .success(try body(object)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
