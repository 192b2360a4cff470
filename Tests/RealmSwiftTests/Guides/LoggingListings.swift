import Foundation
import RealmSwift
import Synchronization

// These listings are compiled and not run, because the whole process has one logger, and other tests set it meanwhile.

// listing: set the logger
func logToStandardError() {
  Logger.shared = Logger(level: .info) { level, message in
    FileHandle.standardError.write(Data("\(level): \(message)\n".utf8))
  }
}
// end

// listing: keep the last messages
final class LastMessages: Sendable {
  private let messages = Mutex<[String]>([])

  /// The last messages from the oldest to the newest, at most a hundred.
  var all: [String] { messages.withLock { $0 } }

  func add(_ level: LogLevel, _ message: String) {
    messages.withLock { messages in
      if messages.count == 100 { messages.removeFirst() }
      messages.append("\(level): \(message)")
    }
  }
}

func keepLastMessages() -> LastMessages {
  let last = LastMessages()
  Logger.shared = Logger(level: .detail) { level, message in last.add(level, message) }
  return last
}
// end

// listing: another level
func logTransactionsToo() { Logger.shared.level = .debug }
// end
