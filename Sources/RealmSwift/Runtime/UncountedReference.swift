import CPlatform
import Synchronization

/// A reference to an object that somebody else keeps: used without counting.
///
/// The engine has its own, as nothing of it would be inlined here.
struct UncountedReference<Object: AnyObject> {
  private let object: Unmanaged<Object>

  /// - Precondition: somebody keeps the object for as long as this is used.
  @inline(__always)
  init(_ object: Object) { self.object = .passUnretained(object) }

  @inline(__always)
  fileprivate init(opaque: UnsafeRawPointer) { object = .fromOpaque(opaque) }

  fileprivate var opaque: UnsafeMutableRawPointer { object.toOpaque() }

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

/// A handle's reference to its context, which is used without counting.
///
/// This is the whole chain of references that nobody counts, from a handle down: a handle has one to its context, a context
/// one to its session, a session one to the context that was asked for last. What is counted is who holds the session from outside
/// (`HolderCount`): each handle, and each `SessionLife`, which realms and collections keep. The session is freed when the last of them goes; it
/// keeps its contexts. So all of the chain is there for as long as a handle, or a life, is.
///
/// Handles of a frozen object refer to the context of the frozen session, on whatever thread they are; `here` leads to the one
/// that this thread reads with.
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

  /// The context that handles refer to.
  var shared: ObjectContext { context.counted }

  /// The context that is to be used on this thread.
  @inline(__always)
  var here: UncountedReference<ObjectContext> { context.use { $0.here } }

  /// Calls `body` with the context that handles refer to.
  @inline(__always)
  func use<Result>(_ body: (ObjectContext) -> Result) -> Result { context.use(body) }
}

/// Numbers under which threads know what they read a frozen version with (`FrozenReaders`). None is given twice, so what a thread
/// still knows under the number of something that is gone is never asked for.
enum ReaderNumber {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension UncountedReference {
  /// What this thread knows under a number; nil where it knows nothing.
  @inline(__always)
  static func known(_ number: UInt64) -> UncountedReference? {
    cp_known_reader(number).map { UncountedReference(opaque: $0) }
  }

  /// This thread knows the object under a number from now on.
  func know(_ number: UInt64) { cp_know_reader(number, UnsafeRawPointer(opaque)) }
}
