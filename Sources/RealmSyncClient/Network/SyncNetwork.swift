/// The network by which a client reaches servers, with HTTP requests and WebSockets. With the trait `Sync` there is an
/// implementation over SwiftNIO. Tests have others.
package protocol SyncNetwork: Sendable {
  /// Sends a request.
  ///
  /// - Parameter completion: called once, on any thread.
  func send(
    _ request: NetworkRequest,
    _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
  )

  /// Opens a WebSocket.
  ///
  /// - Parameter handler: gets all events in order, one call at a time, on any thread. The last event is `closed`.
  func connect(
    _ request: SocketRequest, _ handler: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SyncSocket
}

/// An HTTP request.
package struct NetworkRequest: Sendable, Equatable {
  package var method: String
  /// An address that begins with `http://` or `https://`.
  package var url: String
  package var headers: [NetworkHeader]
  package var body: [UInt8]
  /// The greatest number of milliseconds from the call to the last byte of the answer; 0 means no limit.
  package var timeout: UInt64
  /// The path of a file with certificates in PEM form, which are trusted beside those of the system.
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

/// The answer to a request, with any status. A redirection is an answer, too.
package struct NetworkAnswer: Sendable, Equatable {
  package var status: Int
  package var headers: [NetworkHeader]
  package var body: [UInt8]

  package init(status: Int, headers: [NetworkHeader] = [], body: [UInt8] = []) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// The parameters for opening a WebSocket.
package struct SocketRequest: Sendable, Equatable {
  /// An address that begins with `ws://` or `wss://`.
  package var url: String
  package var headers: [NetworkHeader]
  /// The subprotocols that are offered, in this order.
  package var subprotocols: [String]
  /// The greatest number of milliseconds from the call to the end of the handshake; 0 means no limit.
  package var connectTimeout: UInt64
  /// The milliseconds between pings. The first ping comes sooner.
  package var pingPeriod: UInt64
  /// The milliseconds that a ping waits for its pong before the WebSocket counts as lost.
  package var pongTimeout: UInt64
  /// The path of a file with certificates in PEM form, which are trusted beside those of the system.
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
  /// A binary message has arrived.
  case message([UInt8])
  /// The WebSocket has ended. No other event follows.
  case closed(SocketEnd)
}

/// The reason why a WebSocket has ended.
package enum SocketEnd: Sendable, Equatable {
  /// The server has closed the WebSocket with a status code of RFC 6455 (1005 without a code) and a text.
  case code(UInt16, String)
  /// The server has answered the handshake with another status than 101.
  case refused(NetworkAnswer)
  case problem(NetworkProblem)
  /// This side has closed the WebSocket.
  case closedHere
}

/// A WebSocket that is being opened, or is open.
package protocol SyncSocket: AnyObject, Sendable {
  /// Sends a binary message. A message that is sent before the handshake is done waits for it. A message that is sent
  /// after the end is dropped.
  func send(_ message: [UInt8])
  /// Reports that messages were processed. `bytes` is the sum of their bytes, plus `SocketLimit.messageCost` for each
  /// message. While more than `SocketLimit.bytesAhead` bytes are not processed, nothing more is read.
  func taken(_ bytes: Int)
  /// Closes the WebSocket with the status code 1000. The last event follows soon.
  func close()
}

package enum SocketLimit {
  /// The bytes of messages that may wait to be processed.
  package static let bytesAhead = 2 << 20
  /// The bytes that a message counts in addition to its own. It takes about that much memory even if it is empty.
  package static let messageCost = 256
  /// The greatest number of bytes of a message.
  package static let message = 24 << 20
  /// The greatest number of bytes of the answer to a request.
  package static let answer = 16 << 20
}

/// The reason why a server could not be reached, or why the connection to it was lost.
package enum NetworkProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The given text is not an address of the kind that is needed, or the request has a part that HTTP does not allow.
  case invalidAddress(String)
  /// There is no such host, or nothing listens there.
  case unreachable(String)
  case timedOut(String)
  /// The certificate of the server is not trusted, or there is no TLS at the address.
  case tls(String)
  /// The connection broke.
  case lost(String)
  /// The received bytes are not HTTP or not a WebSocket, or there are more of them than `SocketLimit` allows.
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
