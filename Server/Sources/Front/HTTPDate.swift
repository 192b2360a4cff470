import Foundation

/// Times in the form in which HTTP writes them.
enum HTTPDate {
  static var now: String { text(of: Int(Date().timeIntervalSince1970)) }

  /// The text of a time, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Parameter seconds: the seconds since 1970; less than 0 counts as 0.
  static func text(of seconds: Int) -> String {
    let (days, second) = max(0, seconds).quotientAndRemainder(dividingBy: 86_400)
    // 1970 began on a Thursday.
    let weekday = weekdays[(days + 4) % 7]
    var (year, day) = (1970, days)
    while day >= lengths(of: year).reduce(0, +) {
      day -= lengths(of: year).reduce(0, +)
      year += 1
    }
    var month = 0
    while day >= lengths(of: year)[month] {
      day -= lengths(of: year)[month]
      month += 1
    }
    let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
    return "\(weekday), \(twoDigits(day + 1)) \(months[month]) \(year) \(time) GMT"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func lengths(of year: Int) -> [Int] {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
