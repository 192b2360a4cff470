import Synchronization

/// Which versions may be read, and by how many: nothing they reach is overwritten.
final class HeldVersions: Sendable {
  private let state: Mutex<State>
  /// Snapshots of later versions can't be believed any more.
  private let lastSure = Atomic<UInt64>(.max)

  struct State: Sendable {
    var published: Version
    /// The newest version known durable, and the meta page that names it.
    var durable: UInt64
    var durablePage: Int
    var pins: [UInt64: Int] = [:]
    var isClosed = false
  }

  init(published: Version, durable: UInt64, durablePage: Int) {
    state = Mutex(State(published: published, durable: durable, durablePage: durablePage))
  }

  var current: State { state.withLock { $0 } }

  /// Pins the published version.
  func pin() -> Version {
    state.withLock { state in
      state.pins[state.published.number, default: 0] += 1
      return state.published
    }
  }

  /// Answers whether it was the last pin of a closed database.
  func unpin(_ version: UInt64) -> Bool {
    state.withLock { state in
      guard let count = state.pins[version] else { preconditionFailure("version \(version) is not pinned") }
      state.pins[version] = count > 1 ? count - 1 : nil
      return state.isClosed && state.pins.isEmpty
    }
  }

  /// Notes that the database is closed; answers whether nothing is pinned.
  func close() -> Bool {
    state.withLock { state in
      state.isClosed = true
      return state.pins.isEmpty
    }
  }

  /// After a failed sync the cache proves nothing of what came after the durable version.
  func expire() { lastSure.store(current.durable, ordering: .releasing) }

  func isExpired(_ version: UInt64) -> Bool { version > lastSure.load(ordering: .acquiring) }

  /// All held versions, ascending.
  var holders: [UInt64] {
    state.withLock { state in
      Set(state.pins.keys).union([state.published.number, state.durable]).sorted()
    }
  }

  func publish(_ version: Version) { state.withLock { $0.published = version } }

  func setDurable(_ version: UInt64, page: Int) {
    state.withLock { state in
      state.durable = version
      state.durablePage = page
    }
  }
}
