/// The timeouts of the connections of device sync, in milliseconds.
public final class SyncTimeoutOptions {
  /// The timeouts as a value.
  var values: SyncTimeouts

  init(_ values: SyncTimeouts) { self.values = values }

  /// Makes options. Each parameter is described at the property of the same name. Nil stands for the default.
  public init(
    connectTimeout: UInt? = nil, connectionLingerTime: UInt? = nil, pingKeepalivePeriod: UInt? = nil,
    pongKeepaliveTimeout: UInt? = nil, fastReconnectLimit: UInt? = nil
  ) {
    var values = SyncTimeouts()
    if let connectTimeout { values.connectTimeout = connectTimeout }
    if let connectionLingerTime { values.connectionLingerTime = connectionLingerTime }
    if let pingKeepalivePeriod { values.pingKeepalivePeriod = pingKeepalivePeriod }
    if let pongKeepaliveTimeout { values.pongKeepaliveTimeout = pongKeepaliveTimeout }
    if let fastReconnectLimit { values.fastReconnectLimit = fastReconnectLimit }
    self.values = values
  }

  /// The longest time that it may take to open a connection: to resolve the host, to connect, and to set up TLS and the
  /// WebSocket. The default is 120,000.
  public var connectTimeout: UInt {
    get { values.connectTimeout }
    set { values.connectTimeout = newValue }
  }

  /// The time for which a connection is kept after its last session has ended. The default is 30,000.
  public var connectionLingerTime: UInt {
    get { values.connectionLingerTime }
    set { values.connectionLingerTime = newValue }
  }

  /// The time between two pings. Pings show both sides that the connection still works. The default is 60,000.
  public var pingKeepalivePeriod: UInt {
    get { values.pingKeepalivePeriod }
    set { values.pingKeepalivePeriod = newValue }
  }

  /// The longest time that a ping waits for its answer. Then the connection counts as lost. The default is 120,000.
  public var pongKeepaliveTimeout: UInt {
    get { values.pongKeepaliveTimeout }
    set { values.pongKeepaliveTimeout = newValue }
  }

  /// This option has no effect; it exists for programs that set it. It was meant for clients whose uploads wait for downloads
  /// after a connection is lost, and the uploads of this library never wait for downloads. The default is 60,000.
  public var fastReconnectLimit: UInt {
    get { values.fastReconnectLimit }
    set { values.fastReconnectLimit = newValue }
  }

  func copy() -> sending SyncTimeoutOptions { SyncTimeoutOptions(values) }
}

@available(*, unavailable)
extension SyncTimeoutOptions: Sendable {}

/// The values of `SyncTimeoutOptions`, which can be passed between threads.
struct SyncTimeouts: Sendable, Equatable {
  var connectTimeout: UInt = 120_000
  var connectionLingerTime: UInt = 30_000
  var pingKeepalivePeriod: UInt = 60_000
  var pongKeepaliveTimeout: UInt = 120_000
  var fastReconnectLimit: UInt = 60_000
}
