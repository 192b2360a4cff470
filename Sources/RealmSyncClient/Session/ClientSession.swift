import RealmStorage
import RealmSync

/// The session of a file with its server (docs/sync-protocol.md, "The states of a session").
///
/// A session does not know a network, a clock or random numbers. Its user passes in messages and the time, and carries
/// out the returned actions. It is used by one thread.
///
/// Whatever the session sends was made durable before, and so was everything that it tells the server about the file.
/// So a loss of power makes none of it untrue.
package final class ClientSession {
  package enum Action: Sendable, Equatable {
    case send(ClientMessage)
    /// The connection has to be closed.
    case disconnect(Retry)
    /// A step was applied. The app sees the state of the server at this version, with the pending changes on top.
    case applied(version: UInt64)
    /// The server has refused changes of the file. They are kept until `forgetRefusals`.
    case refused
    /// The query set with this number is in force.
    case showsQuerySet(UInt64)
    case querySetRefused(number: UInt64, code: UInt32, text: String)
    /// The server is about to replace the content of the file.
    case willReset(isInDoubt: Bool)
    /// The content of the file was replaced. The changes that no server had decided were written again, or were dropped
    /// if `isRecovered` is false.
    case didReset(isRecovered: Bool)
    /// The server has ended the session, with this reason.
    case ended(ProtocolError)
    /// The log ended at this version when the server was asked.
    case mark(request: UInt64, version: UInt64)
    /// The server keeps nothing any more for a file that was reported as gone.
    case retired(replica: UInt64)
    /// The session has ended, and does not go on by itself.
    case failed(ClientProblem)
    /// `upload` has to be called again after this number of milliseconds.
    case callAgain(after: UInt32)
  }

  /// The time of the next try to connect.
  package enum Retry: Sendable, Equatable {
    case after(milliseconds: UInt32)
    case whenLoggedIn
    case withNewerApp
    /// The next try comes only when the app asks for it.
    case never
  }

  /// The way in which a reset treats the changes that no server has decided.
  package enum Recovery: Sendable {
    case recover
    case discard
    /// The changes are recovered, or discarded if that fails.
    case recoverOrDiscard
    /// The reset is not carried out. The session ends, and the app decides what to do with the file.
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
    /// The number of the newest query set that was sent or is in force.
    var asked: UInt64
    /// The session number that the file has to name in its next session; nil if none was offered or it is stored
    /// already.
    var offered: UInt64?
    /// The parts of a step whose last part has not arrived.
    var parts = StepParts()
    /// The uploads that were sent and are not decided: their sequences, and the number of all bytes that were sent up
    /// to each of them.
    var underWay: [(sequence: UInt64, bytes: UInt64)] = []
    var bytesSent: UInt64 = 0
    var bytesDecided: UInt64 = 0
    let limit: UInt64
    /// The reset that the next step carries out; nil if there is none.
    var reset: Welcome.Reset?
    /// True if the reset drops the changes that no server has decided.
    var dropsPending = false
    /// True until a message other than an error or a reset has arrived.
    var isFirst = true
  }

  let database: Database
  let partition: Value?
  let recovery: Recovery
  /// True if the server may reset the file again before it has decided the changes that the last reset has written
  /// again.
  let mayRepeatResets: Bool
  /// Called before the content of the file is replaced, when everything for that has arrived.
  package var beforeReset: (() -> Void)?
  var state = State.disconnected
  /// True if the last reset was the beginning of a file that is a copy. The app did not lose anything that it showed,
  /// and is not told.
  package internal(set) var isResetOfCopy = false
  /// The time since when changes that are not durable wait to be sent; nil if there are none.
  var undurableSince: UInt64?

  /// The milliseconds that changes wait for a sync by others before the session makes them durable.
  static let longestWait: UInt64 = 50

  /// - Parameters:
  ///   - database: the database of a synced file.
  ///   - partition: the value that all objects have in a property that the server names; nil for a file without a
  ///     partition.
  ///   - mayRepeatResets: true in simulations, in which servers are restored again and again. If it is false, a reset
  ///     fails that follows another reset of the same kind too soon.
  package init(
    _ database: Database, partition: Value? = nil, recovery: Recovery = .recover,
    mayRepeatResets: Bool = true
  ) {
    (self.database, self.partition, self.recovery) = (database, partition, recovery)
    self.mayRepeatResets = mayRepeatResets
  }

  package var isConnected: Bool { if case .disconnected = state { false } else { true } }
  /// True if the session has started, so that the server takes all kinds of messages.
  package var isRunning: Bool { if case .running = state { true } else { false } }
  /// True if the content of the file is about to be replaced.
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

  /// Begins the session on a new connection.
  ///
  /// - Throws: `ClientProblem` if the file can't be read. The connection has to be closed then.
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

  /// Ends the session, because the connection is lost or was closed.
  package func disconnected() {
    state = .disconnected
    undurableSince = nil
  }
}
