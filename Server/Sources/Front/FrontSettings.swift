import NIOCore

/// The address and port that a front listens on, and what it allows its clients.
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
  /// The proxies whose header `X-Forwarded-For` is believed: addresses as in `10.0.0.1` and `fd00::1`, and ranges of
  /// addresses as in `10.0.0.0/8`. The default is none.
  public var trustedProxies: [String] = []
  /// The number of threads that read and write; less than 1 counts as 1. The default is the number of processors.
  public var threads: Int = System.coreCount

  public init(host: String = "127.0.0.1", port: Int = 0, tls: TLSFiles? = nil) {
    (self.host, self.port, self.tls) = (host, port, tls)
  }
}

/// The files that a front needs for TLS. They are PEM files.
public struct TLSFiles: Sendable, Equatable {
  /// The path of the file with the certificate of the server and, behind it, the certificates that lead to the
  /// authority.
  public var certificates: String
  /// The path of the private key.
  public var key: String

  public init(certificates: String, key: String) {
    (self.certificates, self.key) = (certificates, key)
  }
}

/// How much clients may send, and how many connections they may have.
public struct FrontLimits: Sendable, Equatable {
  /// The greatest size of the body of a request in bytes. A longer body is answered with 413. The default is 1 MiB.
  public var maximumBody = 1 << 20
  /// The greatest size in bytes of a message that comes through a WebSocket. A longer message closes the WebSocket with
  /// 1009. The default is 24 MiB + 16.
  public var maximumMessage = (24 << 20) + 16
  /// The greatest size in bytes of the URL of a request with the names and values of its headers. More is answered with
  /// 431. The default is 16 KiB.
  public var maximumHeaderBytes = 16 << 10
  /// The greatest number of headers of a request. More are answered with 431. The default is 128.
  public var maximumHeaders = 128
  /// The greatest size of the URL of a request in bytes. A longer URL is answered with 414. The default is 4 KiB.
  public var maximumURL = 4 << 10
  /// The greatest number of connections in all. A further connection is closed as soon as it is accepted. The default
  /// is 10,000.
  public var connections = 10_000
  /// The greatest number of connections of one client's address; in IPv6, of the first 64 bits of the address.
  /// Connections of trusted proxies do not count. A further connection is closed as soon as it is accepted. The default
  /// is 256.
  public var connectionsPerAddress = 256
  /// The greatest number of bytes, over all connections, of messages that are not complete and of bodies of requests
  /// that are not answered. A request beyond it is answered with 503, and a message beyond it closes its WebSocket with
  /// 1013. A message or body of 16 KiB or less is never refused for that reason. The default is 256 MiB.
  public var unfinishedBytes = 256 << 20
  /// The greatest number of such bytes of one client's address; in IPv6, of the first 64 bits of the address. Behind a
  /// trusted proxy it is the address that the proxy names. The default is 96 MiB.
  public var unfinishedBytesPerAddress = 96 << 20

  public init() {}
}

/// The times for which a front waits for its clients.
public struct FrontTimes: Sendable, Equatable {
  /// The time for the head of a request, from its first byte on. For the first request it runs from the opening of the
  /// connection on, and includes the handshake of TLS. The default is 10 s.
  public var header: Duration = .seconds(10)
  /// The time for the whole body, from the end of the head on. The default is 30 s.
  public var body: Duration = .seconds(30)
  /// The time for a whole message through a WebSocket, from its first byte on. A slower message closes the WebSocket
  /// with 1008. The time in which the front reads nothing does not count. The default is 600 s.
  public var message: Duration = .seconds(600)
  /// The time for the next request of a connection, and for a client to take its response. The default is 60 s.
  public var idle: Duration = .seconds(60)
  /// The time between two pings that are sent through a WebSocket. The default is 60 s.
  public var ping: Duration = .seconds(60)
  /// The time for a sign of life through a WebSocket: any bytes, at least the answer to a ping. A client also has this
  /// time to take something of what it is sent. Both are checked whenever a ping is due. The default is 120 s.
  public var pong: Duration = .seconds(120)
  /// The time for the other side to end a connection after the front has said that it ends it. The default is 5 s.
  public var close: Duration = .seconds(5)

  public init() {}
}

/// Why a front can't start, or can't read its certificate again.
public enum FrontError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text for a trusted proxy is neither an address nor a range of addresses.
  case badProxy(String)
  /// A file holds no certificate.
  case noCertificate(path: String)
  /// A file can't be read, is not a PEM file of the right kind, or has a key that does not belong to the certificate.
  case unusableFile(path: String, reason: String)

  public var description: String {
    switch self {
    case .badProxy(let text): "\"\(text)\" is no address, and no range of addresses."
    case .noCertificate(let path): "\(path) holds no certificate."
    case .unusableFile(let path, let reason): "\(path) can't be used for TLS: \(reason)"
    }
  }
}
