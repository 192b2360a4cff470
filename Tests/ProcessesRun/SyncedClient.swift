import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// The options with which a process of the run opens a synced file.
func syncedOptions(isEncrypted: Bool) -> Database.Options {
  var synced = options(isEncrypted: isEncrypted)
  synced.history = .synced
  return synced
}

/// An order to a client's session. It is sent as a line if the session is in another process.
enum SyncedOrder {
  /// The connection is established, or lost.
  case connect, lost
  case upload
  /// A message of the server has arrived.
  case take([UInt8])

  init?(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("connect", 1): self = .connect
    case ("lost", 1): self = .lost
    case ("upload", 1): self = .upload
    case ("take", 2):
      guard let bytes = Data(base64Encoded: words[1]) else { return nil }
      self = .take([UInt8](bytes))
    default: return nil
    }
  }

  var line: String {
    switch self {
    case .connect: "connect"
    case .lost: "lost"
    case .upload: "upload"
    case .take(let frame): "take \(Data(frame).base64EncodedString())"
    }
  }

  static var now: UInt64 { UInt64(Date().timeIntervalSince1970 * 1000) }

  func follow(_ session: ClientSession) throws -> [ClientSession.Action] {
    switch self {
    case .connect: return try session.connected()
    case .lost:
      session.disconnected()
      return []
    case .upload: return session.upload(time: Self.now)
    case .take(let frame): return session.receive(try ServerMessage(bytes: frame), time: Self.now)
    }
  }
}

/// The answer of a client's session to an order. Another process sends it as lines, the last of which is a full stop.
struct SyncedAnswer {
  private(set) var frames: [[UInt8]] = []
  /// The number of steps that were applied.
  private(set) var steps = 0
  /// True if the connection is to be closed.
  private(set) var isOver = false

  init() {}

  /// - Throws: `Violation` for an action that no session of the run should have a reason for.
  init(_ actions: [ClientSession.Action]) throws {
    for action in actions {
      switch action {
      case .send(let message): frames.append(message.bytes)
      case .applied: steps += 1
      case .disconnect: isOver = true
      case .refused, .showsQuerySet, .mark, .retired, .callAgain: break
      case .failed(let problem): throw Violation("the client's session fails: \(problem)")
      case .ended(let error): throw Violation("the server ends the session: \(error.text)")
      case .querySetRefused(_, _, let text): throw Violation("the query set is refused: \(text)")
      case .willReset, .didReset: throw Violation("the file is reset without a cause")
      }
    }
  }

  var lines: [String] {
    frames.map { "send \(Data($0).base64EncodedString())" } + [String](repeating: "applied", count: steps)
      + (isOver ? ["over", "."] : ["."])
  }

  /// Adds a line of the answer. Returns false for the last line.
  mutating func add(_ line: String) throws -> Bool {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("send", 2):
      guard let bytes = Data(base64Encoded: words[1]) else { throw Violation("a message is damaged") }
      frames.append([UInt8](bytes))
    case ("applied", 1): steps += 1
    case ("over", 1): isOver = true
    case (".", 1): return false
    default: throw Violation("a client's process says: \(line.prefix(200))")
    }
    return true
  }
}

/// The session of a file with a server, in this process or in another one that can be killed.
enum SyncedClient {
  case here(ClientSession)
  case elsewhere(Child)

  func follow(_ order: SyncedOrder) throws -> SyncedAnswer {
    switch self {
    case .here(let session): return try SyncedAnswer(order.follow(session))
    case .elsewhere(let child):
      child.tell(order.line)
      var answer = SyncedAnswer()
      while try answer.add(child.line()) {}
      return answer
    }
  }
}

extension Child {
  /// Kills the process while it follows an order. Returns what it had answered by then.
  func crash(at order: SyncedOrder, after microseconds: UInt32) throws -> SyncedAnswer {
    tell(order.line)
    usleep(microseconds)
    try crash()
    var answer = SyncedAnswer()
    // A line that was cut off by the kill is never complete, so it is not read.
    while let said = try? line(), try answer.add(said) {}
    return answer
  }
}

/// A process that runs a client's session.
struct SyncedClientProcess {
  let path: String
  let isEncrypted: Bool

  func run() throws {
    let alarm = Alarm()
    alarm.start(patience: Run.patience)
    alarm.begin("client \(getpid()), opening")
    let database = try Database(path: path, options: syncedOptions(isEncrypted: isEncrypted))
    let session = ClientSession(database)
    alarm.end()
    while let line = readLine(), line != "stop" {
      guard let order = SyncedOrder(line) else { throw Violation("there is no order \(line.prefix(200))") }
      alarm.begin("client \(getpid()), \(line.prefix(20))")
      for line in try SyncedAnswer(order.follow(session)).lines { WorkerCommand.say(line) }
      alarm.end()
    }
    database.close()
  }
}
