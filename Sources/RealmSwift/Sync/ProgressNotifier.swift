/// Decides what one block is told of progress, and when it has been told all. It has no thread and no clock: whoever uses it
/// gives it the figures of the session in one direction, each time they change and once when the block is registered.
///
/// Any measure of work will do, as bytes or millionths, if these hold:
/// - For uploads `done` counts what the server has taken, so that all of it is final.
/// - For downloads `done` may count what has come and can't be read yet. It equals `total` only when all that has come can be read.
/// - The figures may go on over all of a session's life, or begin anew, with each step of a download, say.
///
/// What it says then is in 0…1, is 1 only when all is done, never falls before it was 1, and is never the same figure twice while
/// work goes on. Nothing to do is told as 1, once.
struct ProgressNotifier: Sendable {
  private let direction: SyncSession.ProgressDirection
  private let mode: SyncSession.ProgressMode
  /// `done` when the work that is counted began; nil before the first figures where nobody has said it.
  private var base: UInt64?
  /// What a block for outstanding work waits for: the least `total` since the first figures.
  private var target: UInt64?
  /// So much of `done` is final.
  private var settled: UInt64 = 0
  /// What was said last; nil before anything was.
  private var last: Double?
  private var isFinished = false

  /// What is not final yet may count for so much: making it so is work too.
  private static let mostBeforeFinal = 0.99

  /// - Parameter base: `done` when the work began that is going on, where this is known: when all was done the last time. Nil to count
  ///   from the first figures on.
  init(
    _ direction: SyncSession.ProgressDirection, _ mode: SyncSession.ProgressMode,
    countingFrom base: UInt64? = nil
  ) {
    (self.direction, self.mode, self.base) = (direction, mode, base)
  }

  /// The figures are these now.
  ///
  /// - Parameters:
  ///   - done: so much is done.
  ///   - total: what is done, and what is known to be left. Where it is less than `done`, it counts as that.
  ///   - isKnown: the figures say what there is to do. They do not before the session has counted the commits that wait, or the server has
  ///     said what it has: nothing is said then.
  ///   - pendingQuerySet: the figures are not those of the query set that was the newest one when the block was registered: the server
  ///     has not begun to send what that one shows. A block for outstanding downloads waits for it. To others it makes no difference,
  ///     and none once something was said.
  /// - Returns: what to tell the block, if anything; and whether it is told nothing more.
  mutating func update(
    done: UInt64, total: UInt64, isKnown: Bool, pendingQuerySet: Bool
  ) -> (report: Double?, isFinished: Bool) {
    guard !isFinished else { return (nil, true) }
    guard isKnown, !(pendingQuerySet && waitsForQuerySet) else { return (nil, false) }
    let total = max(done, total)
    let base = follow(done, total)
    let goal = outstanding(of: total)
    guard settled < goal else { return (complete(total), isFinished) }
    // Below 1 whatever rounding does.
    let estimate = min(
      share(done, base, goal), max(Self.mostBeforeFinal, share(settled, base, goal)), 1.0.nextDown)
    return (rise(to: estimate), false)
  }

  private var waitsForQuerySet: Bool {
    direction == .download && mode == .forCurrentlyOutstandingWork && last == nil
  }

  /// Notes the figures, and answers from where they are counted.
  private mutating func follow(_ done: UInt64, _ total: UInt64) -> UInt64 {
    // What was final stays so: the figures have begun anew.
    if done < settled { (base, target, settled) = (0, nil, 0) }
    // What had come may be lost with a connection, and come again.
    let base = min(base ?? done, done)
    self.base = base
    if direction == .upload || done == total { settled = done }
    return base
  }

  /// What is to be final before all counts as done.
  private mutating func outstanding(of total: UInt64) -> UInt64 {
    guard mode == .forCurrentlyOutstandingWork else { return total }
    let least = min(target ?? total, total)
    target = least
    return least
  }

  /// All is done.
  private mutating func complete(_ total: UInt64) -> Double? {
    // Figures that differ from those of the last time are of work that was done meanwhile.
    let isTold = last == 1 && base == total
    base = total
    isFinished = mode == .forCurrentlyOutstandingWork
    last = 1
    return isTold ? nil : 1
  }

  private mutating func rise(to estimate: Double) -> Double? {
    // After 1 it begins at 0 again.
    let least = last == 1 ? 0 : last ?? 0
    let report = max(least, estimate)
    guard report != last else { return nil }
    last = report
    return report
  }

  /// - Precondition: `goal` exceeds `base`.
  private func share(_ figure: UInt64, _ base: UInt64, _ goal: UInt64) -> Double {
    figure > base ? Double(figure - base) / Double(goal - base) : 0
  }
}
