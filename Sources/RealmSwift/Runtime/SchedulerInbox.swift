import Dispatch
import Synchronization

/// Runs blocks in a scheduler, one after another in the order they came.
final class SchedulerInbox: Sendable {
  private let scheduler: Scheduler
  /// Of a thread that has a run loop.
  private let loop: RunLoopReference?
  private let blocks = Mutex<[@Sendable () -> Void]>([])

  /// For the scheduler of the code that runs now, or another that is no thread.
  init(_ scheduler: Scheduler) {
    self.scheduler = scheduler
    if case .thread = scheduler { loop = RunLoopReference.current } else { loop = nil }
  }

  /// Whether blocks are run at all: a thread without a run loop can't be called.
  var isServed: Bool {
    switch scheduler {
    case .thread: loop != nil
    case .anyone: false
    case .mainQueue, .queue, .actor: true
    }
  }

  /// Runs a block soon, after those that were given before. It returns at once.
  ///
  /// - Precondition: `isServed`.
  func enqueue(_ block: @escaping @Sendable () -> Void) {
    blocks.withLock { $0.append(block) }
    // Whichever call comes first runs the block that came first: of tasks that begin, the order is not sure.
    switch scheduler {
    case .mainQueue: DispatchQueue.main.async { self.runNext() }
    case .queue(let queue): queue.queue.async { self.runNext() }
    case .thread: loop?.perform { self.runNext() }
    case .actor(let reference):
      let actor = reference.actor
      Task { await self.runNext(on: actor) }
    case .anyone: break
    }
  }

  private func runNext() {
    let block = blocks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    block?()
  }

  private func runNext(on actor: isolated any Actor) { runNext() }
}
