import RealmStorage

extension RQLLexer {
  /// Reads a date as `T<seconds>:<nanoseconds>` at the current offset, both with or without a sign; nil if there is
  /// none.
  mutating func dateBySeconds(_ nameEnd: Int) throws(QueryError) -> RQLToken? {
    guard let seconds = signed(offset + 1), source[seconds.digits.upperBound] == UInt8(ascii: ":"),
      let nanoseconds = signed(seconds.digits.upperBound + 1), nanoseconds.digits.upperBound >= nameEnd
    else { return nil }
    let end = nanoseconds.digits.upperBound
    let range = SourceRange(offset, end)
    let whole = try number(seconds.digits, as: Int64.self)
    let fraction = try number(nanoseconds.digits, as: Int64.self)
    guard whole == 0 || fraction == 0 || seconds.isNegative == nanoseconds.isNegative else {
      throw source.syntaxError("Seconds and nanoseconds of a date must have the same sign", at: range)
    }
    return take(
      .constant(
        try date(
          seconds: seconds.isNegative ? -whole : whole,
          nanoseconds: nanoseconds.isNegative ? -fraction : fraction, range)), to: end)
  }

  private func signed(_ start: Int) -> (isNegative: Bool, digits: Range<Int>)? {
    let isNegative = source[start] == UInt8(ascii: "-")
    let digits = start + (isNegative || source[start] == UInt8(ascii: "+") ? 1 : 0)
    let end = source.skipDigits(digits)
    return end > digits ? (isNegative, digits..<end) : nil
  }

  /// Makes a date.
  ///
  /// - Parameter nanoseconds: the part of a second, with the sign of the seconds.
  private func date(
    seconds: Int64, nanoseconds: Int64, _ range: SourceRange
  ) throws(QueryError) -> Value {
    guard nanoseconds.magnitude < 1_000_000_000 else {
      throw source.syntaxError("A second has 1,000,000,000 nanoseconds", at: range)
    }
    // The seconds are greater than `Int64.min`, so that one second less is still an `Int64`.
    return nanoseconds < 0
      ? .date(Timestamp(seconds: seconds - 1, nanoseconds: Int32(nanoseconds + 1_000_000_000)))
      : .date(Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
  }

  /// Reads a date as `Y-M-D@H:M:S` or `Y-M-DTH:M:S`, with or without `:nanoseconds`, at the current offset; nil if
  /// there is none.
  mutating func dateByDigits() throws(QueryError) -> RQLToken? {
    guard source[offset].isDigit else { return nil }
    var fields: [Range<Int>] = []
    var end = offset
    for index in 0..<7 {
      if index > 0 {
        guard separates(source[end], index) else {
          if index == 6 { break }
          return nil
        }
        end += 1
      }
      let digits = end..<source.skipDigits(end)
      if digits.isEmpty {
        guard index == 6 else { return nil }
        end -= 1
        break
      }
      fields.append(digits)
      end = digits.upperBound
    }
    let range = SourceRange(offset, end)
    let parts = fields.map { Int64(clamping: decimal($0)) }
    return take(.constant(try date(parts, range)), to: end)
  }

  private func separates(_ byte: UInt8, _ index: Int) -> Bool {
    switch index {
    case 1, 2: byte == UInt8(ascii: "-")
    case 3: byte == UInt8(ascii: "@") || byte == UInt8(ascii: "T")
    default: byte == UInt8(ascii: ":")
    }
  }

  private func date(_ parts: [Int64], _ range: SourceRange) throws(QueryError) -> Value {
    func invalid(_ message: String) -> QueryError {
      QueryError(.invalidQuery, message, range: range, in: source)
    }
    let (year, month, day) = (parts[0], parts[1], parts[2])
    guard year >= 1900 else { throw invalid("The year of a date must be 1900 or later") }
    guard year <= 1_000_000, (1...12).contains(month), (1...31).contains(day), parts[3] < 24,
      parts[4] < 60, parts[5] <= 60
    else { throw invalid("There is no such date") }
    let seconds =
      Self.daysSince1970(year, month, day) * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5]
    let nanoseconds = parts.count > 6 ? parts[6] : 0
    // In a date before 1970, the nanoseconds lead further away from 1970, as the seconds do.
    return try date(seconds: seconds, nanoseconds: seconds < 0 ? -nanoseconds : nanoseconds, range)
  }

  /// The days from 1970 to a date of the Gregorian calendar. A day that the month does not have counts into the next
  /// month.
  private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    // If years start in March, the extra day of a leap year is the last one of its year.
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
  }
}
