import Dispatch
import RealmSyncClient
import Synchronization

/// A clock that goes on when a test says so.
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

  /// - Parameter drawsGreatest: random numbers are the greatest that are allowed; else they are 0.
  init(drawsGreatest: Bool = false) { self.drawsGreatest = drawsGreatest }

  var now: UInt64 { state.withLock { $0.now } }

  /// How long all timers were to wait that were set so far, in the order in which they were set.
  var waits: [UInt64] { state.withLock { $0.waits } }

  /// Those of sessions and connections that try again.
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

  /// Lets time pass. What is due then is done on its queues.
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
