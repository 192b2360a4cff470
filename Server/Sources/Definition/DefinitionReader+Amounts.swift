import Foundation
import Yams

/// Units of time or size, with the number of seconds or bytes of each.
struct Units {
  /// The usual names, the smallest first.
  let names: [String]
  let factors: [String: Int]
  /// The text that says what may stand in the file.
  let remedy: String
  /// Whether 0 needs no unit, and is always within the range.
  let hasZero: Bool

  static let time = Units(
    names: ["minutes", "hours", "days"],
    factors: [
      "minute": 60, "minutes": 60, "hour": 3_600, "hours": 3_600, "day": 86_400, "days": 86_400,
    ],
    remedy: "Write 0 for no end, or 1 minute to 36500 days, such as `30 days`.", hasZero: true)

  static let size = Units(
    names: ["KiB", "MiB", "GiB"], factors: ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30],
    remedy: "Write 1 MiB to 1048576 GiB, such as `2 GiB`.", hasZero: false)
}

extension DefinitionReader {
  /// A whole number with a unit, in seconds or bytes.
  mutating func amount(_ node: Node, _ owner: String, _ units: Units, in range: ClosedRange<Int>) -> Int? {
    guard let text = text(node, owner, units.remedy) else { return nil }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count).trimmingCharacters(in: .whitespaces)
    guard !digits.isEmpty, unit.isEmpty || unit.first?.isLetter == true else {
      refuse(node, owner, units.remedy)
      return nil
    }
    if units.hasZero, Int(digits) == 0, unit.isEmpty { return 0 }
    guard !unit.isEmpty else {
      problems.add(
        at: Place(node), "\(owner) has no unit.",
        "Write \(Wording.list(units.names, "or")) behind the number.")
      return nil
    }
    guard let factor = units.factors[unit] else {
      problems.add(
        at: Place(node), "\(owner) has the unit \(Wording.shown(unit)), which is none.",
        Self.choice(unit, units.names, "Units"))
      return nil
    }
    // A number that is too large for an integer is out of the range as well.
    let (amount, isTooLarge) = (Int(digits) ?? .max).multipliedReportingOverflow(by: factor)
    guard !isTooLarge, range.contains(amount) || (units.hasZero && amount == 0) else {
      refuse(node, owner, units.remedy)
      return nil
    }
    return amount
  }
}
