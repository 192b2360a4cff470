import RealmStorage
import RealmSync

/// Integrates what has come, and answers.
extension SyncServer {
  /// Integrates what has come, and tells each client what concerns it.
  ///
  /// Everything that clients are told is durable before. A long step is sent part by part: then `hasWork` is true, and
  /// the caller has to call `run` again.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  /// - Returns: the actions to carry out, in this order.
  /// - Throws: `StorageError` if the file of the state can't be read or written. Nothing that a client was told is lost
  ///   then, and `run` may be called again.
  package func run(time: UInt64) throws(StorageError) -> [Action] {
    // If an error ends this call, the caller should not call again at once, because nothing has changed.
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

  /// The time after which an idle server notes the time again, in milliseconds.
  private static let timeBetweenNotes: UInt64 = 3_600_000

  private func noteChanges(_ made: [UInt64: HistoryEntry]) throws(StorageError) {
    let touched = Set(made.values.flatMap { $0.objects.map(\.name.table) })
    if !touched.isSubset(of: routes.tables) { noteTables(routes.tables.union(touched)) }
    for entry in made.values {
      routes.add(entry, to: &concerned)
      for refusal in entry.refusals { refusals[refusal.reason.rawValue, default: 0] += 1 }
    }
  }

  /// Appends an entry to the log that removes the history which no replica needs. Replicas that are not connected, and
  /// were not connected within a time, do not count. They are retired if they need the removed part.
  ///
  /// The log entries that a client needs are known from the beginning of its session. So a client that stays connected for long holds up
  /// the removal. The user of this class has to end sessions once in a while.
  ///
  /// The oldest part of the history is removed too if the history has more bytes than it may have. Replicas that need
  /// this part are reset.
  ///
  /// - Parameters:
  ///   - offline: the time in milliseconds; nil if the history is kept for all replicas. A replica that comes back
  ///     later is reset if it needs the removed part.
  ///   - most: the greatest size of the history in bytes.
  ///   - time: the time of the machine, in milliseconds since 1970.
  /// - Returns: the history that is removed although it may be needed; nil if there is none.
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
      // Clients that are connected are told the newest version first, so that they do not need the part that is
      // removed.
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

  /// Notes that replicas are connected, so that the server knows it when it is started again after it was killed.
  private func note(_ connected: Set<UInt64>, offline: UInt64, _ time: UInt64) throws(StorageError) {
    let transaction = try node.database.beginWrite()
    defer { transaction.cancel() }
    if try node.state.note(connected: connected, time: time, within: offline / 8, transaction) {
      try transaction.commit()
    }
  }

  /// Notes that the server has started. The time in which it did not run does not count as time that clients were away,
  /// because they could not connect.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  /// - Throws: `StorageError`.
  package func noteStart(time: UInt64) throws(StorageError) {
    guard isClockRight(time), node.halt == nil else { return }
    let transaction = try node.database.beginWrite()
    defer { transaction.cancel() }
    try node.state.passOverDowntime(until: time, transaction)
    try transaction.commit()
  }

  // MARK: - Sessions that begin

  /// Answers the sessions that wait for the log. Returns false if there was nothing to answer.
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
    // The state may be behind the log.
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
      // The state is behind the log.
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
      // The client may have missed any change.
      concerned.insert(id)
      let waiting = session(id)?.waiting ?? []
      change(id) { $0.waiting = [] }
      do throws(StorageError) {
        for message in waiting { try receive(message, from: id, time: time) }
      } catch {
        // The client sends again in another session what was not taken in.
        fail(id, .unavailable, Self.halted)
        throw error
      }
    case .reset(let old, let message, let cause):
      guard let session = session(id), mayRegister(id, session.user, time) else { return }
      let new = draw()
      become(id, .resetting(old: old, new: new, message, cause))
      change(id) { $0.waiting = [] }
      // Uploads of the old replica that are still on their way are not accepted any more.
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
