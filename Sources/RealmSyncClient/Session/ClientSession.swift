import RealmStorage
import RealmSync

/// The session of a file with its server (docs/sync-protocol.md, "The states of a session").
///
/// It knows no network, no clock and no chance: who uses it tells what has come and the time, and does what it is told to. Used by one thread.
///
/// What is sent was made durable before, and so was what the server is told of the file: a loss of power makes neither untrue.
package final class ClientSession {
  package enum Action: Sendable, Equatable {
    case send(ClientMessage)
    /// The connection is to be closed.
    case disconnect(Retry)
    /// A step was applied: what the app sees is what the server has up to this version, and what is pending on top.
    case applied(version: UInt64)
    /// Changes of the file were refused. They are kept until `forgetRefusals`.
    case refused
    /// A query set is in force.
    case showsQuerySet(UInt64)
    case querySetRefused(number: UInt64, code: UInt32, text: String)
    /// The server is about to replace what the file has.
    case willReset(isInDoubt: Bool)
    /// It has. What no server has decided was written again, or was dropped.
    case didReset(isRecovered: Bool)
    /// The server ends the session, and says why.
    case ended(ProtocolError)
    /// The log ended at this version when the server was asked.
    case mark(request: UInt64, version: UInt64)
    /// The server keeps nothing any more for a file that it was told to be gone.
    case retired(replica: UInt64)
    /// The session ends, and will not go on by itself.
    case failed(ClientProblem)
    /// `upload` is to be called again after so many milliseconds.
    case callAgain(after: UInt32)
  }

  /// When the next connection is to be tried.
  package enum Retry: Sendable, Equatable {
    case after(milliseconds: UInt32)
    case whenLoggedIn
    case withNewerApp
    /// Not before the app asks for it.
    case never
  }

  /// What a reset does with changes that no server has decided.
  package enum Recovery: Sendable {
    case recover
    case discard
    /// Recover, or discard where that fails.
    case recoverOrDiscard
    /// Nothing: the session ends, and the app decides what to do with the file.
    case manual
  }

  enum State {
    case disconnected
    case hello
    case running(Running)
  }

  struct Running {
    /// The last changeset that was sent.
    var sent: NamedChangeset
    /// The newest query set that was sent, or is in force.
    var asked: UInt64
    /// The session number that the file is to name the next time.
    var offered: UInt64?
    /// The parts of a step of which more are to come.
    var parts = StepParts()
    /// What was sent and is not decided: the sequences, and the bytes up to each.
    var underWay: [(sequence: UInt64, bytes: UInt64)] = []
    var bytesSent: UInt64 = 0
    var bytesDecided: UInt64 = 0
    let limit: UInt64
    /// The file is reset by the next step.
    var reset: Welcome.Reset?
    /// The reset drops what no server has decided.
    var dropsPending = false
    /// Nothing but an error or a reset has come yet.
    var isFirst = true
  }

  let database: Database
  let partition: Value?
  let recovery: Recovery
  /// The server may reset the file again before it has decided what the last reset has written again.
  let mayRepeatResets: Bool
  /// Is called when all is there with which the file is to be replaced, before it is.
  package var beforeReset: (() -> Void)?
  var state = State.disconnected
  /// The last reset was the beginning of a file that is a copy: the app did not lose what it showed, and is not told.
  package internal(set) var isResetOfCopy = false
  /// Since when there is something to send that is not durable.
  var undurableSince: UInt64?

  /// What is not durable yet waits so long for somebody to make it so.
  static let longestWait: UInt64 = 50

  /// - Parameters:
  ///   - database: of a synced file.
  ///   - partition: what all objects have in a property that the server names, if the file has a partition.
  ///   - mayRepeatResets: as simulations have it, where servers are restored again and again. Else a reset fails that follows another one of the same
  ///     kind too soon.
  package init(
    _ database: Database, partition: Value? = nil, recovery: Recovery = .recover,
    mayRepeatResets: Bool = true
  ) {
    (self.database, self.partition, self.recovery) = (database, partition, recovery)
    self.mayRepeatResets = mayRepeatResets
  }

  package var isConnected: Bool { if case .disconnected = state { false } else { true } }
  /// It has started: the server takes all kinds of messages.
  package var isRunning: Bool { if case .running = state { true } else { false } }
  /// What the file has is about to be replaced.
  package var isResetting: Bool {
    if case .running(let running) = state { running.reset != nil } else { false }
  }

  func storing<Result>(_ body: () throws(StorageError) -> Result) throws(ClientProblem) -> Result {
    do throws(StorageError) { return try body() } catch { throw .storage(error) }
  }

  func inFile<Result>(
    _ durability: Durability = .full, _ body: (inout ClientFile) throws(ClientProblem) -> Result
  ) throws(ClientProblem) -> Result {
    let transaction = try storing { () throws(StorageError) in try database.beginWrite() }
    defer { transaction.cancel() }
    var file = try ClientFile(transaction)
    let result = try body(&file)
    _ = try storing { () throws(StorageError) in try transaction.commit(durability) }
    return result
  }

  func reading<Result>(
    _ body: (borrowing ClientFile) throws(ClientProblem) -> Result
  ) throws(ClientProblem) -> Result {
    let transaction = try storing { () throws(StorageError) in try database.beginWrite() }
    defer { transaction.cancel() }
    return try body(try ClientFile(transaction))
  }

  func flush() throws(ClientProblem) {
    try storing { () throws(StorageError) in try database.flush() }
  }

  // MARK: - Connections

  /// A connection is there.
  ///
  /// - Throws: `ClientProblem` where the file can't be read: the connection is to be closed.
  package func connected() throws(ClientProblem) -> [Action] {
    try flush()
    let (number, hasParts) = try reading { (file) throws(ClientProblem) in
      (file.number, try file.hasStagedParts)
    }
    if hasParts { try inFile(.relaxed) { (file) throws(ClientProblem) in try file.forgetStagedParts() } }
    state = .hello
    let versions = ProtocolVersion.newest...ProtocolVersion.newest
    let hello = Hello(
      versions: versions, replica: number == .max ? nil : number, partition: partition)
    return [.send(.hello(hello))]
  }

  /// The connection is lost, or was closed.
  package func disconnected() {
    state = .disconnected
    undurableSince = nil
  }
}
