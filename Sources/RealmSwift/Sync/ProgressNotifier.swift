/// Decides what a progress block is told, and when it is finished. It has no thread and no clock: its user passes it the figures
/// of the session in one direction, each time they change and once when the block is registered.
///
/// The figures may have any unit, such as bytes or millionths, if these conditions hold:
/// - For uploads, `done` counts only work that the server has accepted, so that all of it is final.
/// - For downloads, `done` may count data that has arrived but can't be read yet. `done` equals `total` only when all arrived
///   data can be read.
/// - The figures may continue through the whole life of a session, or start again from 0, for example with each step of a
///   download.
///
/// The reported shares are from 0 to 1. A share is 1 only when all is done, never falls until 1 was reached, and is never
/// reported twice in a row while work continues. If there is nothing to do, 1 is reported once.
struct ProgressNotifier: Sendable {
  private let direction: SyncSession.ProgressDirection
  private let mode: SyncSession.ProgressMode
  /// The value of `done` when the counted work began; nil if that is not known before the first figures.
  private var base: UInt64?
  /// The goal of a block for outstanding work: the smallest `total` since the first figures.
  private var target: UInt64?
  /// The part of `done` that is final.
  private var settled: UInt64 = 0
  /// The share that was reported last; nil if none was.
  private var last: Double?
  private var isFinished = false

  /// The largest share that is reported for work that is not final yet, because making it final is work too.
  private static let mostBeforeFinal = 0.99

  /// - Parameter base: the value of `done` when the current work began, which is when all was done the last time; nil to count
  ///   from the first figures on.
  init(
    _ direction: SyncSession.ProgressDirection, _ mode: SyncSession.ProgressMode,
    countingFrom base: UInt64? = nil
  ) {
    (self.direction, self.mode, self.base) = (direction, mode, base)
  }

  /// Takes new figures.
  ///
  /// - Parameters:
  ///   - done: the amount of work that is done.
  ///   - total: the work that is done plus the known rest. A value less than `done` counts as `done`.
  ///   - isKnown: whether the figures say how much there is to do. They do not before the session has counted the waiting
  ///     commits, or the server has said what it has; nothing is reported until then.
  ///   - pendingQuerySet: whether the figures belong to an older query set than the one that was newest when the block
  ///     was registered. Then the server has not begun to send the objects of the newer set. A block for outstanding
  ///     downloads waits for that, until something was reported. Other blocks ignore it.
  /// - Returns: the share to report, nil for none; and whether nothing more will be reported.
  mutating func update(
    done: UInt64, total: UInt64, isKnown: Bool, pendingQuerySet: Bool
  ) -> (report: Double?, isFinished: Bool) {
    guard !isFinished else { return (nil, true) }
    guard isKnown, !(pendingQuerySet && waitsForQuerySet) else { return (nil, false) }
    let total = max(done, total)
    let base = follow(done, total)
    let goal = outstanding(of: total)
    guard settled < goal else { return (complete(total), isFinished) }
    // The estimate stays below 1 however the division is rounded.
    let estimate = min(
      share(done, base, goal), max(Self.mostBeforeFinal, share(settled, base, goal)), 1.0.nextDown)
    return (rise(to: estimate), false)
  }

  private var waitsForQuerySet: Bool {
    direction == .download && mode == .forCurrentlyOutstandingWork && last == nil
  }

  /// Stores the figures.
  ///
  /// - Returns: the value of `done` from which the share is counted.
  private mutating func follow(_ done: UInt64, _ total: UInt64) -> UInt64 {
    // Final work stays final, so smaller figures mean that they have started again.
    if done < settled { (base, target, settled) = (0, nil, 0) }
    // Arrived data may be lost with the connection, and arrive again.
    let base = min(base ?? done, done)
    self.base = base
    if direction == .upload || done == total { settled = done }
    return base
  }

  /// The value of `done` at which all counts as done.
  private mutating func outstanding(of total: UInt64) -> UInt64 {
    guard mode == .forCurrentlyOutstandingWork else { return total }
    let least = min(target ?? total, total)
    target = least
    return least
  }

  /// Notes that all is done, and returns 1 if that is to be reported.
  private mutating func complete(_ total: UInt64) -> Double? {
    // If the figures differ from those of the last report, work was done in between.
    let isTold = last == 1 && base == total
    base = total
    isFinished = mode == .forCurrentlyOutstandingWork
    last = 1
    return isTold ? nil : 1
  }

  private mutating func rise(to estimate: Double) -> Double? {
    // After 1 was reported, the share starts at 0 again.
    let least = last == 1 ? 0 : last ?? 0
    let report = max(least, estimate)
    guard report != last else { return nil }
    last = report
    return report
  }

  /// The share of the work from `base` to `goal` that `figure` stands for.
  ///
  /// - Precondition: `goal` exceeds `base`.
  private func share(_ figure: UInt64, _ base: UInt64, _ goal: UInt64) -> Double {
    figure > base ? Double(figure - base) / Double(goal - base) : 0
  }
}
