import RealmSync

/// How long to wait before the next try: the first wait that the server has told at first, twice as long after each failure, the longest
/// that it has told at most, and up to a quarter less by chance, so that the clients of a server that was away do not come back all at once.
struct BackOff {
  // Until a server has told others.
  private var first: UInt64 = 1000
  private var longest: UInt64 = 300_000
  private var failures: UInt64 = 0

  /// A server can ask for waits from a tenth of a second to an hour: others would let its clients try without end, or no more.
  private static let bounds: ClosedRange<UInt64> = 100...3_600_000

  /// Takes over the waits that a server tells in its welcome.
  mutating func follow(_ limits: Welcome.Limits) {
    first = min(max(UInt64(limits.firstWait), Self.bounds.lowerBound), Self.bounds.upperBound)
    longest = min(max(UInt64(limits.longestWait), first), Self.bounds.upperBound)
  }

  /// Milliseconds before the next try.
  mutating func next(_ clock: any SyncClock) -> UInt64 {
    let wait = min(longest, first << min(failures, 20))
    failures += 1
    return wait - clock.random(below: wait / 4 + 1)
  }

  mutating func reset() { failures = 0 }
}
