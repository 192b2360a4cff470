/// Tells where the server of a user is, and gives the access tokens for it.
package protocol SyncAccess: AnyObject, Sendable {
  /// Answers how to connect.
  ///
  /// - Parameters:
  ///   - refused: why the last connection was refused, or did not come about; nil at first. After `.token` another access token
  ///     is to be got, after `.route` the address is to be asked for again.
  ///   - body: is called once, on any thread, and never before this has returned.
  func route(
    after refused: RouteRefusal?, _ body: @escaping @Sendable (Result<SyncRoute, AccessProblem>) -> Void)
}

package enum RouteRefusal: Sendable, Equatable {
  /// The access token is not good any more.
  case token
  /// The server says that it is elsewhere, or could never be reached at the address.
  case route
  /// The server has ended the log-in that an access token is of (close code 4003): who gave the access logs the user out, where the
  /// user has no other token since.
  case user(token: String)
}

/// How to connect.
package struct SyncRoute: Sendable, Equatable {
  /// Begins with `ws://` or `wss://`.
  package var url: String
  package var token: String
  /// Headers of the app's own.
  package var headers: [NetworkHeader]
  package var certificate: String?

  package init(url: String, token: String, headers: [NetworkHeader] = [], certificate: String? = nil) {
    (self.url, self.token, self.headers, self.certificate) = (url, token, headers, certificate)
  }
}

package enum AccessProblem: Error, Sendable, Equatable {
  /// The server can't be reached, or is not able to answer now: another try may succeed.
  case notNow(NetworkProblem)
  /// The user is logged out: nothing is tried before the next log-in.
  case loggedOut(String)
}
