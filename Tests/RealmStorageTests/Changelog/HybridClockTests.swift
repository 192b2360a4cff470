import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct HybridClockTests {
  @Test(arguments: 0..<50 as Range<UInt64>) func `stamps grow, even if the machine's clock goes back`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var (clock, last) = (HybridClock(), Stamp(word: 0))
    for _ in 0..<200 {
      let time = UInt64.random(in: 0..<10_000_000, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: clock.learn(offset: Int64.random(in: -200_000_000...200_000_000, using: &random))
      case 1:
        let mark = Stamp(word: UInt64.random(in: 0 ... .max, using: &random))
        let before = clock
        if clock.receive(mark, at: time) { last = max(last, mark) } else { #expect(clock == before) }
      default:
        let stamp = clock.stamp(at: time)
        #expect(stamp > last, "seed \(seed)")
        last = stamp
      }
      #expect(abs(clock.offset) <= HybridClock.mostOffset)
    }
  }

  @Test func `a stamp takes the corrected time if this is later than all stamps seen`() {
    var clock = HybridClock(offset: 500)
    var stamps = [clock.stamp(at: 1_000), clock.stamp(at: 1_000)]
    clock.learn(offset: -400)
    // The clock does not follow a time that goes back.
    stamps += [clock.stamp(at: 1_000), clock.stamp(at: 5_000)]
    let start: UInt64 = 1_500 << 16
    #expect(stamps.map(\.word) == [start, start + 1, start + 2, 4_600 << 16])
  }

  @Test func `a mark that lies more than a day ahead is refused`() {
    var clock = HybridClock()
    let day = UInt64(HybridClock.mostOffset)
    let isTooLateTaken = clock.receive(Stamp(milliseconds: 1_000 + day + 1), at: 1_000)
    let isLastTaken = clock.receive(Stamp(milliseconds: 1_000 + day), at: 1_000)
    let stamp = clock.stamp(at: 1_000)
    #expect(!isTooLateTaken && isLastTaken && stamp > Stamp(milliseconds: 1_000 + day))
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a decided stamp is later than all its writer has seen, and not ahead of its arrival in vain`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    func stamp() -> Stamp { Stamp(word: UInt64.random(in: 0..<(1 << 50), using: &random)) }
    let (own, seen, made) = (stamp(), stamp(), stamp())
    let mark = max(own, seen, stamp())
    let arrival = UInt64.random(in: 0..<1 << 34, using: &random)
    let decided = made.decided(arrival: arrival, mark: mark, seen: seen, own: own)
    #expect(decided > own && decided > seen, "seed \(seed)")
    if made.milliseconds <= arrival, made > seen, made > own { #expect(decided == made, "seed \(seed)") }
    if made.milliseconds > arrival + 10_001 {
      #expect(decided <= max(mark.next, Stamp(milliseconds: arrival)), "seed \(seed)")
    }
  }

  @Test func `the greatest stamp has no successor, and later times give the greatest stamp`() {
    #expect(Stamp(word: .max).next == Stamp(word: .max))
    #expect(Stamp(milliseconds: .max).milliseconds == 1 << 48 - 1)
    var clock = HybridClock(last: Stamp(word: .max))
    let stamp = clock.stamp(at: .max)
    #expect(stamp == Stamp(word: .max))
    #expect(
      Stamp(word: .max).decided(
        arrival: .max, mark: Stamp(word: .max), seen: Stamp(word: 5), own: Stamp(word: 6)
      ).word > 6)
  }
}
