import RealmStorage

extension Realm {
  /// Whether it is frozen: it shows one version for ever, and may be read on any thread.
  public var isFrozen: Bool { life.session.isFrozen }

  /// The version that this realm reads, for any thread; itself where it is frozen. In a write transaction, the version that it began with.
  /// Realms of a file that were frozen at one version and have the same classes are equal. O(1).
  ///
  /// A frozen realm is neither written nor refreshed. It keeps its version of the file, whose space is not used again
  /// until the realm, and all that was read from it, is released.
  public func freeze() -> sending Realm {
    if isFrozen { return sent(self) }
    let frozen = session.frozen()
    return sent(Realm(frozen, RealmView(view.configuration, classes, frozen.session)))
  }

  /// The realm of the same file that belongs to the code that runs, at the newest version; itself where it is live.
  ///
  /// That is the realm of the queue or actor that runs, where one was opened for it; else that of the thread.
  public func thaw() -> Realm {
    guard isFrozen else { return self }
    let file = life.session.file
    let thawed = Realm(file.liveSession(file.schedulerHere), classes, view.configuration)
    thawed.refresh()
    return thawed
  }

  /// A realm of a session, which has the classes from now on.
  private init(_ life: SessionLife, _ classes: RealmSchema, _ configuration: Configuration) {
    life.session.adopt(classes, configuration)
    self.init(life, RealmView(configuration, classes, life.session))
  }

  /// The same with the classes of another session of the file.
  init(_ life: SessionLife, adopting other: RealmSession) {
    self.init(life, other.schema, other.view.configuration)
  }

  /// A frozen copy of an object of this realm; see `ThreadConfined.freeze()`.
  public func freeze<T: ObjectBase>(_ object: T) -> sending T { object.freeze() }

  /// A live copy of a frozen object; nil where it is not there any more. See `ThreadConfined.thaw()`.
  public func thaw<T: ObjectBase>(_ object: T) -> T? { object.thaw() }

  /// A frozen copy of a collection of this realm; see `ThreadConfined.freeze()`.
  public func freeze<Collection: RealmCollection>(_ collection: Collection) -> sending Collection {
    collection.freeze()
  }

  /// A live copy of a frozen collection; nil where what it belongs to is not there any more. See `ThreadConfined.thaw()`.
  public func thaw<Collection: RealmCollection>(_ collection: Collection) -> Collection? { collection.thaw() }
}
