import NIOCore
import SyncPrograms
import Synchronization

/// Stands between a device and a server, and counts the bytes that go through TCP.
final class CountingProxy: Sendable {
  struct Counts: Sendable {
    var toServer = 0
    var toDevice = 0

    var both: Int { toServer + toDevice }
  }

  /// Counts what goes on at once.
  private final class Counter: Passage {
    let counts = Mutex(Counts())

    func take(_ bytes: ByteBuffer, _ way: ProxyWay) {
      let count = bytes.readableBytes
      counts.withLock { counts in
        if way.isToServer { counts.toServer += count } else { counts.toDevice += count }
      }
      way.send(bytes)
    }
  }

  private let counter: Counter
  private let proxy: TCPProxy

  /// - Parameter server: the port of this machine that the server listens on.
  init(for server: Int) throws {
    let counter = Counter()
    self.counter = counter
    proxy = try TCPProxy(for: server) { counter }
  }

  var address: String { proxy.address }

  /// What has gone since the start, or since it was set to none.
  var counts: Counts {
    get { counter.counts.withLock { $0 } }
    set { counter.counts.withLock { $0 = newValue } }
  }

  /// Breaks all connections, and takes no new ones.
  func end() { proxy.end() }
}
