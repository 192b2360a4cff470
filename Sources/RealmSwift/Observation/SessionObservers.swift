import RealmStorage

/// The observers of one session, in its scheduler: calls them when the realm has moved to what they are to be told.
final class SessionObservers: SessionWatcher {
  /// It keeps this.
  private unowned let session: RealmSession
  /// The file, which the session keeps, keeps it.
  private unowned let hub: ChangeHub
  /// Computed for the version that the session shows.
  private var calls: [ObserverCall] = []
  /// By number, in the order they came.
  private var ofRealm: [(id: Int, block: (Realm.Notification) -> Void)] = []
  private var lastID = 0

  init(_ session: RealmSession, _ hub: ChangeHub) {
    self.session = session
    self.hub = hub
  }

  /// Tells what there is to tell. Not in a write transaction: the calls come after it.
  func deliver() {
    while !session.isWriting {
      if calls.isEmpty { calls = hub.calls(session) }
      if calls.isEmpty || session.isWriting { return }
      // Taken before it is made: it may write, which makes the others first.
      calls.removeFirst().run()
    }
  }

  func willWrite() {
    if hasCollections { _ = session.refresh() }
    deliver()
  }

  /// More than the realm itself is observed.
  var hasCollections = false
  var movesSession: Bool { hasCollections }

  func didMove() {
    tell(.didChange)
    hub.didCommit()
  }

  func isBehind() { tell(.refreshRequired) }

  var isEmpty: Bool { ofRealm.isEmpty }

  private func tell(_ notification: Realm.Notification) {
    for (id, block) in ofRealm where ofRealm.contains(where: { $0.id == id }) { block(notification) }
  }

  func add(_ block: @escaping (Realm.Notification) -> Void) -> Int {
    lastID += 1
    ofRealm.append((lastID, block))
    return lastID
  }

  func remove(_ id: Int) { ofRealm.removeAll { $0.id == id } }
}

extension RealmSession {
  /// What calls its observers; it is made for the first.
  func watched(by hub: ChangeHub) -> SessionObservers {
    if let made = observers as? SessionObservers { return made }
    let made = SessionObservers(self, hub)
    observers = made
    return made
  }

  /// Stops the program where nothing can be observed.
  ///
  /// - Parameter isElsewhere: the observer is called where another session is.
  func checkObservable(_ what: String, isElsewhere: Bool = false) {
    check()
    if isFrozen {
      raise(
        "Frozen realm",
        "what is frozen never changes, so \(what) can't be observed: observe what thaw() answers.")
    }
    if file.configuration.readOnly {
      raise(
        "Read-only realm",
        "\(what) can't be observed: \(file.database.path) was opened with readOnly = true; open it without.")
    }
    if isElsewhere { return }
    inbox.lookForLoop()
    if !inbox.isServed {
      raise(
        "Thread without a run loop",
        "\(what) can't be observed here: observers are called later, and nothing calls this thread. Observe on a queue by observe(on:), or "
          + "on the main queue, an actor, or a thread whose run loop runs.")
    }
    if hasWritten {
      raise(
        "Observer in a write transaction",
        "\(what) can't be observed after the first change of a write transaction: observe it before, or after the commit."
      )
    }
  }
}
