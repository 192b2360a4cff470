/// State that only who is inside its gate reaches.
///
/// The gate may be entered in one function and left in another, by another thread even (`Gate`); a mutex could not do that. `inside` lends the state to the
/// thread that is in, one borrow at a time, so that nothing is looked up or counted when it is used.
package final class GatedState<State: ~Copyable>: @unchecked Sendable {
  // Sendable: the state is reached inside the gate only.
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

  /// Enters where nobody is in and nobody waits.
  package func tryEnter() -> Bool { gate.tryEnter() }

  package func leave() { gate.leave() }

  /// Lends the state to `body`.
  ///
  /// - Precondition: the caller is inside, and does not have the state already: `body` does not come here again.
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
