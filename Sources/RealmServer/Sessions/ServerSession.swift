import RealmStorage
import RealmSync

/// The session of a client as the server sees it (docs/sync-protocol.md, "The states of a session").
struct ServerSession {
  enum State {
    /// The server waits for the first message.
    case hello
    /// The registration of the replica is in the log, but is not integrated yet.
    case registering(UInt64)
    /// The server waits for the start, in which the client tells where it is.
    case start(Start)
    /// The start has come, and is not answered yet.
    case starting(Start, SessionStart)
    /// The retirement of the old replica and the registration of the new one are in the log, but are not integrated
    /// yet.
    case resetting(old: UInt64, new: UInt64, SessionStart, ResetCause)
    case running(Running)
  }

  struct Start {
    var replica: UInt64
    /// The session number that the client has to name in its next session.
    var offered: UInt64
    /// True if the file was reset. What comes before the next start is ignored then, because the client sent it before
    /// it knew of the reset.
    var isReset = false
  }

  struct Running {
    let replica: UInt64
    /// The version of the client once it has all that it was sent.
    var version: UInt64
    var querySet: UInt64
    var view: View
    /// The newest query set that is integrated, and the newest one that the client has sent.
    var wanted: UInt64
    var asked: UInt64
    /// The newest query set of a file that was reset; 0 for other files. No step is sent before the server has this
    /// query set too, so that the file is not emptied meanwhile.
    var awaited: UInt64
    /// The query set that the client had when the session began.
    let first: UInt64
    /// The sequence of the last changeset of which the client was told that it is decided.
    var told: UInt64
    /// True until the first step. Each session has at least one step, which may be empty, because with it the client
    /// stores the session number, by which copies of its file are detected.
    var isFirst = true
    /// The definitions of classes and properties that the client was told in this session.
    var definitions: [SchemaInstruction] = []
    /// The end of the log when the client asked for it last; 0 if it did not ask. The client is told when it has all
    /// changes up to there.
    var owed: UInt64 = 0
    /// The sequence of the last changeset that was appended to the log in this session; 0 if there is none.
    var appended: UInt64 = 0
    /// The query sets that the client has sent in this session and that were not refused.
    var sent: Set<UInt64> = []
    /// The number of query sets that have come in this session, and the size in bytes, about, of those that were not
    /// refused.
    var sets = 0
    var setBytes = 0
    /// For each query set that was refused, the query set that counts in its place.
    var refused: [UInt64: UInt64] = [:]
    /// The step that is being made and of which parts may have been sent; nil if there is none.
    var building: Building?
  }

  /// A step that takes several turns of the server.
  struct Building {
    var step: StepBuild
    /// The query set, the view and the definitions that the client has once it has the step.
    let querySet: UInt64
    let view: View
    let definitions: [SchemaInstruction]
    /// The time at which the step was begun, in milliseconds since 1970.
    let began: UInt64
  }

  let user: String
  var partition: Value?
  var state = State.hello
  /// The messages that have come while the start was not answered yet.
  var waiting: [ClientMessage] = []
  /// The files that the client has said to be gone, and of which it was not told yet that they are given up.
  var retiring: [UInt64] = []
  /// The number of bytes that were sent and have not left the machine yet.
  var unsent = 0

  init(user: String) { self.user = user }

  /// Whether the session waits for an entry of the log that names its replica.
  var isInLog: Bool {
    switch state {
    case .registering, .resetting: true
    default: false
    }
  }

  var replica: UInt64? {
    switch state {
    case .hello: nil
    case .registering(let replica): replica
    case .start(let start), .starting(let start, _): start.replica
    case .resetting(_, let new, _, _): new
    case .running(let running): running.replica
    }
  }
}

/// What a server allows its clients.
package struct ServerLimits: Sendable {
  package var messages = Welcome.Limits(
    changesetBytes: 17 << 20, valueBytes: 15 << 20, querySets: 100, bytesUnderWay: 1 << 20, firstWait: 1000,
    longestWait: 300_000)
  /// The greatest number of replicas of a user that are not retired.
  package var replicas = 1000
  /// The greatest number of replicas of a user that are registered within a minute, including those of files that are
  /// reset.
  package var registrations = 10
  /// The greatest number of query sets that a session accepts, and that a replica has.
  package var querySets = 1000
  /// The greatest size of a query set in bytes, about, and of all query sets of a replica together.
  package var querySetBytes = 1 << 20
  package var querySetsBytes = 4 << 20
  /// The greatest number of messages that wait while the server looks at a start.
  package var waiting = 10_000
  /// A session gets no new step while this number of its bytes, or more, have not left the machine.
  package var unsentBytes = 1 << 20
  /// The size of a part of a step in bytes, about.
  package var partBytes = 256 << 10
  /// The number of rows that are looked at for a step before something else has its turn.
  package var rowsAtOnce = 2000
  /// The time for which a step holds its version, in milliseconds. After it, the rest of the step is made without
  /// waiting for the parts before to leave the machine.
  package var longestStep: UInt64 = 30_000
  /// If a client is behind by at most this number of versions, they are read whole for its step, because a lookup of
  /// what concerns the client would cost more.
  package var wholeVersions: UInt64 = 16
  /// The number of versions after which a session that nothing concerns is told its version.
  package var idleVersions: UInt64 = 1000

  /// The greatest size of the value of a partition in bytes.
  package var partitionBytes = 1024

  package init() {}
}
