import Foundation
import RealmStorage

// A date is a double: seconds since the beginning of 2001. It is stored as whole seconds since 1970 and nanoseconds. To go
// by the date's own seconds since 1970 would round it, since doubles are coarser there; so the seconds are split as the
// date has them, and only whole seconds, which stay exact, are moved from one beginning to the other.
extension Timestamp {
  /// From the beginning of 1970 to that of 2001, in seconds.
  fileprivate static let from1970To2001: Int64 = 978_307_200
  fileprivate static let nanosecondsPerSecond: Int64 = 1_000_000_000
  /// So many seconds before and after 2001 have less than 2^53 nanoseconds.
  fileprivate static let secondsOfExactNanoseconds: UInt64 = 9_000_000

  /// The nearest nanosecond. A date outside of what can be stored becomes the nearest that can; one that is no number
  /// becomes 1970.
  ///
  /// More than 97 days from the beginning of 2001 on either side, dates are coarser than a nanosecond, and each comes back
  /// equal. Nearer to it, a date comes back equal where it is the nearest to a whole nanosecond.
  init(_ date: Date) {
    let interval = date.timeIntervalSinceReferenceDate
    guard !interval.isNaN else {
      self.init(seconds: 0)
      return
    }
    let whole = interval.rounded(.towardZero)
    guard let since2001 = Int64(exactly: whole) else {
      self.init(interval < 0)
      return
    }
    // The difference is exact, and has the sign of the date.
    var nanoseconds = Int64(((interval - whole) * Double(Self.nanosecondsPerSecond)).rounded())
    var (seconds, isBeyond) = since2001.addingReportingOverflow(Self.from1970To2001)
    if nanoseconds < 0, !isBeyond {
      nanoseconds += Self.nanosecondsPerSecond
      seconds -= 1
    } else if nanoseconds == Self.nanosecondsPerSecond {
      nanoseconds = 0
      seconds += 1
    }
    if isBeyond {
      self.init(interval < 0)
    } else {
      self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
  }

  /// The first moment that can be stored, or the last whole second.
  private init(_ isFirst: Bool) { self.init(seconds: isFirst ? .min : .max) }
}

extension Date {
  /// The nearest date.
  init(_ moment: Timestamp) {
    let (seconds, isBeyond) = moment.seconds.subtractingReportingOverflow(Timestamp.from1970To2001)
    guard !isBeyond else {
      self.init(timeIntervalSinceReferenceDate: Double(moment.seconds) - Double(Timestamp.from1970To2001))
      return
    }
    let perSecond = Double(Timestamp.nanosecondsPerSecond)
    // Near 2001 all nanoseconds are a double, and one division rounds once: microseconds come back equal there.
    if seconds.magnitude < Timestamp.secondsOfExactNanoseconds {
      let nanoseconds = seconds * Timestamp.nanosecondsPerSecond + Int64(moment.nanoseconds)
      self.init(timeIntervalSinceReferenceDate: Double(nanoseconds) / perSecond)
      return
    }
    // Before 2001 the whole second that is nearer to it, and what is missing: both parts have one sign, as they had when
    // the date was split.
    if seconds < 0, moment.nanoseconds > 0 {
      let missing = Timestamp.nanosecondsPerSecond - Int64(moment.nanoseconds)
      self.init(timeIntervalSinceReferenceDate: Double(seconds + 1) - Double(missing) / perSecond)
    } else {
      self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(moment.nanoseconds) / perSecond)
    }
  }
}
