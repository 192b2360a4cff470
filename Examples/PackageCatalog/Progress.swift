import Foundation

/// A bar on a terminal that shows how much of something is done; nothing where output is no terminal.
struct Progress {
  private let title: String
  private let total: Int
  private var shown = -1
  private let isTerminal = isatty(STDERR_FILENO) != 0

  init(_ title: String, of total: Int) {
    self.title = title
    self.total = max(total, 1)
  }

  mutating func show(_ done: Int) {
    let percent = min(done * 100 / total, 100)
    guard isTerminal, percent != shown else { return }
    shown = percent
    let bar = String(repeating: "█", count: percent / 4) + String(repeating: "░", count: 25 - percent / 4)
    write("\r\(title) \(bar) \(percent) %")
  }

  /// Takes the bar away.
  func end() {
    if isTerminal { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
