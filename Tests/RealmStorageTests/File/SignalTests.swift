import Foundation
import Synchronization
import Testing

@testable import RealmStorage

@Suite struct SignalTests {
  @Test func `a wait that has missed a call returns at once`() {
    let signal = Signal()
    let seen = signal.count
    signal.raise(wakes: .one)
    signal.wait(since: seen)
    #expect(signal.count == seen + 1)
  }

  @Test func `one call can wake all threads that wait`() {
    let signal = Signal()
    let seen = signal.count
    let waiting = Atomic<Int>(0)
    let woken = Atomic<Int>(0)
    let group = DispatchGroup()
    for _ in 0..<8 {
      group.enter()
      Thread.detachNewThread {
        waiting.wrappingAdd(1, ordering: .relaxed)
        while signal.count == seen { signal.wait(since: seen) }
        woken.wrappingAdd(1, ordering: .relaxed)
        group.leave()
      }
    }
    while waiting.load(ordering: .relaxed) < 8 { usleep(100) }
    usleep(20_000)
    #expect(woken.load(ordering: .relaxed) == 0)
    signal.raise(wakes: .all)
    group.wait()
    #expect(woken.load(ordering: .relaxed) == 8)
  }

  /// Each call is answered before the next one. If a thread missed a call, both threads would wait forever.
  @Test func `no call of a signal is missed, whenever it comes`() {
    let (ping, pong) = (Signal(), Signal())
    let rounds = UInt32(20_000)
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      for round in 0..<rounds {
        while ping.count == round { ping.wait(since: round) }
        pong.raise(wakes: .one)
      }
      group.leave()
    }
    for round in 0..<rounds {
      ping.raise(wakes: .one)
      while pong.count == round { pong.wait(since: round) }
    }
    group.wait()
    #expect(ping.count == rounds && pong.count == rounds)
  }
}
