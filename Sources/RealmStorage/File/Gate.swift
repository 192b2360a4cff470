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
/// Unlike a lock it may be entered in one function and left in another, by another thread even. A thread that is running
/// may go in before one that has yet to wake: handing the gate from sleeper to sleeper would cost a wake-up for each.
/// Who has waited for long is let in before all others.
package final class Gate: Sendable {
  private struct State {
    var isTaken = false
    /// In the order they came.
    var waiters: [Waiter] = []
  }

  private final class Waiter: @unchecked Sendable {
    // Sendable: `isIn` is reached under the gate's mutex only.
    let since = Clock.steady
    /// Raised when it is to look again.
    let call = Signal()
    /// The gate is taken on its behalf.
    var isIn = false
  }

  private let state = Mutex(State())
  private let triers = Atomic<Int>(0)
  private static let mostTriers = 4
  /// Who is inside most often leaves sooner than a sleeping thread would wake.
  private static let tries = 50
  /// In nanoseconds.
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

  /// A few threads at a time: more would keep the one that is inside from running.
  private func tryForAWhile() -> Bool {
    defer { triers.wrappingSubtract(1, ordering: .relaxed) }
    guard triers.wrappingAdd(1, ordering: .relaxed).newValue <= Self.mostTriers else { return false }
    for _ in 0..<Self.tries {
      if tryEnter() { return true }
      sched_yield()
    }
    return false
  }

  /// A waiter that was called looks whether it is its turn.
  private func answer(_ waiter: Waiter) -> Bool {
    state.withLock { state in
      if waiter.isIn { return true }
      guard !state.isTaken else { return false }
      state.isTaken = true
      state.waiters.removeAll { $0 === waiter }
      return true
    }
  }

  /// Enters where nobody is in and nobody waits.
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
