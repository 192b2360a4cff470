import RealmStorage

/// The session of a realm. It has a name so that declarations of the library can use it; programs do not use it.
public struct _RealmSession {
  /// Keeps the session alive.
  private let life: SessionLife
  var session: RealmSession { life.session }

  init(_ life: SessionLife) { self.life = life }
}

/// An object or collection that belongs to a realm, and so to the thread, queue or actor of that realm.
///
/// A frozen object or collection belongs to no thread: any thread may read it. It shows what it showed when it was frozen,
/// and can't be changed or observed. It keeps its version of the file alive, and the space of that version is not reused
/// meanwhile (`StorageReport.pinned`).
public protocol ThreadConfined {
  /// The realm that manages the value; nil if the value is unmanaged.
  var realm: Realm? { get }
  /// Whether the value or the object that has it was deleted, or its realm was invalidated.
  var isInvalidated: Bool { get }
  /// Whether the value is frozen; false if it is unmanaged.
  var isFrozen: Bool { get }
  /// A frozen copy for any thread. It shows the version that its realm reads; in a write transaction it shows the state at
  /// the beginning of the transaction.
  ///
  /// An unmanaged or invalidated value, and one that was made in the open write transaction, stops the program.
  func freeze() -> sending Self
  /// A live copy in the realm of the current thread, queue or actor, at the newest version. It is nil if the value is not
  /// there any more.
  ///
  /// An unmanaged or invalidated value stops the program.
  func thaw() -> Self?

  /// The same object or collection in another session of the same file; nil if it is not there.
  func _moved(to session: _RealmSession) -> Self?
}

extension ThreadConfined {
  /// Whether it is frozen; false if it is unmanaged.
  public var isFrozen: Bool { realm?.isFrozen ?? false }

  /// A frozen copy for any thread; a frozen value answers itself. It shows the version that its realm reads; in a write
  /// transaction it shows the state at the beginning of the transaction. O(1).
  ///
  /// An unmanaged or invalidated value, and one that was made in the open write transaction, stops the program.
  public func freeze() -> sending Self {
    let realm = managingRealm("frozen")
    if realm.isFrozen { return sent(self) }
    guard let frozen = _moved(to: _RealmSession(realm.freeze().life)) else {
      raise(
        "Uncommitted object",
        "a \(Self.self) was made in the open write transaction, and what is frozen is a version that is committed: freeze it after the "
          + "commit.")
    }
    return sent(frozen)
  }

  /// A live copy in the realm of the current thread, queue or actor, at the newest version; a live value answers itself. It
  /// is nil if the value is not there any more.
  ///
  /// An unmanaged or invalidated value stops the program.
  public func thaw() -> Self? {
    let realm = managingRealm("thawed")
    return realm.isFrozen ? _moved(to: _RealmSession(realm.thaw().life)) : self
  }

  /// The realm of a value that is to be taken to another session. It stops the program if the value is unmanaged or
  /// invalidated.
  func managingRealm(_ what: String) -> Realm {
    guard let realm else {
      raise(
        "Unmanaged object",
        "a \(Self.self) that is in no realm can't be \(what): add it, or its object, to a realm first.")
    }
    if isInvalidated {
      raise(
        "Invalidated object",
        "a \(Self.self) that was deleted, or whose realm was invalidated, can't be \(what); ask isInvalidated before."
      )
    }
    return realm
  }
}

extension ObjectBase: ThreadConfined {
  /// The same object in another session; nil if its row is not there, or it is unmanaged.
  public final func _moved(to session: _RealmSession) -> Self? {
    guard let moved = managedRow?.moved(to: session.session) else { return nil }
    let context = moved.contextOfHandles
    return InstanceMaker.handle(context.object(moved.row, birth: moved.birth), as: Self.self)
  }
}
