package import RealmStorage

/// Moments as texts of ISO 8601: a day, a time to the second, an optional fraction, and the distance from universal
/// time, as in `2020-01-31T12:00:00.250Z` and `2020-01-31T14:00:00+02:00`.
///
/// The texts are read by hand, because Foundation's parsers differ between systems in the fractions and the days that
/// they accept.
package enum DateText {
  /// The number of days from the beginning of the year 0 to that of 1970.
  private static let daysTo1970 = 719_528

  /// A moment of the years 0 to 9999 as a text in universal time; nil for other years. A fraction of a second has nine
  /// digits, and is left out if it is zero.
  package static func text(_ moment: Timestamp) -> String? {
    let days = moment.seconds / 86_400 - (moment.seconds % 86_400 < 0 ? 1 : 0)
    let day = Int(days) + daysTo1970
    guard (0..<3_652_425).contains(day) else { return nil }
    var year = day / 366
    while Self.days(before: year + 1, 1) <= day { year += 1 }
    var month = 1
    while month < 12, Self.days(before: year, month + 1) <= day { month += 1 }
    let second = Int(moment.seconds - days * 86_400)
    let parts = [
      padded(year, 4), "-", padded(month, 2), "-", padded(day - Self.days(before: year, month) + 1, 2), "T",
      padded(second / 3600, 2), ":", padded(second / 60 % 60, 2), ":", padded(second % 60, 2),
    ]
    let fraction = moment.nanoseconds == 0 ? "" : "." + padded(Int(moment.nanoseconds), 9)
    return parts.joined() + fraction + "Z"
  }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  /// The moment that a text names; nil if it names none. Digits of a second behind the ninth are ignored.
  package static func moment(_ text: String) -> Timestamp? {
    // Most strings that are tested are not dates, and this check finds that quickly.
    guard text.utf8.count >= 20, text.utf8.dropFirst(4).first == UInt8(ascii: "-") else { return nil }
    var reader = Reader(text)
    return reader.moment()
  }

  fileprivate static func days(before year: Int, _ month: Int) -> Int {
    // The year 0 is a leap year.
    let leapYears = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
    return (1..<month).reduce(year * 365 + leapYears) { $0 + days($1, of: year) }
  }

  fileprivate static func days(_ month: Int, of year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }
}

extension DateText {
  private struct Reader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    mutating func moment() -> Timestamp? {
      guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), take("T"),
        let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
        let nanoseconds = fraction(), let distance = distanceFromUniversalTime(), rest.isEmpty,
        (1...12).contains(month), (1...DateText.days(month, of: year)).contains(day),
        hour < 24, minute < 60, second < 60
      else { return nil }
      let days = DateText.days(before: year, month) + day - 1 - DateText.daysTo1970
      let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - distance
      return Timestamp(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds))
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: mark) else { return false }
      rest.removeFirst()
      return true
    }

    private mutating func number(_ count: Int) -> Int? {
      let digits = rest.prefix(count)
      guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
      rest = rest.dropFirst(count)
      return Self.number(of: digits)
    }

    /// Reads the fraction of a second, in nanoseconds; 0 if there is none.
    private mutating func fraction() -> Int? {
      guard take(".") else { return 0 }
      let digits = rest.prefix(while: Self.isDigit)
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      let counted = digits.prefix(9)
      return (counted.count..<9).reduce(Self.number(of: counted)) { number, _ in number * 10 }
    }

    /// Reads the distance from universal time in seconds, which is positive in the east.
    private mutating func distanceFromUniversalTime() -> Int? {
      if take("Z") { return 0 }
      let isWest = take("-")
      guard isWest || take("+"), let hours = number(2), hours < 24 else { return nil }
      _ = take(":")
      guard let minutes = number(2), minutes < 60 else { return nil }
      let seconds = hours * 3600 + minutes * 60
      return isWest ? -seconds : seconds
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func number(of digits: ArraySlice<UInt8>) -> Int {
      digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
  }
}
