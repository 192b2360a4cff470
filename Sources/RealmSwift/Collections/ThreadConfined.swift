import RealmStorage

/// A realm's session, to be named in declarations of the library only.
public struct _RealmSession {
  /// Keeps the session.
  private let life: SessionLife
  var session: RealmSession { life.session }

  init(_ life: SessionLife) { self.life = life }
}

/// What belongs to a realm, and so to the thread, queue or actor of that realm: objects and collections.
///
/// A thing that is frozen belongs to nobody: it may be read anywhere, shows what it showed when it was frozen, and is neither changed nor
/// observed. It keeps its version of the file, whose space is not used again meanwhile (`StorageReport.pinned`).
public protocol ThreadConfined {
  /// The realm it belongs to; nil where it is unmanaged.
  var realm: Realm? { get }
  /// It was deleted, or what it belongs to was, or its realm was invalidated.
  var isInvalidated: Bool { get }
  /// Whether it is frozen; false where it is unmanaged.
  var isFrozen: Bool { get }
  /// The same as it is in the version that its realm reads, for any thread. In a write transaction, as it was when that began.
  ///
  /// - Precondition: it is managed and valid, and was not made in the open write transaction: else the program stops.
  func freeze() -> sending Self
  /// The same as it is in the newest version, live, in the realm of the code that runs; nil where it is not there any more.
  ///
  /// - Precondition: it is managed: else the program stops.
  func thaw() -> Self?

  /// The same in another session of the same file; nil where it is not there.
  func _moved(to session: _RealmSession) -> Self?
}

extension ThreadConfined {
  /// Whether it is frozen; false where it is unmanaged.
  public var isFrozen: Bool { realm?.isFrozen ?? false }

  /// The same as it is in the version that its realm reads, for any thread; itself where it is frozen. O(1). In a write transaction, as it was
  /// when that began.
  ///
  /// - Precondition: it is managed and valid, and was not made in the open write transaction: else the program stops.
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

  /// The same as it is in the newest version, live, in the realm of the code that runs; nil where it is not there any more. Itself where it is live.
  ///
  /// - Precondition: it is managed: else the program stops.
  public func thaw() -> Self? {
    let realm = managingRealm("thawed")
    return realm.isFrozen ? _moved(to: _RealmSession(realm.thaw().life)) : self
  }

  /// The realm of what may be taken from it to another session.
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
  public final func _moved(to session: _RealmSession) -> Self? {
    guard let moved = managedRow?.moved(to: session.session) else { return nil }
    let context = moved.contextOfHandles
    return InstanceMaker.handle(context.object(moved.row, birth: moved.birth), as: Self.self)
  }
}
