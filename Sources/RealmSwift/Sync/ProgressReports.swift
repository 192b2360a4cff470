import Dispatch
import RealmSyncClient
import Synchronization

/// Tells the blocks that follow the progress of a session. They are called on a queue of its own, one after another.
final class ProgressReports: Sendable {
  private struct Figures {
    var done: UInt64 = 0
    var total: UInt64 = 0
    var isKnown = false
  }

  private struct Report {
    var notifier: ProgressNotifier
    let direction: SyncSession.ProgressDirection
    /// The newest query set when it was registered: what it reports of a download is that of this set.
    let querySet: UInt64
    let block: @Sendable (SyncSession.Progress) -> Void
  }

  private struct State {
    var reports: [UInt64: Report] = [:]
    var last: UInt64 = 0
    var upload = Figures()
    var download = Figures()
    /// The query set that the step is of which is coming, or came last.
    var querySet: UInt64 = 0
  }

  private let queue = DispatchQueue(label: "realm.sync.progress")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - querySet: the newest of the file.
  ///   - isCounted: the figures know of all changes that there are.
  /// - Returns: what ends it; nil where there is nothing to report any more.
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
      // In the order of the figures.
      if let told { queue.async { block(told) } }
      return (state.last, isFinished)
    }
    return isFinished ? nil : id
  }

  func remove(_ id: UInt64) {
    // It may be the last to refer to what the block has, which ends when the lock is free.
    let removed = state.withLock { $0.reports.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  func uploaded(_ done: UInt64, of total: UInt64) {
    tell { $0.upload = Figures(done: done, total: total, isKnown: true) }
  }

  /// - Parameter querySet: of the step that is coming, or has come.
  func downloaded(_ done: UInt64, of total: UInt64, querySet: UInt64) {
    tell { state in
      state.download = Figures(done: done, total: total, isKnown: true)
      state.querySet = querySet
    }
  }

  /// There is no connection: figures of a download count from the next one on.
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
        // In the order of the figures, and not before this lock is free.
        if let told { queue.async { [block = report.block] in block(told) } }
      }
    }
  }
}

extension SyncSession {
  /// Reports how much of the work with the server is done.
  ///
  /// - Parameters:
  ///   - direction: of what is reported.
  ///   - mode: until the work is done that there is now, or for ever.
  ///   - block: is called on a queue of its own, for the first time as soon as it is known how much there is to do. A figure is not told twice.
  /// - Returns: what keeps the report: it ends when the token is invalidated, or goes. Nil where there is nothing to do, which was told.
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
