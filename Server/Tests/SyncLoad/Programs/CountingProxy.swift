import NIOCore
import SyncPrograms
import Synchronization

/// A proxy between a device and a server that counts the bytes on TCP.
final class CountingProxy: Sendable {
  struct Counts: Sendable {
    var toServer = 0
    var toDevice = 0

    var both: Int { toServer + toDevice }
  }

  /// Sends all bytes on at once, and counts them.
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

  /// - Parameter server: The port of this machine on which the server listens.
  init(for server: Int) throws {
    let counter = Counter()
    self.counter = counter
    proxy = try TCPProxy(for: server) { counter }
  }

  var address: String { proxy.address }

  /// The counts since the start, or since they were set.
  var counts: Counts {
    get { counter.counts.withLock { $0 } }
    set { counter.counts.withLock { $0 = newValue } }
  }

  /// Breaks all connections, and accepts no new ones.
  func end() { proxy.end() }
}
