/// Answers requests.
public protocol HTTPService: Sendable {
  /// Answers a request.
  ///
  /// One connection has one request at a time. The task is cancelled when the connection is closed; what it
  /// returns then is thrown away. The front sets no time for it.
  ///
  /// A request with the method `HEAD` comes as such. Its answer may have a body, of which the client is told
  /// the length only. No request with the method `CONNECT` or `TRACE` comes: the front answers them with 501.
  func respond(to request: HTTPRequest) async -> HTTPResponse
}

/// Says which requests become WebSockets.
public protocol SocketService: Sendable {
  /// Decides on a request for a WebSocket, before anything is answered.
  ///
  /// It comes only when the handshake itself is right; the front answers others with 400 or 426. The task is
  /// cancelled when the connection is closed.
  ///
  /// - Parameter protocols: what the client lists in `Sec-WebSocket-Protocol`, in its order. A client that
  ///   can't set other headers sends its token there, so they are never logged.
  func accept(_ request: HTTPRequest, protocols: [String]) async -> SocketDecision
}

/// What becomes of a request for a WebSocket.
public enum SocketDecision: Sendable {
  /// The response is sent, and the connection is closed behind it.
  case refuse(HTTPResponse)
  /// The connection becomes a WebSocket.
  ///
  /// - Parameters:
  ///   - subprotocol: one of the protocols that the client listed, which is told to it; nil tells none. With
  ///     any other the request is answered with 500.
  ///   - handler: makes what receives its messages. It runs on a thread of the front.
  case accept(subprotocol: String?, handler: @Sendable () -> any SocketHandler)
}

/// Receives what comes through one WebSocket.
///
/// Its methods run one after the other, on a thread of the front that serves other connections too. So they
/// hand over what they get, and do not wait.
public protocol SocketHandler: AnyObject, Sendable {
  /// The connection has become a WebSocket. It is the first call.
  func opened(_ socket: Socket)
  /// A message has come. It is whole: fragments were joined.
  func received(_ message: [UInt8])
  /// The connection has ended, for whatever reason. It is the last call, and it comes once.
  func closed()
}

/// Refuses all WebSockets with 404.
public struct NoSockets: SocketService {
  public init() {}

  public func accept(_ request: HTTPRequest, protocols: [String]) async -> SocketDecision {
    .refuse(.text("There is nothing here.", status: 404))
  }
}
