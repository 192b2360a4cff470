import RealmSync

/// The waits between tries to connect. The first wait is the one that the server has told. Each failure doubles the
/// wait, up to the longest wait that the server has told. Each wait is shortened at random by up to a quarter, so that
/// the clients of a server that was away do not all come back at once.
struct BackOff {
  // These waits count until a server has told others.
  private var first: UInt64 = 1000
  private var longest: UInt64 = 300_000
  private var failures: UInt64 = 0

  /// The bounds for waits, a tenth of a second and an hour. With other waits a server could let its clients try without
  /// pause, or hardly ever.
  private static let bounds: ClosedRange<UInt64> = 100...3_600_000

  /// Takes over the waits that a server tells in its welcome.
  mutating func follow(_ limits: Welcome.Limits) {
    first = min(max(UInt64(limits.firstWait), Self.bounds.lowerBound), Self.bounds.upperBound)
    longest = min(max(UInt64(limits.longestWait), first), Self.bounds.upperBound)
  }

  /// The milliseconds to wait before the next try.
  mutating func next(_ clock: any SyncClock) -> UInt64 {
    let wait = min(longest, first << min(failures, 20))
    failures += 1
    return wait - clock.random(below: wait / 4 + 1)
  }

  mutating func reset() { failures = 0 }
}
