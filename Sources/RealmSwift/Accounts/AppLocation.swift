import Foundation

/// The address of a server, without a path behind it or with one.
package struct ServerAddress: Sendable, Equatable {
  /// Without a slash at the end.
  package let text: String
  package let isSecure: Bool

  /// So many bytes an address has at most.
  private static let most = 2000

  /// Nil for what is no such address.
  ///
  /// - Parameters:
  ///   - plain: what an address without TLS begins with.
  ///   - secure: what an address with TLS begins with.
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

/// Where the server of an app is, as the server tells it.
package struct AppLocation: Sendable, Equatable {
  /// Where requests are sent to.
  package let host: ServerAddress
  /// Where the WebSocket is opened.
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

  /// - Parameter isSecure: the server was asked over TLS, so that it can't name an address without.
  /// - Throws: `AppError` where it is none.
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

  /// Tokens would pass through the network as everybody can read them.
  static let notSecure = AppError(
    .httpRequestFailed,
    "The server was asked over TLS and names an address without TLS, which is not used. Set the public address of the server in its "
      + "configuration to one that begins with https.")
}
