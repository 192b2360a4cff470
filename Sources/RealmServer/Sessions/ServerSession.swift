import RealmStorage
import RealmSync

/// A connection of a client, as the server has it (docs/sync-protocol.md, "The states of a session").
struct ServerSession {
  enum State {
    /// The first message is to come.
    case hello
    /// The replica stands in the log, but is not integrated yet.
    case registering(UInt64)
    /// The client is to tell where it stands.
    case start(Start)
    /// The start has come, and is not answered yet.
    case starting(Start, SessionStart)
    /// The old replica is to be retired and the new one to be registered; both stand in the log.
    case resetting(old: UInt64, new: UInt64, SessionStart, ResetCause)
    case running(Running)
  }

  struct Start {
    var replica: UInt64
    /// The number that the client is to name at its next session.
    var offered: UInt64
    /// The file was reset: what comes before the next start was sent before the client knew.
    var isReset = false
  }

  struct Running {
    let replica: UInt64
    /// Where the client stands once it has all that it was sent.
    var version: UInt64
    var querySet: UInt64
    var view: View
    /// The newest query set that is integrated, and the newest that was sent.
    var wanted: UInt64
    var asked: UInt64
    /// A file that is reset has sets up to this one: no step is sent before the server has it too, so that the file is not emptied meanwhile. 0 of others.
    var awaited: UInt64
    /// The query set that the client had when the session began.
    let first: UInt64
    /// The last changeset of the client that it was told to be decided.
    var told: UInt64
    /// The first step is to come. Each session has one, though it may be empty: with it the client stores the session number, by which copies of its file are found.
    var isFirst = true
    /// The classes and properties that the client was told of in this session.
    var definitions: [SchemaInstruction] = []
    /// The end of the log when the client asked for it: it is told when it has all up to there.
    var owed: UInt64 = 0
    /// The last changeset that was appended to the log in this session.
    var appended: UInt64 = 0
    /// The sets that were sent in this session.
    var sent: Set<UInt64> = []
    /// The number of sets that have come, and the bytes, about, of those that were not refused.
    var sets = 0
    var setBytes = 0
    /// Sets that were refused, by the sets that count in their place.
    var refused: [UInt64: UInt64] = [:]
    /// The step that is being made, of which parts were sent.
    var building: Building?
  }

  /// A step that takes several turns of the server.
  struct Building {
    var step: StepBuild
    /// The query set, the view and the definitions that the client has once it has the step.
    let querySet: UInt64
    let view: View
    let definitions: [SchemaInstruction]
    /// In milliseconds since 1970.
    let began: UInt64
  }

  let user: String
  var partition: Value?
  var state = State.hello
  /// What has come while the state had no use for it.
  var waiting: [ClientMessage] = []
  /// Files that the client has said to be gone, and that it was not told of yet.
  var retiring: [UInt64] = []
  /// Bytes that were sent and have not left the machine yet.
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
  /// Replicas of a user that are not retired.
  package var replicas = 1000
  /// Replicas of a user that are registered within a minute, those of files that are reset too.
  package var registrations = 10
  /// Query sets that a session takes, and that a replica has.
  package var querySets = 1000
  /// A query set takes so many bytes, about, and all together that a replica has take so many.
  package var querySetBytes = 1 << 20
  package var querySetsBytes = 4 << 20
  /// Messages that wait while the server looks at a start.
  package var waiting = 10_000
  /// A session gets no other step while so many bytes have not left the machine.
  package var unsentBytes = 1 << 20
  /// A part of a step has so many bytes, about.
  package var partBytes = 256 << 10
  /// The number of rows that are looked at for a step before something else has its turn.
  package var rowsAtOnce = 2000
  /// A version is held for a step for so many milliseconds; then what is left of the step is made, however little of it has left the machine.
  package var longestStep: UInt64 = 30_000
  /// Up to so many versions are read whole for a step: to look up what concerns the client costs more.
  package var wholeVersions: UInt64 = 16
  /// A session that nothing concerns is told so once in so many versions.
  package var idleVersions: UInt64 = 1000

  /// The value of a partition has so many bytes.
  package var partitionBytes = 1024

  package init() {}
}
