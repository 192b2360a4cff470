/// How long connections of device sync wait, in milliseconds.
public final class SyncTimeoutOptions {
  /// The same as a value.
  var values: SyncTimeouts

  init(_ values: SyncTimeouts) { self.values = values }

  /// Options; each parameter is described at the property of its name. Nil stands for the default.
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

  /// How long a connection may take to come about: to find the host, to connect, and to agree on TLS and the WebSocket. 120,000
  /// at first.
  public var connectTimeout: UInt {
    get { values.connectTimeout }
    set { values.connectTimeout = newValue }
  }

  /// How long a connection is kept after the last of its sessions has ended. 30,000 at first.
  public var connectionLingerTime: UInt {
    get { values.connectionLingerTime }
    set { values.connectionLingerTime = newValue }
  }

  /// The time between two pings, by which both sides learn that the connection is still there. 60,000 at first.
  public var pingKeepalivePeriod: UInt {
    get { values.pingKeepalivePeriod }
    set { values.pingKeepalivePeriod = newValue }
  }

  /// How long a ping waits for its answer before the connection counts as lost. 120,000 at first.
  public var pongKeepaliveTimeout: UInt {
    get { values.pongKeepaliveTimeout }
    set { values.pongKeepaliveTimeout = newValue }
  }

  /// A connection that was lost less than this time ago counts as the same when it is back. 60,000 at first. It is kept for programs that set
  /// it: uploads here never wait for downloads, so that nothing depends on it.
  public var fastReconnectLimit: UInt {
    get { values.fastReconnectLimit }
    set { values.fastReconnectLimit = newValue }
  }

  func copy() -> sending SyncTimeoutOptions { SyncTimeoutOptions(values) }
}

@available(*, unavailable)
extension SyncTimeoutOptions: Sendable {}

/// `SyncTimeoutOptions` as a value.
struct SyncTimeouts: Sendable, Equatable {
  var connectTimeout: UInt = 120_000
  var connectionLingerTime: UInt = 30_000
  var pingKeepalivePeriod: UInt = 60_000
  var pongKeepaliveTimeout: UInt = 120_000
  var fastReconnectLimit: UInt = 60_000
}
