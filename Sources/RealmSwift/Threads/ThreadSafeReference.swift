import RealmStorage
import Synchronization

/// Takes an object or a collection from one thread, queue or actor to another.
///
///     let reference = ThreadSafeReference(to: person)
///     queue.async {
///       guard let realm = try? Realm(queue: queue) else { return }
///       guard let person = realm.resolve(reference) else { return }  // deleted meanwhile
///     }
///
/// A reference only names the object or collection. It keeps the file open, but no version of it.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
  private let named: Named<Confined>

  /// Makes a reference, which can be resolved once.
  ///
  /// - Precondition: the object or collection is managed and not invalidated. Otherwise the program stops.
  public init(to threadConfined: Confined) {
    let realm = threadConfined.managingRealm("referred to")
    named = Named(threadConfined, realm.session)
  }

  /// Whether the reference was resolved, so that it can't be resolved again.
  public var isInvalidated: Bool { named.isTaken }

  fileprivate func resolve(in realm: Realm) -> Confined? {
    guard let named = named.take() else {
      raise(
        "Reference that was resolved",
        "a ThreadSafeReference to a \(Confined.self) can be resolved once: make one for each thread, or use @ThreadSafe."
      )
    }
    return named.resolve(in: realm)
  }
}

extension Realm {
  /// Returns the object or collection that a reference was made for, in this realm; nil if it is not there any more. The realm
  /// first moves to the version that the reference was made of, or to a later one, unless a write transaction is open.
  ///
  /// - Precondition: the reference was not resolved before, and was made in a realm of the same file. This realm is not frozen.
  ///   Otherwise the program stops.
  public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
    session.check()
    return reference.resolve(in: self)
  }
}

/// A property or local variable whose object or collection may be read on any thread. Each read finds it in the realm of the code
/// that runs, which is opened if it is not open. The value is nil if the object or collection was deleted.
///
///     @ThreadSafe var person = somebody
///     let variable = $person
///     queue.async { print(variable.wrappedValue?.name ?? "gone") }
///
/// As a parameter it takes an object to another actor: `func show(@ThreadSafe person: Person?) async`.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: Sendable {
  private let named: Mutex<Named<T>?>

  /// Makes a variable for an object or collection, or for none.
  ///
  /// - Precondition: the value is nil, or managed and not invalidated. Otherwise the program stops.
  public init(wrappedValue: T?) { named = Mutex(Self.name(wrappedValue)) }

  /// The object or collection, live, for the code that runs; nil if it is not there any more.
  ///
  /// - Precondition: a value that is set is nil, or managed and not invalidated. Otherwise the program stops.
  public var wrappedValue: T? {
    get {
      guard let named = named.withLock({ $0 })?.copy else { return nil }
      return named.resolve(in: named.realmHere())
    }
    set {
      let name = Self.name(newValue)
      named.withLock { $0 = name }
    }
  }

  /// The variable itself, which may be sent to any thread.
  public var projectedValue: ThreadSafe<T> { self }

  /// Makes a separate variable for the same object or collection. The compiler calls this for a `@ThreadSafe` parameter at the
  /// place of the call, so that the call may lead to another actor.
  public init(projectedValue: ThreadSafe<T>) { named = Mutex(projectedValue.named.withLock { $0 }) }

  private static func name(_ value: T?) -> Named<T>? {
    guard let value else { return nil }
    return Named(value, value.managingRealm("held by @ThreadSafe").session)
  }
}

/// The name of an object or collection of a file. It belongs to no version and to no thread.
private final class Named<Confined: ThreadConfined>: Sendable {
  /// The object or collection in a session that only names it, and the version in which it existed.
  struct Content: @unchecked Sendable {
    // Sendable: the content never changes, and nothing is read through it.
    let confined: Confined
    let version: UInt64
    let names: SessionLife
    /// The fate of the transaction that made the object, if it was open when the reference was made.
    let fate: TransactionFate?

    /// The realm of the code that runs.
    func realmHere() -> Realm {
      let file = names.session.file
      let life = file.liveSession(file.schedulerHere)
      return Realm(life, adopting: names.session)
    }

    func resolve(in realm: Realm) -> Confined? {
      let session = realm.session
      guard session.file === names.session.file else {
        raise(
          "Reference of another realm",
          "a reference to a \(Confined.self) of \(names.session.file.database.path) can't be resolved in the realm at "
            + "\(session.file.database.path): resolve it in a realm of its own file.")
      }
      // If the transaction was cancelled, another row may have the key now.
      if fate?.isCancelled == true { return nil }
      if session.isFrozen {
        raise(
          "Frozen realm",
          "a reference to a \(Confined.self) can't be resolved in a frozen realm: resolve it in a live one.")
      }
      if session.transaction == nil, session.versionNumber() < version { _ = session.refresh() }
      session.adopt(names.session.schema, names.session.view.configuration)
      return confined._moved(to: _RealmSession(realm.life))
    }
  }

  private let content: Mutex<Content?>

  init(_ confined: Confined, _ session: RealmSession) {
    let names = session.frozen(namesOnly: true)
    guard let named = confined._moved(to: _RealmSession(names)) else {
      preconditionFailure("a session that only names things finds all of them")
    }
    var fate: TransactionFate?
    if session.isWriting, confined._moved(to: _RealmSession(session.frozen())) == nil { fate = session.fate }
    content = Mutex(Content(confined: named, version: session.versionNumber(), names: names, fate: fate))
  }

  var isTaken: Bool { content.withLock { $0 == nil } }
  var copy: Content? { content.withLock { $0 } }

  func take() -> Content? {
    content.withLock { content in
      defer { content = nil }
      return content
    }
  }
}
