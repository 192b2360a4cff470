/// Answers requests.
public protocol HTTPService: Sendable {
  /// Answers a request.
  ///
  /// One connection has one request at a time. The task is cancelled when the connection is closed, and its result is
  /// thrown away then. The front sets no time limit for it.
  ///
  /// A request with the method `HEAD` is passed on as such. Its response may have a body, of which the client is told
  /// the length only. Requests with the methods `CONNECT` and `TRACE` are not passed on: the front answers them with
  /// 501.
  func respond(to request: HTTPRequest) async -> HTTPResponse
}

/// Says which requests become WebSockets.
public protocol SocketService: Sendable {
  /// Decides on a request for a WebSocket, before anything is answered.
  ///
  /// It is called only if the handshake itself is valid. The front answers other handshakes with 400 or 426. The task
  /// is cancelled when the connection is closed.
  ///
  /// - Parameter protocols: the subprotocols that the client lists in `Sec-WebSocket-Protocol`, in its order. A client
  ///   that can't set other headers sends its token there, so they are never logged.
  func accept(_ request: HTTPRequest, protocols: [String]) async -> SocketDecision
}

/// The decision on a request for a WebSocket.
public enum SocketDecision: Sendable {
  /// The response is sent, and the connection is closed after it.
  case refuse(HTTPResponse)
  /// The connection becomes a WebSocket.
  ///
  /// - Parameters:
  ///   - subprotocol: one of the protocols that the client listed, which the client is told; nil to tell none. If it is
  ///     any other, the request is answered with 500.
  ///   - handler: makes the object that receives the messages. It is called on a thread of the front.
  case accept(subprotocol: String?, handler: @Sendable () -> any SocketHandler)
}

/// Receives the messages that come through one WebSocket.
///
/// Its methods run one after the other, on a thread of the front that serves other connections too. So they have to
/// hand over what they get, and must not wait.
public protocol SocketHandler: AnyObject, Sendable {
  /// The connection has become a WebSocket. This is the first call.
  func opened(_ socket: Socket)
  /// A message has come. It is complete: its fragments were joined.
  func received(_ message: [UInt8])
  /// The connection has ended, for whatever reason. This is the last call, and it comes once.
  func closed()
}

/// Refuses all WebSockets with 404.
public struct NoSockets: SocketService {
  public init() {}

  public func accept(_ request: HTTPRequest, protocols: [String]) async -> SocketDecision {
    .refuse(.text("There is nothing here.", status: 404))
  }
}
