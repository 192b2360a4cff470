import Dispatch
import Synchronization

/// Runs blocks in a scheduler, one after another, in the order in which they came.
final class SchedulerInbox: Sendable {
  private let scheduler: Scheduler
  /// For a scheduler that is a thread: tells whether the thread has ended.
  private let life: ThreadLife?
  /// The run loop of that thread, once it was seen to run.
  private let loop = Mutex<RunLoopReference?>(nil)
  /// The blocks for an actor. Each task runs the first block that is left, since the order in which tasks begin is not certain.
  private let blocks = Mutex<[@Sendable () -> Void]>([])

  /// Makes the inbox of the scheduler of the running code, or of a scheduler that is no thread.
  init(_ scheduler: Scheduler) {
    self.scheduler = scheduler
    if case .thread = scheduler { life = ThreadLife.current } else { life = nil }
    lookForLoop()
  }

  /// Notes the run loop of the scheduler's thread, which is the current one, if the loop is running.
  func lookForLoop() {
    guard case .thread = scheduler, !isServed else { return }
    loop.withLock { loop in if loop == nil { loop = RunLoopReference.current } }
  }

  /// Whether blocks are run at all. A thread without a run loop can't be called.
  var isServed: Bool {
    switch scheduler {
    case .thread: loop.withLock { $0 != nil }
    case .anyone: false
    case .mainQueue, .queue, .actor: true
    }
  }

  /// Whether no block is run any more, since the thread has ended or the actor is gone.
  var isGone: Bool {
    switch scheduler {
    case .thread: life?.hasEnded ?? true
    case .actor(let reference): reference.actor == nil
    case .mainQueue, .queue, .anyone: false
    }
  }

  /// Runs a block soon, after those that were given before, and returns at once. If no block is run any more, the block is
  /// dropped.
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
