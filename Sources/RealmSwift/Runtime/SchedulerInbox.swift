import Dispatch
import Synchronization

/// Runs blocks in a scheduler, one after another in the order they came.
final class SchedulerInbox: Sendable {
  private let scheduler: Scheduler
  /// Of the thread of the scheduler, where it is one: whether it has ended, and its run loop, once that was seen to run.
  private let life: ThreadLife?
  private let loop = Mutex<RunLoopReference?>(nil)
  /// For an actor. Whichever task begins first runs the block that came first: their order is not sure.
  private let blocks = Mutex<[@Sendable () -> Void]>([])

  /// For the scheduler of the code that runs now, or another that is no thread.
  init(_ scheduler: Scheduler) {
    self.scheduler = scheduler
    if case .thread = scheduler { life = ThreadLife.current } else { life = nil }
    lookForLoop()
  }

  /// Looks whether the thread that runs, which is that of the scheduler, has a run loop that runs.
  func lookForLoop() {
    guard case .thread = scheduler, !isServed else { return }
    loop.withLock { loop in if loop == nil { loop = RunLoopReference.current } }
  }

  /// Whether blocks are run at all: a thread without a run loop can't be called.
  var isServed: Bool {
    switch scheduler {
    case .thread: loop.withLock { $0 != nil }
    case .anyone: false
    case .mainQueue, .queue, .actor: true
    }
  }

  /// Nothing is run any more: the thread has ended, or the actor is gone.
  var isGone: Bool {
    switch scheduler {
    case .thread: life?.hasEnded ?? true
    case .actor(let reference): reference.actor == nil
    case .mainQueue, .queue, .anyone: false
    }
  }

  /// Runs a block soon, after those that were given before. It returns at once. Where nothing is run any more, the block is dropped.
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
