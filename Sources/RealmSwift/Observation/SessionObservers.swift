import RealmStorage

/// The observers of one session, in its scheduler. They are called when the realm shows the version that they are told
/// of.
final class SessionObservers: SessionWatcher {
  /// The session keeps this object.
  private unowned let session: RealmSession
  /// The session keeps the file, which keeps the hub.
  private unowned let hub: ChangeHub
  /// The calls that were computed for the version that the session shows, and are still to be made.
  private var calls: [ObserverCall] = []
  /// The observers of the realm with their numbers, in the order in which they were added.
  private var ofRealm: [(id: Int, block: (Realm.Notification) -> Void)] = []
  private var lastID = 0

  init(_ session: RealmSession, _ hub: ChangeHub) {
    self.session = session
    self.hub = hub
  }

  /// The observers of collections and objects. Their tokens keep them, and so does the hub until they have ended.
  private var observations: [Kept] = []

  private struct Kept {
    weak var observation: Observation?
  }

  func add(_ observation: Observation) {
    observations.removeAll { $0.observation?.isEnded != false }
    observations.append(Kept(observation: observation))
  }

  var movesSession: Bool { observations.contains { $0.observation?.isEnded == false } }

  /// The orders that observers watch, and the generation of the session for which they hold.
  private var orders: (byPlan: [RowPlan: RowOrder], generation: UInt64) = ([:], 0)

  func order(of plan: RowPlan) -> RowOrder? {
    orders.generation == session.generation ? orders.byPlan[plan] : nil
  }

  func note(_ found: [RowPlan: RowOrder]) { orders = (found, session.generation) }

  /// Makes the calls that are due. In a write transaction it makes none, because the calls come after it.
  func deliver() {
    wasSkipped = session.isWriting
    if calls.isEmpty, !session.isWriting { calls = hub.takeCalls(session) }
    makeCalls()
  }

  /// Whether `deliver` was called in a write transaction, so that it must be called again after it.
  private var wasSkipped = false

  /// Makes the calls that were computed for the version that the session shows.
  private func makeCalls() {
    // A call is removed before it is made: it may begin a write, which first makes the remaining calls.
    while !calls.isEmpty, !session.isWriting { calls.removeFirst().run() }
  }

  func willMove() { makeCalls() }

  func willWrite() {
    makeCalls()
    guard movesSession, !session.isWriting else { return }
    // If the newest version can't be read, the transaction that begins throws the error.
    if let newest = try? session.file.database.snapshot() { _ = try? session.refresh(to: newest) }
    deliver()
  }

  func didMove() {
    if isPassing {
      hasMoved = true
      return
    }
    // Otherwise a realm that does not move by itself would show a later version than the one that the calls tell of.
    if movesSession, !session.autorefresh, calls.isEmpty, !session.isWriting {
      calls = hub.takeCalls(session)
    }
    tell(.didChange)
    hub.didCommit()
    if !calls.isEmpty || wasSkipped {
      deliverLater()
    }
  }

  private func deliverLater() {
    let session = Reference(life: session.life)
    session.life.session.inbox.enqueue { (session.life.session.observers as? SessionObservers)?.deliver() }
  }

  private struct Reference: @unchecked Sendable {
    // Sendable: the life is used by the scheduler of the session.
    let life: SessionLife
  }

  func catchUp() { if movesSession { deliverLater() } }

  /// Whether the session commits a transaction without calling some of its observers. The others are called after the
  /// commit.
  private var isPassing = false
  private var hasMoved = false

  func passing(_ body: () throws -> Void) rethrows {
    (isPassing, hasMoved) = (true, false)
    defer {
      isPassing = false
      if hasMoved { didMove() }
    }
    try body()
  }

  func isBehind() { tell(.refreshRequired) }

  func didInvalidate() {
    calls = []
    for kept in observations { kept.observation?.end() }
    observations = []
  }

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
  /// The observers of the session, which are made when the first one is added.
  func watched(by hub: ChangeHub) -> SessionObservers {
    if let made = observers as? SessionObservers { return made }
    let made = SessionObservers(self, hub)
    observers = made
    return made
  }

  /// Stops the program if the session can't be observed.
  ///
  /// - Parameter isElsewhere: whether the observer is called in another session.
  func checkObservable(_ what: String, isElsewhere: Bool = false) {
    check()
    checkCounted("be observed")
    if isFrozen {
      raise(
        "Frozen realm",
        "what is frozen never changes, so \(what) can't be observed: observe what thaw() answers.")
    }
    if file.configuration.isFileReadOnly {
      raise(
        "Read-only realm",
        "\(what) can't be observed: \(file.database.path) was opened with readOnly = true; open it without.")
    }
    if isElsewhere, !hasWritten { return }
    inbox.lookForLoop()
    if !isElsewhere, !inbox.isServed {
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
