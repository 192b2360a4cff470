import NIOCore
import NIOHTTP1

/// A request whose head has come, and the part of its body that has come.
///
/// It is a class so that the body is not copied whenever a part is added. It is used on the event loop of its
/// connection.
package final class IncomingRequest {
  let head: HTTPRequestHead
  let target: RequestTarget
  /// The handshake; nil if the request does not ask for a WebSocket.
  let handshake: Handshake?
  /// True if the client waits for the status 100 before it sends the body.
  let expectsContinue: Bool
  private let maximumBody: Int
  private(set) var body: [UInt8] = []

  /// Checks a head.
  package init(_ head: HTTPRequestHead, _ limits: FrontLimits) throws(Refusal) {
    guard head.uri.utf8.count <= limits.maximumURL else { throw .urlTooLong }
    guard head.method != .CONNECT && head.method != .TRACE else { throw .unknownMethod }
    // Requests of HTTP/1.0 may have no host. A proxy and this server might read more than one host differently.
    let hosts = head.headers["host"].count
    guard hosts == 1 || (hosts == 0 && head.isOld) else { throw .malformed }
    self.head = head
    maximumBody = limits.maximumBody
    target = try RequestTarget(head.uri, isOptions: head.method == .OPTIONS)
    expectsContinue = try Self.expectsContinue(head)
    handshake = try Handshake.isAsked(by: head) ? Handshake(head) : nil
    if let written = head.headers.first(name: "content-length") {
      guard let length = Int(written), length <= limits.maximumBody else { throw .bodyTooLong }
    }
  }

  private static func expectsContinue(_ head: HTTPRequestHead) throws(Refusal) -> Bool {
    let expected = head.headers["expect"]
    guard expected.allSatisfy({ $0.lowercased() == "100-continue" }) else { throw .unknownExpectation }
    return !expected.isEmpty && !head.isOld && head.hasBody
  }

  /// Adds a part of the body.
  package func add(_ bytes: ByteBuffer) throws(Refusal) {
    guard bytes.readableBytes <= maximumBody - body.count else { throw .bodyTooLong }
    body.append(contentsOf: bytes.readableBytesView)
  }

  /// The complete request.
  ///
  /// - Parameter address: the address of the client.
  package func request(address: String) -> HTTPRequest {
    HTTPRequest(
      method: head.method.rawValue, path: target.path, query: target.query,
      headers: Headers(head.headers.map { ($0.name, $0.value) }), body: body, address: address)
  }
}

extension HTTPRequestHead {
  /// Whether the client speaks HTTP/1.0 or an older version.
  var isOld: Bool { version.major < 1 || (version.major == 1 && version.minor == 0) }

  var hasBody: Bool {
    headers.contains(name: "transfer-encoding") || headers["content-length"].contains { $0 != "0" }
  }
}
