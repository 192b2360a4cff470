import Dispatch
import Testing

@testable import RealmStorage

@Suite struct GatedStateTests {
  @Test func `one thread at a time has the state`() {
    let counter = GatedState(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<1_000 { counter.with { $0 += 1 } }
    }
    #expect(counter.with { $0 } == 8_000)
  }

  @Test func `a state that is entered on one thread is left on another`() {
    let state = GatedState([Int]())
    state.enter()
    state.inside { $0.append(1) }
    #expect(!state.tryEnter())
    DispatchQueue.global().sync {
      state.inside { $0.append(2) }
      state.leave()
    }
    #expect(state.with { $0 } == [1, 2])
  }

  @Test func `an error that the body throws is rethrown, and the gate is free again`() throws {
    struct Failure: Error {}
    let state = GatedState(1)
    #expect(throws: Failure.self) { try state.with { _ in throw Failure() } }
    try #require(state.tryEnter())
    state.leave()
  }
}
