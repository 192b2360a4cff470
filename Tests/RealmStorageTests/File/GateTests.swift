import Foundation
import Synchronization
import Testing

@testable import RealmStorage

@Suite struct GateTests {
  @Test func `one thread at a time is inside a gate, and each thread enters as often as it asks`() {
    let gate = Gate()
    let inside = Atomic<Int>(0)
    let entries = Atomic<Int>(0)
    let clashes = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<500 {
        if round % 7 == thread % 7, gate.tryEnter() { gate.leave() }
        gate.enter()
        if inside.wrappingAdd(1, ordering: .relaxed).newValue != 1 {
          clashes.wrappingAdd(1, ordering: .relaxed)
        }
        if round % 50 == 0 { sched_yield() }
        entries.wrappingAdd(1, ordering: .relaxed)
        inside.wrappingSubtract(1, ordering: .relaxed)
        gate.leave()
      }
    }
    #expect(entries.load(ordering: .relaxed) == 8 * 500)
    #expect(clashes.load(ordering: .relaxed) == 0)
    #expect(gate.tryEnter())
    #expect(!gate.tryEnter())
  }

  @Test func `a waiting thread gets into a gate that another thread enters again and again`() {
    let gate = Gate()
    let isDone = Atomic<Bool>(false)
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      while !isDone.load(ordering: .relaxed) {
        gate.enter()
        gate.leave()
      }
      group.leave()
    }
    for _ in 0..<50 {
      gate.enter()
      usleep(200)
      gate.leave()
    }
    isDone.store(true, ordering: .relaxed)
    group.wait()
    #expect(gate.tryEnter())
  }
}
