import Foundation

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
    let digits: Int
    var figures: [Double]
  }

  private var rows: [Row] = []

  /// Adds a figure of one round. The rounds with the same name are one row.
  func add(_ name: String, _ figure: Double, _ unit: String, _ aim: Aim, digits: Int = 1) {
    if let place = rows.firstIndex(where: { $0.name == name }) {
      rows[place].figures.append(figure)
    } else {
      rows.append(Row(name: name, unit: unit, aim: aim, digits: digits, figures: [figure]))
    }
  }

  /// A line for each row: its name, the median of the rounds, and the aim. There are two or more spaces between the
  /// fields, as in the lines of `sync-run measure`.
  var text: String {
    let sorted = rows.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
    let lines = sorted.map { row in
      func number(_ value: Double) -> String { String(format: "%.\(row.digits)f", value) + " " + row.unit }
      let aim =
        switch row.aim {
        case .atMost(let value): "at most \(number(value))"
        case .atLeast(let value): "at least \(number(value))"
        }
      return row.name.padding(toLength: 84, withPad: " ", startingAt: 0)
        + number(row.figures.percentile(50)).padding(toLength: 20, withPad: " ", startingAt: 0) + aim
    }
    return lines.joined(separator: "\n")
  }
}

extension [Double] {
  /// The figure that is greater than or equal to this percentage of the figures; 0 if there are none.
  func percentile(_ percent: Int) -> Double {
    guard !isEmpty else { return 0 }
    return sorted()[Swift.min(count - 1, count * percent / 100)]
  }
}

extension Int {
  /// The number with a comma before each group of three digits.
  var grouped: String {
    let digits = String(self)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }
}
