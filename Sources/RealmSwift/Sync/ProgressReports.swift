import Dispatch
import RealmSyncClient
import Synchronization

/// Calls the blocks that follow the progress of a session, one after another, on the queue `realm.sync.progress`.
final class ProgressReports: Sendable {
  private struct Figures {
    var done: UInt64 = 0
    var total: UInt64 = 0
    var isKnown = false
  }

  private struct Report {
    var notifier: ProgressNotifier
    let direction: SyncSession.ProgressDirection
    /// The number of the newest query set when the block was registered. Figures of downloads count for the block from this set
    /// on.
    let querySet: UInt64
    let block: @Sendable (SyncSession.Progress) -> Void
  }

  private struct State {
    var reports: [UInt64: Report] = [:]
    var last: UInt64 = 0
    var upload = Figures()
    var download = Figures()
    /// The number of the query set of the step that is arriving or has arrived last.
    var querySet: UInt64 = 0
  }

  private let queue = DispatchQueue(label: "realm.sync.progress")
  private let state = Mutex(State())

  /// Registers a block.
  ///
  /// - Parameters:
  ///   - querySet: the number of the newest query set of the file.
  ///   - isCounted: whether the figures include all changes that exist.
  /// - Returns: the id of the block for `remove(_:)`; nil if there is nothing to report any more.
  func add(
    _ direction: SyncSession.ProgressDirection, _ mode: SyncSession.ProgressMode, querySet: UInt64,
    isCounted: Bool = true, _ block: @escaping @Sendable (SyncSession.Progress) -> Void
  ) -> UInt64? {
    let (id, isFinished) = state.withLock { state -> (UInt64, Bool) in
      state.last += 1
      var report = Report(
        notifier: ProgressNotifier(direction, mode, countingFrom: direction == .download ? 0 : nil),
        direction: direction, querySet: querySet, block: block)
      let (told, isFinished) = isCounted ? Self.update(&report, state) : (nil, false)
      if !isFinished { state.reports[state.last] = report }
      // The call is queued under the lock, so that blocks get the figures in their order.
      if let told { queue.async { block(told) } }
      return (state.last, isFinished)
    }
    return isFinished ? nil : id
  }

  func remove(_ id: UInt64) {
    // The block may hold the last references to objects of the app. They are released after the lock is free.
    let removed = state.withLock { $0.reports.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  func uploaded(_ done: UInt64, of total: UInt64) {
    tell { $0.upload = Figures(done: done, total: total, isKnown: true) }
  }

  /// Takes new figures of downloads.
  ///
  /// - Parameter querySet: the number of the query set of the step that is arriving or has arrived.
  func downloaded(_ done: UInt64, of total: UInt64, querySet: UInt64) {
    tell { state in
      state.download = Figures(done: done, total: total, isKnown: true)
      state.querySet = querySet
    }
  }

  /// Notes that the connection is lost. Figures of downloads count again from the next connection on.
  func lost() { state.withLock { $0.download.isKnown = false } }

  private static func update(
    _ report: inout Report, _ state: State
  ) -> (told: SyncSession.Progress?, isFinished: Bool) {
    let figures = report.direction == .upload ? state.upload : state.download
    let (told, isFinished) = report.notifier.update(
      done: figures.done, total: figures.total, isKnown: figures.isKnown,
      pendingQuerySet: state.querySet < report.querySet)
    return (
      told.map { SyncSession.Progress(estimate: $0, done: figures.done, total: figures.total) }, isFinished
    )
  }

  private func tell(_ change: @Sendable (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      for id in state.reports.keys.sorted() {
        guard var report = state.reports[id] else { continue }
        let (told, isFinished) = Self.update(&report, state)
        state.reports[id] = isFinished ? nil : report
        // The call is queued under the lock, so that blocks get the figures in their order. It runs after the lock is free.
        if let told { queue.async { [block = report.block] in block(told) } }
      }
    }
  }
}

extension SyncSession {
  /// Calls a block with the progress of uploads or downloads.
  ///
  /// - Parameters:
  ///   - direction: whether uploads or downloads are reported.
  ///   - mode: whether the block is called until the present work is done, or without end.
  ///   - block: is called on a queue of its own, for the first time as soon as it is known how much there is to do. It is not
  ///     called twice in a row with the same share.
  /// - Returns: a token that keeps the block registered until the token is invalidated or released. Nil if there is nothing to
  ///   do; the block is called once with the share 1 then.
  public func addProgressNotification(
    for direction: ProgressDirection, mode: ProgressMode, block: @Sendable @escaping (Progress) -> Void
  ) -> ProgressNotificationToken? {
    let id = progress.add(
      direction, mode, querySet: newestQuerySet, isCounted: direction == .download || !hasPending, block)
    core.report()
    guard let id else { return nil }
    return ProgressNotificationToken { [weak self] in self?.progress.remove(id) }
  }
}
