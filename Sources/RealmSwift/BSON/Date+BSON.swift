import Foundation
import RealmStorage

// BSON has milliseconds since 1970 in 64 bits, and a date of Foundation is a double. The way from one to the other goes by
// `Timestamp`, whose parts are exact.
extension Date {
  private static let perSecond: Int64 = 1000
  private static let nanosecondsPerMillisecond: Int64 = 1_000_000

  /// - Parameter milliseconds: since the beginning of 1970.
  init(milliseconds: Int64) {
    var (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.perSecond)
    if rest < 0 {
      seconds -= 1
      rest += Self.perSecond
    }
    self.init(Timestamp(seconds: seconds, nanoseconds: Int32(rest * Self.nanosecondsPerMillisecond)))
  }

  /// The nearest millisecond since the beginning of 1970. A date beyond 64 bits becomes the first or the last that there is.
  var milliseconds: Int64 {
    let moment = Timestamp(self)
    let rest =
      (Int64(moment.nanoseconds) + Self.nanosecondsPerMillisecond / 2) / Self.nanosecondsPerMillisecond
    let (whole, isBeyond) = moment.seconds.multipliedReportingOverflow(by: Self.perSecond)
    guard !isBeyond else { return moment.seconds < 0 ? .min : .max }
    let (sum, isSumBeyond) = whole.addingReportingOverflow(rest)
    return isSumBeyond ? .max : sum
  }

  /// - Parameter logSeconds: since the beginning of 1970, as timestamps of BSON have them.
  init(logSeconds: UInt32) { self.init(Timestamp(seconds: Int64(logSeconds))) }

  /// The whole seconds since the beginning of 1970. A date before 1970 becomes the first, one after 2106 the last that there is.
  var logSeconds: UInt32 { UInt32(clamping: Timestamp(self).seconds) }
}
