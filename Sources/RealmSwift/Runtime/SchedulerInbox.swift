import Dispatch
import Synchronization

/// Runs blocks in a scheduler, one after another, in the order in which they were given.
final class SchedulerInbox: Sendable {
  private let scheduler: Scheduler
  /// Tells whether the thread of the scheduler has ended; nil if the scheduler is no thread.
  private let life: ThreadLife?
  /// The run loop of that thread; nil until it was found running.
  private let loop = Mutex<RunLoopReference?>(nil)
  /// The blocks for an actor. Each task runs the first block that is left, because tasks may begin in another order
  /// than they were made.
  private let blocks = Mutex<[@Sendable () -> Void]>([])

  /// Makes the inbox of a scheduler. If the scheduler is a thread, it must be the current thread.
  init(_ scheduler: Scheduler) {
    self.scheduler = scheduler
    if case .thread = scheduler { life = ThreadLife.current } else { life = nil }
    lookForLoop()
  }

  /// Notes the run loop of the scheduler's thread if the loop is running. That thread must be the current one.
  func lookForLoop() {
    guard case .thread = scheduler, !isServed else { return }
    loop.withLock { loop in if loop == nil { loop = RunLoopReference.current } }
  }

  /// Whether blocks run at all. A thread without a run loop can't be called, and `anyone` has nowhere to run them.
  var isServed: Bool {
    switch scheduler {
    case .thread: loop.withLock { $0 != nil }
    case .anyone: false
    case .mainQueue, .queue, .actor: true
    }
  }

  /// Whether blocks do not run any more, because the thread has ended or the actor is gone.
  var isGone: Bool {
    switch scheduler {
    case .thread: life?.hasEnded ?? true
    case .actor(let reference): reference.actor == nil
    case .mainQueue, .queue, .anyone: false
    }
  }

  /// Runs a block soon, after the blocks that were given before, and returns at once. If blocks do not run any more,
  /// the block is dropped.
  ///
  /// - Precondition: `isServed`.
  func enqueue(_ block: @escaping @Sendable () -> Void) {
    switch scheduler {
    case .mainQueue: DispatchQueue.main.async(execute: block)
    case .queue(let queue): queue.queue.async(execute: block)
    case .thread: if !isGone { loop.withLock { $0 }?.perform(block) }
    case .actor(let reference):
      guard let actor = reference.actor else { return }
      blocks.withLock { $0.append(block) }
      Task { await self.runNext(on: actor) }
    case .anyone: break
    }
  }

  private func runNext(on actor: isolated any Actor) {
    let block = blocks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    block?()
  }
}
