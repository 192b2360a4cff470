/// Lets one thread in at a time, in the order they came.
///
/// Unlike a lock it may be entered in one function and left in another, by another thread even.
package final class Gate: Sendable {
  private struct Tickets {
    var next: UInt64 = 0
    var serving: UInt64 = 0

    mutating func take() -> UInt64 {
      defer { next += 1 }
      return next
    }
  }
  private let tickets = Monitor(Tickets())

  package init() {}

  package func enter() {
    var own: UInt64?
    tickets.wait { tickets in
      let ticket = own ?? tickets.take()
      own = ticket
      return tickets.serving == ticket ? () : nil
    }
  }

  /// Enters where nobody is in and nobody waits.
  package func tryEnter() -> Bool {
    tickets.withLock { tickets in
      guard tickets.serving == tickets.next else { return false }
      _ = tickets.take()
      return true
    }
  }

  package func leave() { tickets.change { $0.serving += 1 } }
}
