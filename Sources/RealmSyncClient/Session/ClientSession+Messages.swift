import RealmStorage
import RealmSync

/// The messages of the server.
extension ClientSession {
  /// Handles a message that can't be read.
  package func receive(_ damage: MessageDamage) -> [Action] {
    disconnected()
    return [.failed(.damagedMessage(damage)), .disconnect(.never)]
  }

  /// Handles a message.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  package func receive(_ message: ServerMessage, time: UInt64) -> [Action] {
    do throws(ClientProblem) {
      switch (state, message) {
      case (.disconnected, _), (_, .skipped): return []
      case (_, .error(var error)):
        disconnected()
        error.text = ServerText.readable(error.text)
        return [.ended(error), .disconnect(error.retry)]
      case (.hello, .welcome(let welcome)): return try take(welcome, time)
      case (.running(let running), .welcome(let welcome)):
        guard running.isFirst, case .reset(let reset) = welcome.answer else { throw .wrongAnswer }
        return try take(
          reset.following(running.reset), limit: min(welcome.limits.bytesUnderWay, Self.mostUnderWay), time)
      case (.running(let running), _): return try receive(message, running, time)
      default: throw .wrongAnswer
      }
    } catch {
      return actions(error)
    }
  }

  /// Ends the session because of a problem. Later messages are ignored.
  func actions(_ problem: ClientProblem) -> [Action] {
    disconnected()
    switch problem {
    // The server finds the cause at the next start, and resets the file.
    case .otherVersion, .otherChangeset: return [.disconnect(.after(milliseconds: 0))]
    default: return [.failed(problem), .disconnect(.never)]
    }
  }

  /// The greatest number of bytes that are sent before the server has answered, whatever limit the server allows.
  private static let mostUnderWay: UInt64 = 16 << 20

  // MARK: - The beginning

  private func take(_ welcome: Welcome, _ time: UInt64) throws(ClientProblem) -> [Action] {
    guard welcome.version == ProtocolVersion.newest else { throw .wrongAnswer }
    let offset = Int64(clamping: welcome.time) - Int64(clamping: time)
    switch welcome.answer {
    case .registered(let registered):
      var property: MergeContext.Partition?
      if let partition {
        guard let name = welcome.partitionProperty else { throw .wrongAnswer }
        property = MergeContext.Partition(property: name, value: partition)
      }
      try inFile { (file) throws(ClientProblem) in
        guard file.number == .max else { throw .wrongAnswer }
        try file.learn(offset: offset)
        try file.register(registered, partition: property, time: time)
      }
      return try start(offered: nil, min(welcome.limits.bytesUnderWay, Self.mostUnderWay), time)
    case .known(let sessionNumber):
      let (number, isNew) = try reading { (file) throws(ClientProblem) in
        (file.number, file.isNew(offset: offset))
      }
      guard number != .max else { throw .wrongAnswer }
      if isNew {
        try inFile(.relaxed) { (file) throws(ClientProblem) in try file.learn(offset: offset) }
        try flush()
      }
      return try start(offered: sessionNumber, min(welcome.limits.bytesUnderWay, Self.mostUnderWay), time)
    case .reset(let reset):
      try inFile { (file) throws(ClientProblem) in
        guard file.number != .max else { throw .wrongAnswer }
        try file.learn(offset: offset)
      }
      return try take(reset, limit: min(welcome.limits.bytesUnderWay, Self.mostUnderWay), time)
    }
  }

  private func start(
    offered: UInt64?, _ limit: UInt64, _ time: UInt64
  ) throws(ClientProblem) -> [Action] {
    let (start, decided) = try reading { (file) throws(ClientProblem) in
      (try file.start(wanted: file.newestQuerySet), file.position.decided)
    }
    state = .running(
      Running(sent: decided, asked: start.querySet, offered: offered, limit: limit))
    return [.send(.start(start))] + upload(time: time)
  }

  /// Begins a reset. As another replica, the file asks for everything that it should see, and is changed when all of
  /// that has arrived.
  private func take(
    _ reset: Welcome.Reset, limit: UInt64, _ time: UInt64
  ) throws(ClientProblem) -> [Action] {
    let (wanted, isCopy, decided, mark) = try reading { (file) throws(ClientProblem) in
      (
        file.newestQuerySet, file.position.isCopy,
        max(file.position.decided.sequence, reset.integrated.last?.sequence ?? 0), try file.resetMark
      )
    }
    if case .manual = recovery, !isCopy { throw .resetNeeded(isInDoubt: reset.isInDoubt) }
    isResetOfCopy = isCopy
    var running = Running(sent: NamedChangeset(sequence: 0, hash: []), asked: 0, limit: limit)
    // The changes that were written into a copy are kept, whatever the app has chosen for resets.
    let counts = !mayRepeatResets && mark?.counts(at: time, decided: decided) == true
    if !isCopy { running.dropsPending = try dropsPending(behind: counts ? mark : nil) }
    running.reset = reset
    state = .running(running)
    let registered = reset.registered
    let start = SessionStart(
      version: registered.version, tag: registered.tag, sessionNumber: registered.sessionNumber, querySet: 0,
      wanted: wanted)
    return [.willReset(isInDoubt: reset.isInDoubt), .send(.start(start))] + upload(time: time)
  }

  /// True if a reset drops the changes that no server has decided.
  ///
  /// - Parameter mark: the mark of the reset before; nil if that reset is over.
  /// - Throws: `.resetFailed` if the reset before was of the same kind, because it would lead to another reset.
  private func dropsPending(behind mark: ResetMark?) throws(ClientProblem) -> Bool {
    switch (recovery, mark?.hasDropped) {
    case (.recover, false?), (.discard, true?), (.recoverOrDiscard, true?):
      throw .resetFailed(.repeatedReset)
    case (.discard, _), (.recoverOrDiscard, false?): return true
    case (.recover, _), (.recoverOrDiscard, nil), (.manual, _): return false
    }
  }

  // MARK: - Running

  private func receive(
    _ message: ServerMessage, _ running: Running, _ time: UInt64
  ) throws(ClientProblem) -> [Action] {
    var running = running
    running.isFirst = false
    switch message {
    case .step(let step):
      if step.isLast {
        running.parts.hold(step)
      } else {
        let number = running.parts.staged
        let (told, registered) = (running.parts.headers.flatMap(\.own), running.reset?.registered)
        try inFile(.relaxed) { (file) throws(ClientProblem) in
          if registered == nil, step.from != file.position.version {
            throw .otherVersion(file: file.position.version, step: step.from)
          }
          try file.checkOwnChanges(in: step, told: told, resetTo: registered?.replica)
          try file.stage(step, number: number, prepares: registered == nil)
        }
        running.parts.stage(step)
      }
      guard running.parts.replicas.count <= MessageLimit.stepReplicas else { throw .tooManyReplicas }
      state = .running(running)
      guard step.isLast else { return [] }
      if running.reset == nil, running.parts.staged > 0 { try indexPreparedObjects() }
      let actions = try running.reset == nil ? apply(time) : reset(time)
      return actions + upload(time: time)
    case .querySetRefused(let number, let code, let text):
      state = .running(running)
      return [.querySetRefused(number: number, code: code, text: ServerText.readable(text))]
    case .mark(let request, let version):
      state = .running(running)
      return [.mark(request: request, version: version)]
    case .retired(let replica):
      state = .running(running)
      return [.retired(replica: replica)]
    default: throw .wrongAnswer
    }
  }

  /// Makes the indexes of prepared objects. Each index is made by a transaction of its own, so that the app can write
  /// between them.
  private func indexPreparedObjects() throws(ClientProblem) {
    do throws(ClientProblem) {
      while try inFile(
        .relaxed, { (file) throws(ClientProblem) in try file.indexPreparedObjects() })
      {}
    } catch {
      // The server has sent an object twice. The last one counts.
      guard case .storage(.duplicateKey) = error else { throw error }
    }
  }

  private func apply(_ time: UInt64) throws(ClientProblem) -> [Action] {
    guard case .running(var running) = state else { return [] }
    let (parts, offered) = (running.parts, running.offered)
    let (refusals, old, new) = try inFile(.relaxed) { (file) throws(ClientProblem) in
      let old = file.position
      let refusals = try file.apply(parts, time: time)
      if let offered { try file.note(sessionNumber: offered) }
      return (refusals, old, file.position)
    }
    (running.parts, running.offered) = (StepParts(), nil)
    running.note(decided: new.decided)
    state = .running(running)
    var actions: [Action] = [.applied(version: new.version)]
    if old.querySet != new.querySet { actions.append(.showsQuerySet(new.querySet)) }
    if !refusals.isEmpty { actions.append(.refused) }
    return actions
  }

  private func reset(_ time: UInt64) throws(ClientProblem) -> [Action] {
    guard case .running(var running) = state, let reset = running.reset else { return [] }
    let parts = running.parts
    if !isResetOfCopy { beforeReset?() }
    var isRecovered = !running.dropsPending
    do throws(ClientProblem) {
      do throws(ClientProblem) {
        try self.reset(reset, parts, dropsPending: !isRecovered, time)
      } catch {
        guard case .recoverOrDiscard = recovery, isRecovered, !isResetOfCopy else { throw error }
        // A problem of the machine at this moment says nothing about the changes.
        if case .storage(let cause) = error { guard case .corrupted = cause else { throw error } }
        isRecovered = false
        try self.reset(reset, parts, dropsPending: true, time)
      }
    } catch {
      throw error.ofReset
    }
    let position = try reading { (file) throws(ClientProblem) in file.position }
    (running.parts, running.reset) = (StepParts(), nil)
    running.sent = position.decided
    state = .running(running)
    var actions: [Action] = [
      .didReset(isRecovered: isRecovered), .applied(version: position.version),
      .showsQuerySet(position.querySet),
    ]
    if !reset.refusals.isEmpty { actions.append(.refused) }
    return actions
  }

  private func reset(
    _ reset: Welcome.Reset, _ parts: StepParts, dropsPending: Bool, _ time: UInt64
  ) throws(ClientProblem) {
    try inFile { (file) throws(ClientProblem) in
      try file.reset(reset, parts, dropsPending: dropsPending, time: time)
    }
  }
}

extension Welcome.Reset {
  /// The reset of a file for which another reset was under way: the server forgot what it had registered before the
  /// client could start. The facts about the file's changesets are those of the first reset.
  fileprivate func following(_ first: Welcome.Reset?) -> Welcome.Reset {
    guard let first else { return self }
    return Welcome.Reset(
      registered: registered, integrated: first.integrated,
      refusals: Array((first.refusals + refusals).suffix(RefusalStore.most)),
      isInDoubt: first.isInDoubt || isInDoubt)
  }
}

extension ClientSession.Running {
  /// Notes the last decided changeset. What is decided is not sent again, and is not under way any more.
  fileprivate mutating func note(decided: NamedChangeset) {
    if sent.sequence < decided.sequence { sent = decided }
    guard let last = underWay.lastIndex(where: { $0.sequence <= decided.sequence }) else { return }
    bytesDecided = underWay[last].bytes
    underWay.removeFirst(last + 1)
  }
}

extension ProtocolError {
  fileprivate var retry: ClientSession.Retry {
    switch action {
    case .tryLater: .after(milliseconds: wait)
    case .reset: .after(milliseconds: wait)
    case .logIn: .whenLoggedIn
    case .updateApp: .withNewerApp
    case .stop: .never
    }
  }
}

extension ClientProblem {
  /// The problem as the cause for which a reset has failed. Problems of the machine at this moment, and messages that
  /// no server should send, are no such causes, because a later try may succeed.
  fileprivate var ofReset: ClientProblem {
    switch self {
    case .otherSchema, .storage(.corrupted): .resetFailed(self)
    default: self
    }
  }
}
