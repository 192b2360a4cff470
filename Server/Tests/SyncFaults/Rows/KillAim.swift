import Foundation
import SyncPrograms

/// The work during which a server is killed. The server's log has a line when the work begins, and one when it ends.
enum KillAim: String, CaseIterable {
  /// Changes of clients are merged and stored.
  case integrating
  /// History that no file needs is removed.
  case trimming

  private var lines: (begin: String, end: String) {
    switch self {
    case .integrating: ("changes are being integrated", "changes are integrated")
    case .trimming: ("history is being removed", "history is removed")
    }
  }

  /// True if a log ends during the work.
  func isUnderWay(in log: String) -> Bool {
    guard let begin = log.range(of: lines.begin, options: .backwards) else { return false }
    guard let end = log.range(of: lines.end, options: .backwards) else { return true }
    return end.lowerBound < begin.lowerBound
  }

  /// Waits until the work has begun and not ended.
  ///
  /// - Parameter log: The file of the server's log.
  /// - Returns: False if the work does not begin within `seconds` seconds.
  /// - Throws: `Interrupted`, or an error of the file.
  func waits(in log: URL, within seconds: Double) throws -> Bool {
    let file = try FileHandle(forReadingFrom: log)
    defer { try? file.close() }
    try file.seekToEnd()
    var text = ""
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      try Interruption.check()
      text += String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      if isUnderWay(in: text) { return true }
      // The rest may be the beginning of the line.
      text = String(text.suffix(1000))
      Thread.sleep(forTimeInterval: 0.0002)
    }
    return false
  }
}
