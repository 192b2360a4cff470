import Foundation

/// A progress bar on the terminal for work that takes longer than a second.
final class ProgressBar {
  private let isShowing: Bool
  private let now: () -> Date
  private let write: (String) -> Void
  private let start: Date
  /// The percentage on the terminal; nil if there is no bar.
  private var percent: Int?

  /// Makes a bar on standard error. If standard output is a terminal, too, the bar would be in the middle of the
  /// output, so there is no bar then for a command that `prints` while it works.
  convenience init(prints: Bool = false) {
    self.init(
      isShowing: isatty(STDERR_FILENO) == 1 && !(prints && isatty(STDOUT_FILENO) == 1),
      now: { Date() }, write: { Output.putOnStandardError($0) })
  }

  init(isShowing: Bool, now: @escaping () -> Date, write: @escaping (String) -> Void) {
    self.isShowing = isShowing
    self.now = now
    self.write = write
    start = now()
  }

  /// Shows the share of the work that is done, from 0 to 1.
  func show(_ share: Double) {
    guard isShowing else { return }
    let share = min(1, max(0, share))
    guard Int(share * 100) != percent, now().timeIntervalSince(start) > 1 else { return }
    percent = Int(share * 100)
    let filled = Int(share * 40)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 40 - filled)
    write("\r[\(bar)] \(Int(share * 100)) %")
  }

  func finish() {
    if percent != nil { write("\r\u{1b}[K") }
    percent = nil
  }
}
