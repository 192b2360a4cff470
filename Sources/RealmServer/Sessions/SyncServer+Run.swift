import RealmStorage
import RealmSync

/// Integrating what has come, and answering.
extension SyncServer {
  /// Integrates what has come, and tells each client what concerns it.
  ///
  /// What a client is told was made durable before. A long step is sent part by part: `hasWork` is true then, and `run` is to be called again.
  ///
  /// - Parameter time: of the machine, in milliseconds since 1970.
  /// - Returns: what is to be sent, in this order.
  /// - Throws: `StorageError` where the file of the state can't be read or written: nothing that was told is lost then, and `run` may be called again.
  package func run(time: UInt64) throws(StorageError) -> [Action] {
    // An error ends this call. The caller is not to call again at once, because nothing has changed then.
    hasWork = false
    if node.halt == nil, node.state.version > 0, node.end == node.state.version,
      time > node.state.time + Self.timeBetweenNotes, isClockRight(time)
    {
      try append(.time, time)
    }
    if routes.tables.isEmpty {
      let tables = try node.database.snapshot().tables().map(\.schema).filter { !$0.isEmbedded }.map(\.name)
      if !tables.isEmpty { noteTables(Set(tables)) }
    }
    var isWaiting = true
    while isWaiting {
      try noteChanges(node.follow())
      isWaiting = try answerWaiting(time)
    }
    answerRetired()
    if node.halt == nil {
      try sendSteps(time)
    } else {
      for id in ids { fail(id, .unavailable, Self.halted) }
    }
    return takeActions()
  }

  /// A server that is idle notes the time once in so many milliseconds.
  private static let timeBetweenNotes: UInt64 = 3_600_000

  private func noteChanges(_ made: [UInt64: HistoryEntry]) throws(StorageError) {
    let touched = Set(made.values.flatMap { $0.objects.map(\.name.table) })
    if !touched.isSubset(of: routes.tables) { noteTables(routes.tables.union(touched)) }
    for entry in made.values {
      routes.add(entry, to: &concerned)
      for refusal in entry.refusals { refusals[refusal.reason.rawValue, default: 0] += 1 }
    }
  }

  /// Lets the server forget what no replica needs that is connected, or was within a time. The others are retired if they need it.
  ///
  /// What a client needs is known from the beginning of its session: one that stays connected for long holds up the trim. Whoever runs the server ends sessions once in a while.
  ///
  /// The oldest part of the history is forgotten if the history has more bytes than it may have. Replicas that need this part are reset.
  ///
  /// - Parameters:
  ///   - offline: so many milliseconds: a replica that comes back later is reset. Nil where all are waited for.
  ///   - most: bytes of the history.
  ///   - time: of the machine, in milliseconds since 1970.
  /// - Returns: what is forgotten although it may be needed; nil where that is nothing.
  /// - Throws: `StorageError`.
  @discardableResult
  package func trim(
    offline: UInt64?, keeping most: UInt64 = .max, time: UInt64
  ) throws(StorageError) -> HistoryCut? {
    guard isClockRight(time), node.halt == nil else { return nil }
    try noteChanges(node.follow())
    let state = node.state
    let connected = Set(ids.compactMap { session($0)?.replica })
    if let offline { try note(connected, offline: offline, time) }
    let transaction = try node.database.beginWrite()
    defer { transaction.cancel() }
    var horizon = state.horizon
    if let offline {
      let needed = try state.neededVersion(
        time: time, offline: offline, connected: connected, transaction)
      for replica in needed.left { try append(.retire(replica: replica), time) }
      horizon = max(horizon, needed.version)
    }
    var cut: HistoryCut?
    let bytes = try state.historyBytes(transaction)
    if bytes > most {
      let forced = try state.leastHorizon(keeping: most, transaction)
      if forced > horizon {
        let replicas = try state.replicas(behind: forced, transaction)
        cut = HistoryCut(bytes: bytes, horizon: forced, replicas: replicas)
        (horizon, cuts) = (forced, cuts + 1)
      }
    }
    if cut != nil {
      // Clients that are connected are told the newest version first, so that they do not need the part that is forgotten.
      transaction.cancel()
      for id in ids {
        if case .running(let running)? = session(id)?.state, running.version < horizon {
          concerned.insert(id)
        }
      }
      try sendSteps(time)
    }
    if horizon > state.horizon { try append(.trim(horizon: horizon), time) }
    return cut
  }

  /// Notes that replicas are connected, so that a server that is killed knows it when it is started again.
  private func note(_ connected: Set<UInt64>, offline: UInt64, _ time: UInt64) throws(StorageError) {
    let transaction = try node.database.beginWrite()
    defer { transaction.cancel() }
    if try node.state.note(connected: connected, time: time, within: offline / 8, transaction) {
      try transaction.commit()
    }
  }

  /// The server has started. The time in which it did not run does not count as time that clients were away: they could not connect.
  ///
  /// - Parameter time: of the machine, in milliseconds since 1970.
  /// - Throws: `StorageError`.
  package func noteStart(time: UInt64) throws(StorageError) {
    guard isClockRight(time), node.halt == nil else { return }
    let transaction = try node.database.beginWrite()
    defer { transaction.cancel() }
    try node.state.passOverDowntime(until: time, transaction)
    try transaction.commit()
  }

  // MARK: - Sessions that begin

  /// Answers those who wait for the log; false where nobody does.
  private func answerWaiting(_ time: UInt64) throws(StorageError) -> Bool {
    let waiting = ids.filter { id in
      switch session(id)?.state {
      case .registering, .starting, .resetting: true
      default: false
      }
    }
    guard !waiting.isEmpty else { return false }
    guard node.halt == nil else {
      for id in waiting { fail(id, .unavailable, Self.halted) }
      return false
    }
    let transaction = try node.database.beginWrite()
    defer { transaction.cancel() }
    var answers: [(SessionID, Answer)] = []
    for id in waiting {
      guard let answer = try answer(id, time, transaction) else { continue }
      answers.append((id, answer))
    }
    guard !answers.isEmpty else { return false }
    try transaction.commit()
    for (id, answer) in answers { try carryOut(answer, id, time) }
    return true
  }

  private enum Answer {
    case registered(UInt64, Welcome.Registered)
    case running(ServerSession.Running)
    case reset(old: UInt64, SessionStart, ResetCause)
    case isReset(UInt64, Welcome.Reset)
  }

  private func answer(
    _ id: SessionID, _ time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> Answer? {
    // The log may be behind.
    if let replica = session(id)?.replica, !node.state.knows(replica), session(id)?.isInLog == true {
      return nil
    }
    return switch session(id)?.state {
    case .registering(let replica): .registered(replica, try registered(replica, time, transaction))
    case .starting(let start, let message): try self.start(start, message, time, transaction)
    case .resetting(let old, let new, let message, let cause):
      try reset(old, new, message, cause, time, transaction)
    default: nil
    }
  }

  private func registered(
    _ replica: UInt64, _ time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> Welcome.Registered {
    let (state, offered) = (node.state, draw())
    try state.begin(replica, sessionNumber: offered, time: time, transaction)
    return Welcome.Registered(
      replica: replica, version: state.version, tag: state.tag, mark: state.mark, sessionNumber: offered)
  }

  private func start(
    _ start: ServerSession.Start, _ message: SessionStart, _ time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> Answer? {
    let state = node.state
    let isKnown = message.querySet == 0 || state.querySets(of: start.replica).contains(message.querySet)
    switch try state.resume(start.replica, message, offering: start.offered, time: time, transaction) {
    case .goesOn where message.version > state.version && state.version < node.end:
      // The log is behind.
      return nil
    case .goesOn where isKnown && message.version <= state.version:
      let wanted = state.newestQuerySet(of: start.replica, upTo: message.wanted)
      let view = state.view(of: start.replica, querySet: message.querySet, at: message.version)
      return .running(
        ServerSession.Running(
          replica: start.replica, version: message.version, querySet: message.querySet, view: view,
          wanted: max(wanted, message.querySet), asked: max(wanted, message.querySet),
          awaited: start.isReset ? message.wanted : 0, first: message.querySet,
          told: message.pending.first.map { $0.sequence &- 1 } ?? message.last?.sequence ?? 0))
    case .goesOn: return .reset(old: start.replica, message, isKnown ? .otherHistory : .otherQuerySet)
    case .reset(let cause): return .reset(old: start.replica, message, cause)
    }
  }

  /// - Precondition: the old replica is retired.
  private func reset(
    _ old: UInt64, _ new: UInt64, _ message: SessionStart, _ cause: ResetCause, _ time: UInt64,
    _ transaction: WriteTransaction
  ) throws(StorageError) -> Answer {
    let registered = try registered(new, time, transaction)
    let (integrated, refusals) = try node.state.recovery(of: old, message, transaction)
    return .isReset(
      new,
      Welcome.Reset(
        registered: registered, integrated: integrated, refusals: refusals, isInDoubt: cause.isInDoubt))
  }

  private func carryOut(_ answer: Answer, _ id: SessionID, _ time: UInt64) throws(StorageError) {
    switch answer {
    case .registered(let replica, let registered):
      become(id, .start(.init(replica: replica, offered: registered.sessionNumber)))
      welcome(id, .registered(registered), time)
    case .running(let running):
      become(id, .running(running))
      // It may have missed anything.
      concerned.insert(id)
      let waiting = session(id)?.waiting ?? []
      change(id) { $0.waiting = [] }
      do throws(StorageError) {
        for message in waiting { try receive(message, from: id, time: time) }
      } catch {
        // What was not taken in comes again in another session.
        fail(id, .unavailable, Self.halted)
        throw error
      }
    case .reset(let old, let message, let cause):
      guard let session = session(id), mayRegister(id, session.user, time) else { return }
      let new = draw()
      become(id, .resetting(old: old, new: new, message, cause))
      change(id) { $0.waiting = [] }
      // What is still on its way from the old replica is not accepted any more.
      try append(.retire(replica: old), time)
      try append(
        .register(
          Registration(
            replica: new, user: session.user,
            partition: node.state.isFlexible(old) ? nil : session.partition, predecessor: old)),
        time)
      resets.append(ReplicaReset(replica: old, successor: new, cause: cause))
    case .isReset(let replica, let reset):
      become(
        id, .start(.init(replica: replica, offered: reset.registered.sessionNumber, isReset: true)))
      welcome(id, .reset(reset), time)
    }
  }
}
