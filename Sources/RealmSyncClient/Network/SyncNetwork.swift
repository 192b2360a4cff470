/// What reaches a server: requests of HTTP, and WebSockets. With the trait `Sync` there is one over SwiftNIO; tests have others.
package protocol SyncNetwork: Sendable {
  /// Sends a request.
  ///
  /// - Parameter completion: is called once, on any thread.
  func send(
    _ request: NetworkRequest,
    _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
  )

  /// Opens a WebSocket.
  ///
  /// - Parameter handler: is told all that happens, in order, one call at a time, on any thread. The last event is `closed`.
  func connect(
    _ request: SocketRequest, _ handler: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SyncSocket
}

/// A request of HTTP.
package struct NetworkRequest: Sendable, Equatable {
  package var method: String
  /// An address that begins with `http://` or `https://`.
  package var url: String
  package var headers: [NetworkHeader]
  package var body: [UInt8]
  /// Milliseconds from the call to the last byte of the answer; 0 for any number.
  package var timeout: UInt64
  /// A file with certificates in the form PEM that are trusted beside those of the system.
  package var certificate: String?

  package init(
    method: String, url: String, headers: [NetworkHeader] = [], body: [UInt8] = [], timeout: UInt64 = 60_000,
    certificate: String? = nil
  ) {
    (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    (self.timeout, self.certificate) = (timeout, certificate)
  }
}

package struct NetworkHeader: Sendable, Equatable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The answer to a request, of any status. Redirections are answers, too.
package struct NetworkAnswer: Sendable, Equatable {
  package var status: Int
  package var headers: [NetworkHeader]
  package var body: [UInt8]

  package init(status: Int, headers: [NetworkHeader] = [], body: [UInt8] = []) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// How to open a WebSocket.
package struct SocketRequest: Sendable, Equatable {
  /// An address that begins with `ws://` or `wss://`.
  package var url: String
  package var headers: [NetworkHeader]
  /// Those that are offered, in this order.
  package var subprotocols: [String]
  /// Milliseconds from the call to the end of the handshake.
  package var connectTimeout: UInt64
  /// Milliseconds between pings. The first comes sooner.
  package var pingPeriod: UInt64
  /// Milliseconds that a ping waits for its pong before the WebSocket counts as lost.
  package var pongTimeout: UInt64
  /// A file with certificates in the form PEM that are trusted beside those of the system.
  package var certificate: String?

  package init(
    url: String, headers: [NetworkHeader] = [], subprotocols: [String], connectTimeout: UInt64 = 120_000,
    pingPeriod: UInt64 = 60_000, pongTimeout: UInt64 = 120_000, certificate: String? = nil
  ) {
    (self.url, self.headers, self.subprotocols) = (url, headers, subprotocols)
    (self.connectTimeout, self.pingPeriod, self.pongTimeout) = (connectTimeout, pingPeriod, pongTimeout)
    self.certificate = certificate
  }
}

package enum SocketEvent: Sendable, Equatable {
  /// The handshake is done.
  case opened
  /// A binary message has come.
  case message([UInt8])
  /// Nothing comes any more.
  case closed(SocketEnd)
}

/// Why a WebSocket has ended.
package enum SocketEnd: Sendable, Equatable {
  /// The server has closed it: with a status code of RFC 6455 (1005 without one), and a text.
  case code(UInt16, String)
  /// The server has answered the handshake by another status than 101.
  case refused(NetworkAnswer)
  case problem(NetworkProblem)
  /// This side has closed it.
  case closedHere
}

/// A WebSocket that is being opened, or is open.
package protocol SyncSocket: AnyObject, Sendable {
  /// Sends a binary message. What is sent before the handshake is done waits for it; what is sent after the end is dropped.
  func send(_ message: [UInt8])
  /// So many bytes of messages were worked on; each message counts `SocketLimit.messageCost` bytes more than it has. While more than
  /// `SocketLimit.bytesAhead` bytes are not worked on, nothing more is read.
  func taken(_ bytes: Int)
  /// Closes it with the status code 1000. The last event follows soon.
  func close()
}

package enum SocketLimit {
  /// Bytes of messages that may wait to be worked on.
  package static let bytesAhead = 2 << 20
  /// What a message counts there beside its bytes. It takes about so much memory, also where it has no bytes.
  package static let messageCost = 256
  /// Bytes of one message.
  package static let message = 24 << 20
  /// Bytes of the answer to a request.
  package static let answer = 16 << 20
}

/// Why a server could not be reached, or was lost.
package enum NetworkProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was given is no address of the kind that is needed.
  case invalidAddress(String)
  /// There is no such host, or nothing listens there.
  case unreachable(String)
  case timedOut(String)
  /// The server's certificate is not trusted, or there is no TLS at the address.
  case tls(String)
  /// The connection broke.
  case lost(String)
  /// What was received is no HTTP or no WebSocket, or is larger than `SocketLimit` allows.
  case damaged(String)

  package var description: String {
    switch self {
    case .invalidAddress(let text), .unreachable(let text), .timedOut(let text), .tls(let text),
      .lost(let text),
      .damaged(let text):
      text
    }
  }
}
