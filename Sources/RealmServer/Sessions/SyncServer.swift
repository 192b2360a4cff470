import RealmStorage
import RealmSync

/// Serves the sessions of clients from the state of a node.
///
/// It has no network, no clock and no source of random numbers of its own. The caller passes in messages, times and
/// random numbers, and sends the messages that it gets back. `receive` takes in a message. `run` integrates what has
/// come, and answers. One thread at a time may use a `SyncServer`.
package final class SyncServer {
  /// The id of a session. A later session has a greater number.
  package struct SessionID: Hashable, Sendable, Comparable {
    package let number: UInt64

    package static func < (left: SessionID, right: SessionID) -> Bool { left.number < right.number }
  }

  package enum Action: Sendable, Equatable {
    /// The caller sends a message, given as its bytes.
    case send([UInt8], to: SessionID)
    /// The caller closes the session, after it has sent the messages before.
    case close(SessionID)
  }

  package let node: ServerNode
  let limits: ServerLimits
  /// Returns a random number.
  let draw: () -> UInt64
  private var sessions: [SessionID: ServerSession] = [:]
  /// The session of each replica.
  private var holders: [UInt64: SessionID] = [:]
  private var lastSession: UInt64 = 0
  private var registrations: [String: [UInt64]] = [:]
  private(set) var actions: [Action] = []
  /// The index of the sessions by what they look for.
  private(set) var routes: SessionRoutes
  /// The sessions with `limits.unsentBytes` or more bytes that have not left the machine, by user.
  private var laden: [String: Set<SessionID>] = [:]
  /// The sessions that may be concerned by something that they were not told.
  var concerned: Set<SessionID> = []
  /// The sessions whose steps are being made, and the one of them that had its turn last.
  var building: Set<SessionID> = []
  var lastBuilt = SessionID(number: 0)
  /// True if `run` has something to do although no message comes.
  package internal(set) var hasWork = false
  /// The number of refusals so far, by the number of the reason.
  var refusals: [UInt8: Int] = [:]
  /// The resets of files that nobody has asked for yet.
  var resets: [ReplicaReset] = []
  /// How often the history was cut although files may have needed what was removed.
  var cuts = 0
  /// The error of the last step that could not be made.
  package private(set) var lastProblem: StorageError?
  /// True if no changes are accepted from clients.
  var isFull = false
  /// True if the clock of the machine is right, however far ahead of the last entry it is.
  package var acceptsClock = false

  /// - Parameter draw: returns a random number that nobody can guess.
  package init(_ node: ServerNode, limits: ServerLimits = ServerLimits(), draw: @escaping () -> UInt64) {
    (self.node, self.limits, self.draw) = (node, limits, draw)
    routes = SessionRoutes(node.state.settings)
  }

  // MARK: - Connections

  /// Begins the session of a client that has connected.
  ///
  /// - Parameter user: the id of the user who has logged in.
  package func connect(user: String) -> SessionID {
    lastSession += 1
    let id = SessionID(number: lastSession)
    sessions[id] = ServerSession(user: user)
    return id
  }

  /// Ends a session that was lost or closed.
  package func disconnect(_ id: SessionID) {
    guard let session = sessions.removeValue(forKey: id) else { return }
    routes.remove(id)
    concerned.remove(id)
    building.remove(id)
    setLaden(id, session.user, false)
    if let replica = session.replica, holders[replica] == id { holders[replica] = nil }
  }

  /// Notes that bytes which the caller had to send have left the machine. A session gets no new step while too many of
  /// its bytes have not.
  package func noteSent(_ bytes: Int, by id: SessionID) {
    change(id) { $0.unsent = max(0, $0.unsent - bytes) }
    noteUnsent(id)
  }

  /// The number of bytes of all sessions that were made to be sent and have not left the machine.
  var unsentBytes: Int { sessions.values.reduce(0) { $0 + $1.unsent } }

  private func noteUnsent(_ id: SessionID) {
    guard let session = sessions[id] else { return }
    setLaden(id, session.user, session.unsent >= limits.unsentBytes)
  }

  private func setLaden(_ id: SessionID, _ user: String, _ isLaden: Bool) {
    if isLaden {
      laden[user, default: []].insert(id)
    } else if laden[user]?.remove(id) != nil, laden[user]?.isEmpty == true {
      laden[user] = nil
    }
  }

  /// Whether a session may be told another view now. A user has at most one step at a time that is made in turns, and
  /// few sessions with many bytes that have not left the machine. The other sessions of the user wait for these.
  ///
  /// Otherwise clients that read nothing could make the server hold what the user sees once for each session.
  func mayMove(_ id: SessionID) -> Bool {
    guard let user = sessions[id]?.user else { return true }
    let others = (laden[user] ?? []).subtracting([id])
    return others.count < Self.mostLaden
      && building.allSatisfy { $0 == id || sessions[$0]?.user != user }
  }

  /// The greatest number of a user's sessions with many bytes that have not left the machine. It is more than one, so
  /// that a slow device does not keep the other devices waiting.
  private static let mostLaden = 4

  /// Ends all sessions because the server stops, and tells each client when to come back.
  ///
  /// - Parameter wait: the least time that a client waits, in milliseconds. It is at most an hour. A client waits at
  ///   most twice as long.
  /// - Returns: the actions to carry out.
  package func stop(wait: UInt32) -> [Action] {
    for id in sessions.keys.sorted() {
      // The times differ, so that not all clients come back at the same moment.
      let own = wait + UInt32(draw() % UInt64(wait + 1))
      fail(id, ProtocolError(code: 10, text: "The server stops.", action: .tryLater, wait: own))
    }
    return takeActions()
  }

  func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }

  func send(_ message: ServerMessage, to id: SessionID) { send(frame: message.bytes, to: id) }

  func send(frame: [UInt8], to id: SessionID) {
    change(id) { $0.unsent += frame.count }
    noteUnsent(id)
    actions.append(.send(frame, to: id))
  }

  func fail(_ id: SessionID, _ error: ProtocolError) {
    guard sessions[id] != nil else { return }
    send(.error(error), to: id)
    actions.append(.close(id))
    disconnect(id)
  }

  func fail(_ id: SessionID, _ error: SessionError, _ text: String) {
    fail(id, ProtocolError(code: error.code, text: text, action: error.action))
  }

  // MARK: - Messages

  /// Ends a session from which a message came that can't be read.
  ///
  /// - Returns: the actions to carry out.
  package func receive(_ damage: MessageDamage, from id: SessionID) -> [Action] {
    if case .unknownMessage = damage.reason {
      fail(id, .unknownMessage, damage.description)
    } else {
      fail(id, .damagedMessage, damage.description)
    }
    return takeActions()
  }

  /// Takes in a message.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  /// - Throws: `StorageError` if the file of the state can't be read.
  package func receive(
    _ message: ClientMessage, from id: SessionID, time: UInt64
  ) throws(StorageError) {
    guard let session = sessions[id] else { return }
    if case .skipped = message {
      if case .hello = session.state { fail(id, .wrongTime, "The first message of a session is a hello.") }
      return
    }
    guard isClockRight(time), node.halt == nil, !node.isStale else {
      return fail(id, .unavailable, Self.halted)
    }
    switch (session.state, message) {
    case (.hello, .hello(let hello)): try greet(hello, id, time)
    case (.start(let start), .start(let message)):
      sessions[id]?.state = .starting(start, message)
    case (.start(let start), _) where start.isReset: break
    case (.resetting, _): break
    case (.starting, .hello), (.starting, .start):
      fail(id, .wrongTime, "A client starts once.")
    case (.starting, _):
      guard session.waiting.count < limits.waiting else {
        return fail(id, .tooMuch, "Too many messages have come before the start was answered.")
      }
      sessions[id]?.waiting.append(message)
    case (.running(let running), _): try receive(message, running, id, time)
    default: fail(id, .wrongTime, "A message may not be sent at this time.")
    }
  }

  static let halted = "The server can't go on. Who runs it is told why."

  func isClockRight(_ time: UInt64) -> Bool { acceptsClock || !node.isClockAhead(time) }

  private func greet(_ hello: Hello, _ id: SessionID, _ time: UInt64) throws(StorageError) {
    guard let user = sessions[id]?.user else { return }
    guard hello.versions.contains(ProtocolVersion.newest) else {
      let text = "The server speaks version \(ProtocolVersion.newest) of the protocol."
      return fail(id, .version, text)
    }
    guard hello.partition?.size ?? 0 <= limits.partitionBytes else {
      return fail(id, .limit, "The value of a partition has \(limits.partitionBytes) bytes at most.")
    }
    sessions[id]?.partition = hello.partition
    guard let replica = hello.replica else { return try register(id, user, time) }
    guard node.state.mayUse(replica, user: user, partition: hello.partition) else {
      return fail(id, .forbidden, "The file belongs to another user, or to another partition.")
    }
    hold(replica, id)
    let start = ServerSession.Start(replica: replica, offered: draw())
    sessions[id]?.state = .start(start)
    welcome(id, .known(sessionNumber: start.offered), time)
  }

  /// Gives a replica to a session. A replica has one session, so a new session ends the older one.
  private func hold(_ replica: UInt64, _ id: SessionID) {
    if let older = holders[replica], older != id {
      fail(
        older,
        ProtocolError(
          code: SessionError.otherSession.code, text: "Another session of the same file has begun.",
          action: .tryLater, wait: limits.messages.longestWait))
    }
    holders[replica] = id
  }

  private func register(_ id: SessionID, _ user: String, _ time: UInt64) throws(StorageError) {
    guard node.state.replicas(of: user) < limits.replicas else {
      return fail(
        id, .tooMuch, "The user has too many files. One that is not used any more is to be retired.")
    }
    guard mayRegister(id, user, time) else { return }
    let replica = draw()
    sessions[id]?.state = .registering(replica)
    hold(replica, id)
    let registration = Registration(replica: replica, user: user, partition: sessions[id]?.partition)
    try append(.register(registration), time)
  }

  /// Counts a registration of a user. If there were too many of them, it ends the session and returns false.
  func mayRegister(_ id: SessionID, _ user: String, _ time: UInt64) -> Bool {
    let recent = (registrations[user] ?? []).filter { time - min(time, $0) < 60_000 }
    guard recent.count < limits.registrations else {
      fail(
        id,
        ProtocolError(
          code: SessionError.tooMuch.code, text: "The user has registered too many files.", action: .tryLater,
          wait: 60_000))
      return false
    }
    if registrations.count > 10_000 {
      registrations = registrations.filter { $0.value.contains { time - min(time, $0) < 60_000 } }
    }
    registrations[user] = recent + [time]
    return true
  }

  func append(_ entry: LogEntry, _ time: UInt64) throws(StorageError) {
    try node.append(entry, tag: draw(), time: time)
  }

  func welcome(_ id: SessionID, _ answer: Welcome.Answer, _ time: UInt64) {
    send(
      .welcome(
        Welcome(
          version: ProtocolVersion.newest, answer: answer, limits: limits.messages, time: time,
          partitionProperty: sessions[id]?.partition != nil ? node.state.settings.partitionProperty : nil)),
      to: id)
  }

  // MARK: - Sessions

  func note(_ problem: StorageError) { lastProblem = problem }

  var ids: [SessionID] { sessions.keys.sorted() }

  func session(_ id: SessionID) -> ServerSession? { sessions[id] }

  /// The replica of a session; nil before the client has named it or one is registered for it.
  package func replica(of id: SessionID) -> UInt64? { sessions[id]?.replica }

  func change(_ id: SessionID, _ change: (inout ServerSession) -> Void) {
    guard var session = sessions[id] else { return }
    change(&session)
    sessions[id] = session
  }

  func become(_ id: SessionID, _ state: ServerSession.State) {
    guard let old = sessions[id]?.replica else { return }
    if case .running(let running) = state { note(running, of: id) }
    sessions[id]?.state = state
    guard let new = sessions[id]?.replica, new != old else { return }
    if holders[old] == id { holders[old] = nil }
    hold(new, id)
  }

  /// Sets the classes, of which there are more now, and notes the views of all running sessions anew.
  func noteTables(_ tables: Set<String>) {
    routes.setTables(tables)
    for (id, session) in sessions {
      guard case .running(let running) = session.state else { continue }
      routes.note(id, running.view)
      concerned.insert(id)
    }
  }

  private func note(_ running: ServerSession.Running, of id: SessionID) {
    if case .running(let old)? = sessions[id]?.state, old.view == running.view { return }
    routes.note(id, running.view)
  }
}

/// Why a session ends (docs/sync-protocol.md, "Error").
enum SessionError: UInt32 {
  case version = 1
  case damagedMessage = 2
  case unknownMessage = 3
  case wrongTime = 4
  case limit = 5
  case forbidden = 7
  case otherSession = 8
  case tooMuch = 9
  case unavailable = 11
  case reset = 12

  var code: UInt32 { rawValue }

  var action: ProtocolError.Action {
    switch self {
    case .version: .updateApp
    case .damagedMessage, .unknownMessage, .wrongTime, .limit, .forbidden: .stop
    case .otherSession, .tooMuch, .unavailable: .tryLater
    case .reset: .reset
    }
  }
}

extension Value {
  /// The size of the value in bytes, about.
  fileprivate var size: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let data): data.count
    default: 16
    }
  }
}
