/// A reference to an object that somebody else keeps: used without counting.
///
/// The engine has its own, as nothing of it would be inlined here.
struct UncountedReference<Object: AnyObject> {
  private let object: Unmanaged<Object>

  /// - Precondition: somebody keeps the object for as long as this is used.
  @inline(__always)
  init(_ object: Object) { self.object = .passUnretained(object) }

  @inline(__always)
  func use<Result>(_ body: (Object) -> Result) -> Result { object._withUnsafeGuaranteedRef(body) }

  @inline(__always)
  func use<Failure>(_ body: (Object) throws(Failure) -> Void) throws(Failure) {
    // It passes on untyped errors only.
    let failure: Failure? = object._withUnsafeGuaranteedRef { object in
      do throws(Failure) { try body(object) } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }

  var counted: Object { object.takeUnretainedValue() }

  /// Keeps the object from now on, until it is released.
  func retain() { _ = object.retain() }
  func release() { object.release() }
}

/// A handle's reference to its context: it keeps the session, which keeps the context, and is used without counting.
struct ContextReference {
  private let context: UncountedReference<ObjectContext>

  @inline(__always)
  init(_ context: ObjectContext) {
    self.context = UncountedReference(context)
    context.sessionOfHandles.use { $0.holders.add() }
  }

  /// Lets go of the session: this is not used any more.
  @inline(__always)
  func release() {
    context.use { $0.sessionOfHandles }.use { $0.removeHolder() }
  }

  var counted: ObjectContext { context.counted }

  @inline(__always)
  func use<Result>(_ body: (ObjectContext) -> Result) -> Result { context.use(body) }
}
