import Dispatch
import Synchronization

#if canImport(Network)
  import Network
#endif

/// Compares the networks of the machine each time that they are reported.
package final class NetworkChanges: NetworkMonitor {
  private struct State {
    var observers: [UInt64: @Sendable () -> Void] = [:]
    var lastObserver: UInt64 = 0
    /// The interfaces with a network; nil before they are known.
    var interfaces: [String]?
  }
  private let state = Mutex(State())

  package init() {}

  /// Takes over the names of the interfaces that have a network now. The array is empty if there is no network. The
  /// first report is not a change.
  package func take(_ interfaces: [String]) {
    let observers = state.withLock { state -> [@Sendable () -> Void] in
      let known = state.interfaces
      state.interfaces = interfaces
      guard let known, known != interfaces, !interfaces.isEmpty else { return [] }
      return Array(state.observers.values)
    }
    for observer in observers { observer() }
  }

  package func observe(_ body: @escaping @Sendable () -> Void) -> any NetworkObservation {
    let id = state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = body
      return state.lastObserver
    }
    return Observation(self, id)
  }

  private func remove(_ id: UInt64) {
    // The objects to which the observer refers may be released with it. That happens after the lock is released.
    let removed = state.withLock { $0.observers.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  private final class Observation: NetworkObservation {
    private let changes: NetworkChanges
    private let id: UInt64

    init(_ changes: NetworkChanges, _ id: UInt64) { (self.changes, self.id) = (changes, id) }
    deinit { changes.remove(id) }
  }
}

extension NetworkChanges {
  /// The changes of this machine's networks; nil if the system does not report them.
  package static let ofMachine: NetworkChanges? = {
    #if canImport(Network)
      let (changes, monitor) = (NetworkChanges(), PathMonitor())
      monitor.path.pathUpdateHandler = { path in
        // The monitor runs as long as the program.
        withExtendedLifetime(monitor) {}
        changes.take(path.status == .satisfied ? path.availableInterfaces.map(\.name) : [])
      }
      monitor.path.start(queue: DispatchQueue(label: "io.realm.sync.network"))
      return changes
    #else
      return nil
    #endif
  }()
}

#if canImport(Network)
  private final class PathMonitor: @unchecked Sendable {
    // Sendable: one thread sets up the system's monitor, and nothing uses it after that.
    let path = NWPathMonitor()
  }
#endif
