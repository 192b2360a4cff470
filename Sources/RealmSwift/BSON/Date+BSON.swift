import Foundation
import RealmStorage

// BSON stores a date as milliseconds since 1970 in 64 bits, and Foundation as a double. The conversions use `Timestamp`, whose
// parts are exact.
extension Date {
  private static let perSecond: Int64 = 1000
  private static let nanosecondsPerMillisecond: Int64 = 1_000_000

  /// Makes a date of the milliseconds since the beginning of 1970.
  init(milliseconds: Int64) {
    var (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.perSecond)
    if rest < 0 {
      seconds -= 1
      rest += Self.perSecond
    }
    self.init(Timestamp(seconds: seconds, nanoseconds: Int32(rest * Self.nanosecondsPerMillisecond)))
  }

  /// The milliseconds since the beginning of 1970, rounded to the nearest one. A date outside the range of 64 bits becomes the
  /// first or the last one of that range.
  var milliseconds: Int64 {
    let moment = Timestamp(self)
    let rest =
      (Int64(moment.nanoseconds) + Self.nanosecondsPerMillisecond / 2) / Self.nanosecondsPerMillisecond
    let (whole, isBeyond) = moment.seconds.multipliedReportingOverflow(by: Self.perSecond)
    guard !isBeyond else { return moment.seconds < 0 ? .min : .max }
    let (sum, isSumBeyond) = whole.addingReportingOverflow(rest)
    return isSumBeyond ? .max : sum
  }

  /// Makes a date of the seconds since the beginning of 1970, as BSON timestamps have them.
  init(logSeconds: UInt32) { self.init(Timestamp(seconds: Int64(logSeconds))) }

  /// The whole seconds since the beginning of 1970. A date before 1970 becomes 0, and one after 2106 the largest number of 32
  /// bits.
  var logSeconds: UInt32 { UInt32(clamping: Timestamp(self).seconds) }
}
