/// Gives the address of a user's server and the access tokens for it.
package protocol SyncAccess: AnyObject, Sendable {
  /// Gets the route to the server.
  ///
  /// - Parameters:
  ///   - refused: the reason why the last connection was refused or could not be made; nil at first. After `.token`
  ///     another access token has to be fetched; after `.route` the address has to be asked for again.
  ///   - body: called once, on any thread, and never before this method has returned.
  func route(
    after refused: RouteRefusal?, _ body: @escaping @Sendable (Result<SyncRoute, AccessProblem>) -> Void)
}

package enum RouteRefusal: Sendable, Equatable {
  /// The access token is not valid any more.
  case token
  /// The server has redirected the client, or could never be reached at the address.
  case route
  /// The server has ended the log-in of an access token (close code 4003). The giver of the access logs the user out,
  /// unless the user has another token by now.
  case user(token: String)
}

/// The parameters of a connection.
package struct SyncRoute: Sendable, Equatable {
  /// The address, which begins with `ws://` or `wss://`.
  package var url: String
  package var token: String
  /// The headers that the app has added.
  package var headers: [NetworkHeader]
  package var certificate: String?

  package init(url: String, token: String, headers: [NetworkHeader] = [], certificate: String? = nil) {
    (self.url, self.token, self.headers, self.certificate) = (url, token, headers, certificate)
  }
}

package enum AccessProblem: Error, Sendable, Equatable {
  /// The server can't be reached, or can't answer now. Another try may succeed.
  case notNow(NetworkProblem)
  /// The user is logged out. No other try is made before the next log-in.
  case loggedOut(String)
}
