/// State that a thread can reach only while it is inside the state's gate.
///
/// The gate may be entered in one function and left in another, even by another thread (`Gate`). A mutex does not allow
/// that. `inside` lends the state to the thread that is inside, one borrow at a time, so that each use needs no lookup
/// and no reference count.
package final class GatedState<State: ~Copyable>: @unchecked Sendable {
  // Sendable: only code inside the gate reaches the state.
  private let gate = Gate()
  private let state: UnsafeMutablePointer<State>
  #if DEBUG
    private var isLent = false
  #endif

  package init(_ state: consuming State) {
    self.state = .allocate(capacity: 1)
    self.state.initialize(to: state)
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  package func enter() { gate.enter() }

  /// Enters if no thread is inside and none waits. Returns whether it did.
  package func tryEnter() -> Bool { gate.tryEnter() }

  package func leave() { gate.leave() }

  /// Lends the state to `body`.
  ///
  /// - Precondition: The caller is inside the gate and does not have the state already: `body` does not call this
  ///   method.
  @inline(__always)
  package func inside<Result: ~Copyable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    #if DEBUG
      precondition(!isLent, "GatedState: the state is lent already")
      isLent = true
      defer { isLent = false }
    #endif
    return try body(&state.pointee)
  }

  /// Enters, lends the state to `body`, and leaves.
  @inline(__always)
  package func with<Result: ~Copyable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    gate.enter()
    defer { gate.leave() }
    return try inside(body)
  }
}
