import CRealmPlatform
import Synchronization

/// A reference to an object that something else keeps. Its use counts no references.
///
/// The engine has its own type for this, which would not be inlined in this module.
struct UncountedReference<Object: AnyObject> {
  private let object: Unmanaged<Object>

  /// - Precondition: something else keeps the object as long as this reference is used.
  @inline(__always)
  init(_ object: Object) { self.object = .passUnretained(object) }

  @inline(__always)
  fileprivate init(opaque: UnsafeRawPointer) { object = .fromOpaque(opaque) }

  fileprivate var opaque: UnsafeMutableRawPointer { object.toOpaque() }

  @inline(__always)
  func use<Result>(_ body: (Object) -> Result) -> Result { object._withUnsafeGuaranteedRef(body) }

  @inline(__always)
  func use<Failure>(_ body: (Object) throws(Failure) -> Void) throws(Failure) {
    // The standard library's function passes on only untyped errors.
    let failure: Failure? = object._withUnsafeGuaranteedRef { object in
      do throws(Failure) { try body(object) } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }

  var counted: Object { object.takeUnretainedValue() }

  /// Keeps the object until `release()` is called.
  func retain() { _ = object.retain() }
  func release() { object.release() }
}

/// The reference of a handle to its context, which is used without counting.
///
/// Three kinds of references are not counted: the reference of a handle to its context, that of a context to its
/// session, and that of a session to the context that was asked for last. Instead, the holders of a session are counted
/// (`HolderCount`). These are the handles, and each `SessionLife`, which realms and collections keep. The session is
/// freed when its last holder goes, and keeps its contexts until then. So a handle or a life keeps the whole chain.
///
/// A handle of a frozen object refers to the context of the frozen session on every thread. `here` leads to the context
/// with which the current thread reads.
struct ContextReference {
  private let context: UncountedReference<ObjectContext>

  @inline(__always)
  init(_ context: ObjectContext) {
    self.context = UncountedReference(context)
    context.sessionOfHandles.use { $0.holders.add() }
  }

  /// Lets go of the session. This reference must not be used after that.
  @inline(__always)
  func release() {
    context.use { $0.sessionOfHandles }.use { $0.removeHolder() }
  }

  /// The context to which handles refer.
  var shared: ObjectContext { context.counted }

  /// The context that the current thread uses.
  @inline(__always)
  var here: UncountedReference<ObjectContext> { context.use { $0.here } }

  /// Calls `body` with the context to which handles refer.
  @inline(__always)
  func use<Result>(_ body: (ObjectContext) -> Result) -> Result { context.use(body) }
}

/// Gives numbers to frozen sessions and their contexts. Under such a number, a thread remembers the session or context
/// with which it reads a frozen version (`FrozenReaders`). No number is given twice, so that a thread never finds what
/// it remembers for an object that does not exist any more.
enum ReaderNumber {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension UncountedReference {
  /// The object that the current thread remembers under a number; nil if there is none.
  @inline(__always)
  static func known(_ number: UInt64) -> UncountedReference? {
    cp_known_reader(number).map { UncountedReference(opaque: $0) }
  }

  /// Lets the current thread remember the object under a number.
  func know(_ number: UInt64) { cp_know_reader(number, UnsafeRawPointer(opaque)) }
}
