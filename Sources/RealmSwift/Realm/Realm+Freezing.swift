import RealmStorage

extension Realm {
  /// Whether the realm is frozen: it shows one version for ever, and may be read on any thread.
  public var isFrozen: Bool { life.session.isFrozen }

  /// A frozen realm of the version that this realm reads, for any thread; the realm itself if it is frozen. In a write
  /// transaction it is the version that the transaction began with. Frozen realms of one version of a file are equal if they have
  /// the same classes. O(1).
  ///
  /// A frozen realm can be neither written nor refreshed. The file keeps its version, and can't use the space of it again, until
  /// the realm and all that was read from it are released.
  public func freeze() -> sending Realm {
    if isFrozen { return sent(self) }
    let frozen = session.frozen()
    return sent(Realm(frozen, RealmView(view.configuration, classes, frozen.session)))
  }

  /// The live realm of the same file for the code that runs, at the newest version; the realm itself if it is live. It is the
  /// realm of the queue or actor that the code runs on, if one was opened for it; else that of the thread.
  public func thaw() -> Realm {
    guard isFrozen else { return self }
    let file = life.session.file
    let thawed = Realm(file.liveSession(file.schedulerHere), classes, view.configuration)
    thawed.refresh()
    return thawed
  }

  /// Makes a realm of a session, and adds the classes to the session.
  private init(_ life: SessionLife, _ classes: RealmSchema, _ configuration: Configuration) {
    life.session.adopt(classes, configuration)
    self.init(life, RealmView(configuration, classes, life.session))
  }

  /// Makes a realm of a session, and adds the classes of another session of the file to it.
  init(_ life: SessionLife, adopting other: RealmSession) {
    self.init(life, other.schema, other.view.configuration)
  }

  /// A frozen copy of an object of this realm; see `ThreadConfined.freeze()`.
  public func freeze<T: ObjectBase>(_ object: T) -> sending T { object.freeze() }

  /// A live copy of a frozen object; nil if the object is not there any more. See `ThreadConfined.thaw()`.
  public func thaw<T: ObjectBase>(_ object: T) -> T? { object.thaw() }

  /// A frozen copy of a collection of this realm; see `ThreadConfined.freeze()`.
  public func freeze<Collection: RealmCollection>(_ collection: Collection) -> sending Collection {
    collection.freeze()
  }

  /// A live copy of a frozen collection; nil if the object that it belongs to is not there any more. See `ThreadConfined.thaw()`.
  public func thaw<Collection: RealmCollection>(_ collection: Collection) -> Collection? { collection.thaw() }
}
