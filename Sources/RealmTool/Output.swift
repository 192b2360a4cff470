import Foundation

/// How the tool speaks: tables, sizes, times, complaints.
enum Output {
  static func complain(_ message: String) { FileHandle.standardError.write(Data((message + "\n").utf8)) }

  static func row(_ label: String, _ value: String) {
    print(label.padding(toLength: 22, withPad: " ", startingAt: 0) + value)
  }

  static func bytes(_ count: UInt64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(count), 0)
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(count) bytes" : String(format: "%.1f %@", value, units[unit])
  }

  static func time(_ nanoseconds: UInt64) -> String {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(.iso8601)
  }

  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }
}

/// A bar on the terminal for what takes longer than a second.
final class ProgressBar {
  private let total: UInt64
  private let start = Date()
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false

  init(total: UInt64) { self.total = max(total, 1) }

  func show(_ done: UInt64) {
    guard isTerminal, Date().timeIntervalSince(start) > 1 else { return }
    isShown = true
    let share = min(1, Double(done) / Double(total))
    let filled = Int(share * 40)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 40 - filled)
    FileHandle.standardError.write(Data("\r[\(bar)] \(Int(share * 100)) %".utf8))
  }

  func finish() {
    if isShown { FileHandle.standardError.write(Data("\r\u{1b}[K".utf8)) }
  }
}
