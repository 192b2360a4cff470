import Foundation
import RealmInterchange

/// Texts for sizes, counts and times.
enum Wording {
  static func bytes(_ count: UInt64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (Double(count), 0)
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(count) bytes" : String(format: "%.1f %@", value, units[unit])
  }

  static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  static func time(_ nanoseconds: UInt64) -> String {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(.iso8601)
  }

  /// The size of a file in bytes.
  static func size(_ path: String) throws -> UInt64 {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
  }

  /// A text that can be put on a terminal: a character that a terminal takes for a command is written as an escape of
  /// JSON. Line ends and tabs stay.
  static func shown(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: JSON.mayMislead) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if JSON.mayMislead(scalar), scalar != "\n", scalar != "\t" {
        shown += "\\u" + Hexadecimal.text(UInt64(scalar.value), digits: 4)
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }
}
