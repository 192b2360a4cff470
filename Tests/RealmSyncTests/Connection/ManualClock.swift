import Dispatch
import RealmSyncClient
import Synchronization

/// A clock that advances only when a test says so.
final class ManualClock: SyncClock {
  private struct Timer {
    let due: UInt64
    let queue: DispatchQueue
    let body: @Sendable () -> Void
  }

  private struct State {
    var now: UInt64
    var timers: [Timer] = []
    var waits: [UInt64] = []
  }

  private let state = Mutex(State(now: DrivenFile.start))
  private let drawsGreatest: Bool

  /// - Parameter drawsGreatest: True if random numbers are the greatest ones allowed. If false, they are 0.
  init(drawsGreatest: Bool = false) { self.drawsGreatest = drawsGreatest }

  var now: UInt64 { state.withLock { $0.now } }

  /// The times that all timers so far were to wait, in the order in which they were set, in milliseconds.
  var waits: [UInt64] { state.withLock { $0.waits } }

  /// The waits of sessions and connections before they try again.
  var longWaits: [UInt64] { waits.filter { $0 >= 500 } }

  func after(
    _ milliseconds: UInt64, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.waits.append(milliseconds)
      state.timers.append(Timer(due: state.now + milliseconds, queue: queue, body: body))
    }
  }

  func random(below bound: UInt64) -> UInt64 { drawsGreatest ? bound - 1 : 0 }

  /// Advances the clock, and runs the timers that are due on their queues.
  func advance(_ milliseconds: UInt64) {
    let due = state.withLock { state -> [Timer] in
      state.now += milliseconds
      let now = state.now
      let due = state.timers.filter { $0.due <= now }
      state.timers.removeAll { $0.due <= now }
      return due
    }
    for timer in due { timer.queue.async(execute: timer.body) }
  }
}
