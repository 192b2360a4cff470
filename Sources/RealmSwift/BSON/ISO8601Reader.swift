import RealmStorage

/// Reads a point in time from a text of ISO 8601: a date, a time with seconds and an optional fraction, and the offset from
/// universal time, as in `2020-01-31T12:00:00.250Z` and `2020-01-31T14:00:00+02:00`.
///
/// Foundation's readers are not used, because they accept different fractions and dates on different systems.
struct ISO8601Reader {
  /// The number of days from the beginning of the year 0 to the beginning of 1970.
  private static let daysTo1970 = 719_528

  private var rest: ArraySlice<UInt8>

  private init(_ text: String) { rest = Array(text.utf8)[...] }

  /// Reads a text; nil if it is not a point in time. Digits of the fraction after the ninth are ignored.
  static func moment(_ text: String) -> Timestamp? {
    var reader = ISO8601Reader(text)
    return reader.moment()
  }

  private mutating func moment() -> Timestamp? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2), take("T"),
      let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
      let nanoseconds = fraction(), let distance = distanceFromUniversalTime(), rest.isEmpty,
      (1...12).contains(month), (1...Self.days(month, of: year)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    let days = Self.days(before: year, month) + day - 1 - Self.daysTo1970
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - distance
    return Timestamp(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds))
  }

  private static func days(before year: Int, _ month: Int) -> Int {
    // The year 0 is a leap year.
    let leapYears = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
    return (1..<month).reduce(year * 365 + leapYears) { $0 + days($1, of: year) }
  }

  private static func days(_ month: Int, of year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  // MARK: - Parts of the text

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

  /// Reads the fraction of the second, in nanoseconds.
  private mutating func fraction() -> Int? {
    guard take(".") else { return 0 }
    let digits = rest.prefix(while: Self.isDigit)
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    let counted = digits.prefix(9)
    return (counted.count..<9).reduce(Self.number(of: counted)) { number, _ in number * 10 }
  }

  /// Reads the offset from universal time, in seconds; it is positive east of Greenwich.
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
