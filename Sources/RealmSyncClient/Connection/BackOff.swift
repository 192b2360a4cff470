/// How long to wait before the next try: 1 s at first, twice as long after each failure, 300 s at most, and up to a quarter less by
/// chance, so that the clients of a server that was away do not come back all at once.
struct BackOff {
  static let first: UInt64 = 1000
  static let longest: UInt64 = 300_000
  private var failures: UInt64 = 0

  /// Milliseconds before the next try.
  mutating func next(_ clock: any SyncClock) -> UInt64 {
    let wait = min(Self.longest, Self.first << min(failures, 20))
    failures += 1
    return wait - clock.random(below: wait / 4 + 1)
  }

  mutating func reset() { failures = 0 }
}
