import Foundation

/// What a program has written, and what it has seen of others.
struct Figures {
  /// Transactions that were committed here.
  var written = 0
  /// Objects that others have added, changed or deleted, as observers were told.
  var seen = 0
  /// How long each ping of others took until it was seen here, in nanoseconds.
  var delays: [Int] = []

  /// One line for each figure.
  var text: String {
    var lines = ["up: \(written) changes", "down: \(seen) changes"]
    let sorted = delays.sorted()
    if let longest = sorted.last {
      lines.append("delay: \(milliseconds(sorted[sorted.count / 2])) (median of \(sorted.count))")
      lines.append("longest delay: \(milliseconds(longest))")
    }
    return lines.joined(separator: "\n")
  }

  private func milliseconds(_ nanoseconds: Int) -> String {
    String(format: "%.1f ms", Double(nanoseconds) / 1_000_000)
  }
}
