import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// How a process of the run opens a synced file.
func syncedOptions(isEncrypted: Bool) -> Database.Options {
  var synced = options(isEncrypted: isEncrypted)
  synced.history = .synced
  return synced
}

/// What a client's session is told: a line for each order where the session is in another process.
enum SyncedOrder {
  /// A connection is there, and is lost.
  case connect, lost
  case upload
  /// A message of the server has come.
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

/// What a client's session did with an order: in another process some lines, the last of which is a point.
struct SyncedAnswer {
  private(set) var frames: [[UInt8]] = []
  /// Steps that were applied.
  private(set) var steps = 0
  /// The connection is to be closed.
  private(set) var isOver = false

  init() {}

  /// - Throws: `Violation` for what no session of the run has a cause to do.
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

  /// Takes a line in. Answers false after the last one.
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

/// The session of a file with a server: in this process, or in one that can be killed.
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
  /// Kills the process while it follows an order. Answers what it had said by then.
  func crash(at order: SyncedOrder, after microseconds: UInt32) throws -> SyncedAnswer {
    tell(order.line)
    usleep(microseconds)
    try crash()
    var answer = SyncedAnswer()
    // A line that the kill has cut off is never complete.
    while let said = try? line(), try answer.add(said) {}
    return answer
  }
}

/// A process that has a client's session.
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
