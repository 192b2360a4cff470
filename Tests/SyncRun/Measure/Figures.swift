import Foundation
import RealmStorage

/// The measured figures, each with its aim.
final class Figures {
  enum Aim {
    case atMost(Double)
    case atLeast(Double)
  }

  private struct Row {
    let name: String
    let unit: String
    let aim: Aim
    /// The number of digits after the decimal point.
    let digits: Int
    var figures: [Double]
  }

  private var rows: [Row] = []

  /// Adds the figure of one round. The rounds with the same name make one row.
  func add(_ name: String, _ figure: Double, _ unit: String, _ aim: Aim, digits: Int = 1) {
    if let place = rows.firstIndex(where: { $0.name == name }) {
      rows[place].figures.append(figure)
    } else {
      rows.append(Row(name: name, unit: unit, aim: aim, digits: digits, figures: [figure]))
    }
  }

  /// The text has a line for each row: its name, the median of the rounds, and the aim. The columns have fixed widths.
  var text: String {
    let sorted = rows.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
    let lines = sorted.map { row in
      func number(_ value: Double) -> String { String(format: "%.\(row.digits)f", value) + " " + row.unit }
      let median = row.figures.sorted()[row.figures.count / 2]
      let aim =
        switch row.aim {
        case .atMost(let value): "at most \(number(value))"
        case .atLeast(let value): "at least \(number(value))"
        }
      return row.name.padding(toLength: 84, withPad: " ", startingAt: 0)
        + number(median).padding(toLength: 20, withPad: " ", startingAt: 0) + aim
    }
    return lines.joined(separator: "\n")
  }
}

/// The time that `body` takes, in seconds.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(body)
  return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// The number of bytes of memory that the process holds, without mapped files.
func memory() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
  return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
}

func sizeOfFile(_ path: String) throws -> Int {
  try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
}

extension Database {
  static func local(_ folder: URL, _ name: String) throws -> Database {
    try Database(path: folder.appending(path: name + ".realm").path, options: DatabaseOptions())
  }

  static func synced(_ folder: URL, _ name: String) throws -> Database {
    var options = DatabaseOptions()
    options.history = .synced
    return try Database(path: folder.appending(path: name + ".realm").path, options: options)
  }
}
