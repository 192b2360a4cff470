import Dispatch
import Synchronization
import Testing

@testable import RealmSwift

/// The delivery of a connection's states to one observer.
@Suite struct ConnectionRelayTests {
  private typealias State = SyncSession.ConnectionState

  /// The states that an observer was told, as texts.
  private final class Told: Sendable {
    private let calls = Mutex<[String]>([])

    func note(_ old: State?, _ new: State) {
      calls.withLock { $0.append("\(old.map { "\($0)" } ?? "nothing") to \(new)") }
    }
    var all: [String] { calls.withLock { $0 } }
  }

  @Test func `changes are told in order`() {
    let told = Told()
    let relay = ConnectionRelay(holds: false) { told.note($0, $1) }
    relay.take(.disconnected, .connecting)
    relay.take(.connecting, .connected)
    #expect(told.all == ["disconnected to connecting", "connecting to connected"])
  }

  @Test func `the first state is told first, and the changes that led to it are not told`() {
    let told = Told()
    let relay = ConnectionRelay(holds: true) { told.note($0, $1) }
    relay.take(.disconnected, .connecting)
    relay.take(.connecting, .connected)
    #expect(told.all == [])
    relay.begin(at: .connecting)
    #expect(told.all == ["nothing to connecting", "connecting to connected"])
    relay.take(.connected, .disconnected)
    #expect(told.all.count == 3)
  }

  @Test func `changes that led to the first state may come after it`() {
    let told = Told()
    let relay = ConnectionRelay(holds: true) { told.note($0, $1) }
    relay.begin(at: .connected)
    relay.take(.disconnected, .connecting)
    relay.take(.connecting, .connected)
    relay.take(.connected, .disconnected)
    relay.take(.disconnected, .connecting)
    let expected = ["nothing to connected", "connected to disconnected", "disconnected to connecting"]
    #expect(told.all == expected)
  }

  @Test func `no state is told after the end, even if one waits`() {
    let told = Told()
    let ends = Mutex<ConnectionRelay?>(nil)
    let relay = ConnectionRelay(holds: true) { old, new in
      told.note(old, new)
      if new == .connected { ends.withLock { $0 }?.end() }
    }
    ends.withLock { $0 = relay }
    relay.take(.disconnected, .connecting)
    relay.take(.connecting, .connected)
    relay.take(.connected, .disconnected)
    relay.begin(at: .disconnected)
    relay.take(.disconnected, .connecting)
    let expected = ["nothing to disconnected", "disconnected to connecting", "connecting to connected"]
    #expect(told.all == expected)
    ends.withLock { $0 = nil }
  }

  @Test func `calls follow one another, whatever threads bring changes`() {
    let running = Atomic(0)
    let most = Atomic(0)
    let count = Atomic(0)
    let relay = ConnectionRelay(holds: false) { _, _ in
      let now = running.add(1, ordering: .sequentiallyConsistent).newValue
      most.max(now, ordering: .sequentiallyConsistent)
      count.add(1, ordering: .sequentiallyConsistent)
      running.subtract(1, ordering: .sequentiallyConsistent)
    }
    DispatchQueue.concurrentPerform(iterations: 2000) { _ in relay.take(.connecting, .connected) }
    #expect(most.load(ordering: .sequentiallyConsistent) == 1)
    #expect(count.load(ordering: .sequentiallyConsistent) == 2000)
  }
}
