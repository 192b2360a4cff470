import Foundation

/// The address of a server. It may have a path.
package struct ServerAddress: Sendable, Equatable {
  /// The address without a slash at the end.
  package let text: String
  package let isSecure: Bool

  /// The longest accepted address, in bytes.
  private static let most = 2000

  /// Reads an address.
  ///
  /// - Parameters:
  ///   - plain: the scheme of addresses without TLS.
  ///   - secure: the scheme of addresses with TLS.
  ///   - allowsQuery: whether the address may have a query part.
  /// - Returns: nil if the text is not an address with one of the two schemes, or has a user, a password or a fragment.
  init?(_ text: String, plain: String = "http", secure: String = "https", allowsQuery: Bool = false) {
    let text = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard text.utf8.count <= Self.most, let parts = URLComponents(string: text),
      let scheme = parts.scheme?.lowercased(),
      scheme == plain || scheme == secure, let host = parts.host, !host.isEmpty, parts.user == nil,
      parts.password == nil, parts.fragment == nil, allowsQuery || parts.query == nil
    else { return nil }
    self.text = text
    isSecure = scheme == secure
  }
}

/// The addresses of an app's server, as the server names them.
package struct AppLocation: Sendable, Equatable {
  /// The address to which requests are sent.
  package let host: ServerAddress
  /// The address at which the WebSocket is opened.
  package let syncRoute: String

  private struct Answer: Decodable {
    let host: String
    let socketHost: String
    let syncRoute: String?

    private enum CodingKeys: String, CodingKey {
      case host = "hostname"
      case socketHost = "ws_hostname"
      case syncRoute = "sync_route"
    }
  }

  /// - Parameter isSecure: whether the server was asked over TLS. If so, it must not name an address without TLS.
  /// - Throws: `AppError` if the answer is an error, does not name valid addresses, or names one without TLS although it was
  ///   asked over TLS.
  package init(_ answer: ServerAnswer, app: String, isSecure: Bool) throws {
    let content = try answer.content(as: Answer.self)
    let route =
      content.syncRoute.flatMap { $0.isEmpty ? nil : $0 }
      ?? "\(content.socketHost)\(ServerCall.root)/app/\(SyncPaths.encoded(app))/realm-sync"
    guard let host = ServerAddress(content.host),
      let socket = ServerAddress(route, plain: "ws", secure: "wss", allowsQuery: true)
    else { throw answer.notUnderstood }
    guard !isSecure || (host.isSecure && socket.isSecure) else { throw Self.notSecure }
    (self.host, syncRoute) = (host, socket.text)
  }

  /// The error of a server that was asked over TLS and names an address without TLS. Anybody on the network could read tokens
  /// that are sent there.
  static let notSecure = AppError(
    .httpRequestFailed,
    "The server was asked over TLS and names an address without TLS, which is not used. Set the public address of the server in its "
      + "configuration to one that begins with https.")
}
