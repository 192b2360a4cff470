import Foundation
import RealmStorage

// A `Date` is a double: the seconds since the beginning of 2001. It is stored as whole seconds since 1970 and nanoseconds.
// The date's own number of seconds since 1970 would be rounded because doubles are coarser there. So the seconds since 2001
// are split into a whole part and a fraction, and only the whole part, which stays exact, is moved to 1970.
extension Timestamp {
  /// The number of seconds from the beginning of 1970 to the beginning of 2001.
  fileprivate static let from1970To2001: Int64 = 978_307_200
  fileprivate static let nanosecondsPerSecond: Int64 = 1_000_000_000
  /// Within this number of seconds before and after 2001, the nanoseconds are less than 2^53, so a double holds them exactly.
  fileprivate static let secondsOfExactNanoseconds: UInt64 = 9_000_000

  /// Makes the nearest moment in whole nanoseconds. A date outside of the range of `Timestamp` becomes the nearest moment of
  /// that range, and NaN becomes the beginning of 1970.
  ///
  /// Dates more than 97 days before or after the beginning of 2001 are coarser than a nanosecond, and each is read back
  /// equal. A date nearer to it is read back equal if it is the nearest date to a whole nanosecond.
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
    // The difference is exact, and has the same sign as the date.
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

  /// Makes the first moment of the range, or the last whole second of it.
  private init(_ isFirst: Bool) { self.init(seconds: isFirst ? .min : .max) }
}

extension Date {
  /// Makes the nearest date.
  init(_ moment: Timestamp) {
    let (seconds, isBeyond) = moment.seconds.subtractingReportingOverflow(Timestamp.from1970To2001)
    guard !isBeyond else {
      self.init(timeIntervalSinceReferenceDate: Double(moment.seconds) - Double(Timestamp.from1970To2001))
      return
    }
    let perSecond = Double(Timestamp.nanosecondsPerSecond)
    // Near 2001 a double holds the nanoseconds exactly, and one division rounds once. So microseconds are read back equal
    // there.
    if seconds.magnitude < Timestamp.secondsOfExactNanoseconds {
      let nanoseconds = seconds * Timestamp.nanosecondsPerSecond + Int64(moment.nanoseconds)
      self.init(timeIntervalSinceReferenceDate: Double(nanoseconds) / perSecond)
      return
    }
    // Before 2001 the date is split into the whole second that is nearer to 2001, and the rest. Both have the same sign, as
    // they had when the date was split for storing.
    if seconds < 0, moment.nanoseconds > 0 {
      let missing = Timestamp.nanosecondsPerSecond - Int64(moment.nanoseconds)
      self.init(timeIntervalSinceReferenceDate: Double(seconds + 1) - Double(missing) / perSecond)
    } else {
      self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(moment.nanoseconds) / perSecond)
    }
  }
}
