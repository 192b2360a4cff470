import NIOCore

/// Where a front listens, and what it allows its clients.
public struct FrontSettings: Sendable {
  /// The address, or the name, that the front listens on. The default is `127.0.0.1`.
  public var host: String
  /// The port that the front listens on, from 0 to 65,535. With 0, which is the default, it takes a free one,
  /// which `Front.port` tells.
  public var port: Int
  /// The files for TLS. The default is nil: the front then speaks plain HTTP.
  public var tls: TLSFiles?
  public var limits = FrontLimits()
  public var times = FrontTimes()
  /// The proxies whose `X-Forwarded-For` is believed: addresses as in `10.0.0.1` and `fd00::1`, and ranges of
  /// addresses as in `10.0.0.0/8`. The default is none.
  public var trustedProxies: [String] = []
  /// How many threads read and write, at least 1. The default is the number of processors.
  public var threads: Int = System.coreCount

  public init(host: String = "127.0.0.1", port: Int = 0, tls: TLSFiles? = nil) {
    (self.host, self.port, self.tls) = (host, port, tls)
  }
}

/// The files that a front needs for TLS. They are PEM files.
public struct TLSFiles: Sendable, Equatable {
  /// The path of the certificate of the server, and behind it those that lead to the authority.
  public var certificates: String
  /// The path of the private key.
  public var key: String

  public init(certificates: String, key: String) {
    (self.certificates, self.key) = (certificates, key)
  }
}

/// How much clients may send, and how many connections they may have.
public struct FrontLimits: Sendable, Equatable {
  /// Bytes of the body of a request. A longer one is answered with 413. The default is 1 MiB.
  public var maximumBody = 1 << 20
  /// Bytes of a message that comes through a WebSocket. A longer one closes it with 1009. The default is 24
  /// MiB + 16.
  public var maximumMessage = (24 << 20) + 16
  /// Bytes of the URL of a request, and the names and the values of its headers. More are answered with 431.
  /// The default is 16 KiB.
  public var maximumHeaderBytes = 16 << 10
  /// Headers of a request. More are answered with 431. The default is 128.
  public var maximumHeaders = 128
  /// Bytes of the URL of a request. A longer one is answered with 414. The default is 4 KiB.
  public var maximumURL = 4 << 10
  /// Connections in all. One more is closed as soon as it is accepted. The default is 10,000.
  public var connections = 10_000
  /// Connections of one client's address; in IPv6, of the first 64 bits of it. Those of trusted proxies do
  /// not count. One more is closed as soon as it is accepted. The default is 256.
  public var connectionsPerAddress = 256
  /// Bytes of messages that are not whole and of bodies of requests that are not answered, of all connections. A request
  /// with more is answered with 503, and a message with more closes its WebSocket with 1013. What has 16 KiB or less is
  /// never refused for that. The default is 256 MiB.
  public var unfinishedBytes = 256 << 20
  /// The same of one client's address; in IPv6, of the first 64 bits of it. Behind a trusted proxy it is the address that
  /// the proxy names. The default is 96 MiB.
  public var unfinishedBytesPerAddress = 96 << 20

  public init() {}
}

/// How long a front waits for its clients.
public struct FrontTimes: Sendable, Equatable {
  /// For the head of a request, from its first byte on, and for that of the first request, from the opening
  /// of the connection on, handshakes of TLS included. The default is 10 s.
  public var header: Duration = .seconds(10)
  /// For all of a body, from the end of the head on. The default is 30 s.
  public var body: Duration = .seconds(30)
  /// For all of a message through a WebSocket, from its first byte on. A slower one closes the WebSocket with 1008. The time
  /// in which the front reads nothing does not count. The default is 600 s.
  public var message: Duration = .seconds(600)
  /// For the next request of a connection, and for a client that does not take its response. The default is
  /// 60 s.
  public var idle: Duration = .seconds(60)
  /// Between two pings that a WebSocket is sent. The default is 60 s.
  public var ping: Duration = .seconds(60)
  /// For a sign of life through a WebSocket: any bytes, of which the answer to a ping is the least. The same
  /// time is given to a client that takes nothing of what it is sent. Both are looked at whenever a ping is
  /// due. The default is 120 s.
  public var pong: Duration = .seconds(120)
  /// For the other side to end a connection that the front has said it ends. The default is 5 s.
  public var close: Duration = .seconds(5)

  public init() {}
}

/// Why a front can't start, or can't read its certificate again.
public enum FrontError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A trusted proxy is no address and no range of addresses.
  case badProxy(String)
  /// A file holds no certificate.
  case noCertificate(path: String)
  /// A file can't be read, or is no PEM file of the right kind, or the key is not that of the certificate.
  case unusableFile(path: String, reason: String)

  public var description: String {
    switch self {
    case .badProxy(let text): "\"\(text)\" is no address, and no range of addresses."
    case .noCertificate(let path): "\(path) holds no certificate."
    case .unusableFile(let path, let reason): "\(path) can't be used for TLS: \(reason)"
    }
  }
}
