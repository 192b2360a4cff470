import RealmTestSupport
import Testing

@testable import RealmSwift

/// Random histories of a session's figures, and rules for the reports of their notifiers.
@Suite struct ProgressSequenceTests {
  /// The figures of a session in one direction, as the session keeps them.
  private struct Feed {
    let direction: SyncSession.ProgressDirection
    var done: UInt64 = 0
    /// The part of `done` that can be read. In an upload it is all of `done`.
    var usable: UInt64 = 0
    var total: UInt64 = 0
    /// True if the figures have begun again in the last change.
    var isAnew = false

    mutating func change(_ random: inout SeededGenerator) {
      isAnew = false
      switch random.below(100) {
      case ..<20: total += UInt64(1 + random.below(1000))
      case ..<60: done += UInt64(random.below(Int(total - done) + 1))
      case ..<65: done = total
      // The bytes that have come and can't be read yet are lost with the connection.
      case ..<70: done = usable
      // The estimate of the server was too high.
      case ..<78: total -= UInt64(random.below(Int(total - done) + 1))
      case ..<82:
        isAnew = usable > 0
        (done, usable, total) = (0, 0, total - usable)
      default: break
      }
      // Bytes that can't be read yet count as one more byte of the total.
      if direction == .upload || random.chance(30) { usable = done }
    }

    /// The figures that a notifier gets.
    var given: (done: UInt64, total: UInt64) { (done, usable == done ? total : total + 1) }
    var isAllDone: Bool { given.done == given.total }
  }

  @Test(arguments: [SyncSession.ProgressDirection.upload, .download])
  func `a block that is called until its token ends hears of each completion once`(
    direction: SyncSession.ProgressDirection
  ) {
    for seed: UInt64 in 0..<3000 {
      var random = SeededGenerator(seed: seed)
      var feed = Feed(direction: direction)
      for _ in 0..<random.below(10) { feed.change(&random) }
      var notifier = ProgressNotifier(direction, .reportIndefinitely)
      var last: Double?
      // The total for which 1 was reported, unless there was work since.
      var told: UInt64?
      for step in 0..<60 {
        // The last figures belong to a session that has completed its work.
        if step == 59 { (feed.done, feed.usable) = (feed.total, feed.total) } else { feed.change(&random) }
        if feed.isAnew, told != nil { told = 0 }
        let isKnown = feed.isAnew || step == 59 || random.chance(90)
        let (done, total) = feed.given
        let answer = notifier.update(
          done: done, total: total, isKnown: isKnown, pendingQuerySet: random.chance(50))
        #expect(!answer.isFinished, "seed \(seed)")
        let isExpected = isKnown && feed.isAllDone && told != total
        #expect((answer.report == 1) == isExpected, "seed \(seed): \(done) of \(total)")
        if isKnown { told = feed.isAllDone ? total : nil }
        guard let report = answer.report else { continue }
        #expect((0...1).contains(report) && isKnown, "seed \(seed)")
        #expect(report != last || report == 1, "seed \(seed): \(report) is told twice")
        if let last, last < 1 { #expect(report >= last, "seed \(seed): \(last), then \(report)") }
        last = report
      }
      #expect(last == 1, "seed \(seed)")
    }
  }

  @Test(arguments: [SyncSession.ProgressDirection.upload, .download])
  func `a block for outstanding work ends with 1 when that work is complete`(
    direction: SyncSession.ProgressDirection
  ) {
    for seed: UInt64 in 0..<3000 {
      var random = SeededGenerator(seed: seed)
      var feed = Feed(direction: direction)
      for _ in 0..<random.below(10) { feed.change(&random) }
      var notifier = ProgressNotifier(direction, .forCurrentlyOutstandingWork)
      var last: Double?
      var (target, hasEnded): (UInt64?, Bool) = (nil, false)
      // The value of `done` in the last known figures.
      var known: UInt64 = 0
      let pending = direction == .download ? random.below(5) : 0
      for step in 0..<60 {
        if step == 59 { (feed.done, feed.usable) = (feed.total, feed.total) } else { feed.change(&random) }
        let isKnown = feed.isAnew || step == 59 || random.chance(90)
        let (done, total) = feed.given
        let isWaiting = step < pending
        let answer = notifier.update(done: done, total: total, isKnown: isKnown, pendingQuerySet: isWaiting)
        guard isKnown, !isWaiting, !hasEnded else {
          #expect(answer.report == nil && answer.isFinished == hasEnded, "seed \(seed)")
          continue
        }
        if done < known { target = nil }
        known = done
        let least = min(target ?? total, total)
        target = least
        // Each upload is final on its own. Downloads are final when all downloaded objects can be read.
        let isDone = direction == .upload ? done >= least : done == total
        let isTold = answer.isFinished && answer.report == 1
        #expect(isTold == isDone && answer.isFinished == isDone, "seed \(seed): \(done) of \(total)")
        hasEnded = isDone
        guard let report = answer.report else { continue }
        #expect((0...1).contains(report) && report != last, "seed \(seed)")
        if let last { #expect(report >= last, "seed \(seed): \(last), then \(report)") }
        last = report
      }
      #expect(hasEnded, "seed \(seed)")
    }
  }
}
