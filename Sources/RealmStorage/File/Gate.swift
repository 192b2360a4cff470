import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lets one thread in at a time.
///
/// Unlike a lock, a gate may be entered in one function and left in another, even by another thread. A running thread
/// may enter before a thread that has yet to wake: if sleepers handed the gate to each other, each would cost a
/// wake-up. A thread that has waited for longer than a millisecond enters before all others.
package final class Gate: Sendable {
  private struct State {
    var isTaken = false
    /// The sleeping threads, in the order in which they came.
    var waiters: [Waiter] = []
  }

  private final class Waiter: @unchecked Sendable {
    // Sendable: `isIn` is used under the gate's mutex only.
    let since = Clock.steady
    /// Raised when the waiter is to look at the gate again.
    let call = Signal()
    /// True if the gate was taken on behalf of this waiter.
    var isIn = false
  }

  private let state = Mutex(State())
  private let triers = Atomic<Int>(0)
  private static let mostTriers = 4
  /// How often a thread tries before it sleeps. The thread inside usually leaves sooner than a sleeping thread would
  /// wake.
  private static let tries = 50
  /// The time after which a waiter enters before all others, in nanoseconds.
  private static let patience: UInt64 = 1_000_000

  package init() {}

  package func enter() {
    if tryForAWhile() { return }
    let waiter = state.withLock { state -> Waiter? in
      if !state.isTaken {
        state.isTaken = true
        return nil
      }
      let waiter = Waiter()
      state.waiters.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    var seen: UInt32 = 0
    repeat {
      waiter.call.wait(since: seen)
      seen = waiter.call.count
    } while !answer(waiter)
  }

  /// Tries to enter without sleeping. Only a few threads at a time do so, because more would keep the thread inside
  /// from running.
  private func tryForAWhile() -> Bool {
    defer { triers.wrappingSubtract(1, ordering: .relaxed) }
    guard triers.wrappingAdd(1, ordering: .relaxed).newValue <= Self.mostTriers else { return false }
    for _ in 0..<Self.tries {
      if tryEnter() { return true }
      sched_yield()
    }
    return false
  }

  /// Called by a waiter that was woken. Returns true if the waiter is inside now.
  private func answer(_ waiter: Waiter) -> Bool {
    state.withLock { state in
      if waiter.isIn { return true }
      guard !state.isTaken else { return false }
      state.isTaken = true
      state.waiters.removeAll { $0 === waiter }
      return true
    }
  }

  /// Enters if no thread is inside and none waits. Returns whether it did.
  package func tryEnter() -> Bool {
    state.withLock { state in
      guard !state.isTaken, state.waiters.isEmpty else { return false }
      state.isTaken = true
      return true
    }
  }

  package func leave() {
    let called = state.withLock { state -> Waiter? in
      state.isTaken = false
      guard let first = state.waiters.first else { return nil }
      if Clock.steady &- first.since > Self.patience {
        state.isTaken = true
        first.isIn = true
        state.waiters.removeFirst()
      }
      return first
    }
    called?.call.raise(wakes: .one)
  }
}
