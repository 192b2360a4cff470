import Foundation
import RealmSyncClient
import Synchronization

extension User {
  /// Sends a request with the access token. If the server refuses the token, a new one is requested, and the request is sent once
  /// more.
  ///
  /// - Throws: `AppError` if the user is not logged in or the server can't be reached. An error that the server answers is
  ///   returned as an answer.
  func send(_ call: ServerCall) async throws -> ServerAnswer {
    let app = self.app
    let answer = try await app.calls.send(call, token: try token())
    guard answer.refusesToken else { return answer }
    try await refreshAccessToken()
    return try await app.calls.send(call, token: try token())
  }

  private func token() throws -> String {
    guard let token = accessToken else {
      throw state == .removed ? AppError.removed(id) : AppError.loggedOut(id)
    }
    return token
  }

  // MARK: - Another access token

  /// Requests a new access token. If several callers ask at the same time, one request is sent. If the server refuses the refresh
  /// token, the user is logged out; the files stay.
  ///
  /// - Throws: `AppError`.
  func refreshAccessToken() async throws {
    let refreshing = content.withLock { content -> Task<Void, any Error> in
      if let refreshing = content.refreshing { return refreshing }
      let refreshing = Task { try await self.refreshOnce() }
      content.refreshing = refreshing
      return refreshing
    }
    try await refreshing.value
  }

  private func refreshOnce() async throws {
    defer { content.withLock { $0.refreshing = nil } }
    let app = self.app
    guard let token = refreshToken else {
      throw state == .removed ? AppError.removed(id) : AppError.loggedOut(id)
    }
    let answer = try await app.calls.send(.refresh, token: token)
    // An answer without the name of an error may come from a proxy and not from the server.
    if answer.problem == nil, [401, 403].contains(answer.status), AppError(answer).name != nil {
      logOut(because: "It answers the refresh token with the status \(answer.status).") {
        $0.refreshToken == token
      }
      throw AppError(answer)
    }
    let access = try AccessToken(answer)
    let isWanted = content.withLock { content -> Bool in
      // The user may have logged out in the meantime, or logged in again.
      guard content.refreshToken == token else { return false }
      content.access = access
      return true
    }
    if isWanted { app.metadata.save(self) }
  }

  /// Logs the user out because the server has ended the log-in.
  ///
  /// - Parameters:
  ///   - reason: the reason. It is logged, so it must have no text of the server in it.
  ///   - isMeant: whether the present log-in is the one that the server has ended. The user may have logged in again in the
  ///     meantime.
  private func logOut(because reason: String, where isMeant: (UserContent) -> Bool) {
    guard endLogIn(as: .loggedOut, where: isMeant) != nil else { return }
    let app = self.app
    Logger.shared.log(
      .warn,
      "The server lets the user \(id) of the app \(app.appId) in no more, who is logged out; files stay. \(reason)"
    )
    app.didLogOut(self, because: "Unable to refresh the user access token: \(reason) Log in again.")
  }

  // MARK: - Custom data

  /// Reads the custom data that the server keeps for the user. It comes with a new access token.
  ///
  /// - Returns: the custom data.
  /// - Throws: `AppError`; `.unknown` if the user is not logged in.
  @discardableResult
  public func refreshCustomData() async throws -> Document {
    try await refreshAccessToken()
    return customData
  }

  /// The form of `refreshCustomData()` that calls `completion`. The values have types of Foundation.
  public func refreshCustomData(
    _ completion: @escaping @Sendable (Result<[AnyHashable: Any], any Error>) -> Void
  ) {
    App.answering({ (result: Result<Document, any Error>) in completion(result.map { $0.plain }) }) {
      try await self.refreshCustomData()
    }
  }
}

extension User: SyncAccess {
  package func route(
    after refused: RouteRefusal?, _ body: @escaping @Sendable (Result<SyncRoute, AccessProblem>) -> Void
  ) {
    Task { body(await self.route(after: refused)) }
  }

  /// A token that expires within this number of seconds is not used to connect.
  private static let leastSeconds: Double = 10

  private func route(after refused: RouteRefusal?) async -> Result<SyncRoute, AccessProblem> {
    // A session may run for a moment after the program has let go of its `App`.
    guard let app = appIfThere else {
      return .failure(.loggedOut("The App of the user \(id) is gone. Keep it."))
    }
    let ended = "The user \(id) is not logged in. Log in to go on with sync."
    do {
      switch refused {
      case .user(let token):
        logOut(because: "It has ended the log-in.") { $0.access?.text == token }
        // Otherwise the refused token was an earlier one. Connecting again shows whether the present log-in is valid.
        guard isLoggedIn else {
          return .failure(.loggedOut("The server does not let the user \(id) in. Log in again."))
        }
      case .route: app.calls.forgetLocation()
      case .token, nil: break
      }
      guard let access = content.withLock({ $0.access }) else { return .failure(.loggedOut(ended)) }
      let location = try await app.calls.location()
      if refused == .token || access.ends(within: Self.leastSeconds) { try await refreshAccessToken() }
      guard let token = accessToken else { return .failure(.loggedOut(ended)) }
      return .success(
        SyncRoute(
          url: location.syncRoute, token: token, headers: app.calls.socketHeaders(token: token),
          certificate: app.calls.certificate))
    } catch {
      let error = error as? AppError ?? AppError(.unknown, error.localizedDescription)
      guard isLoggedIn else {
        return .failure(
          .loggedOut("Unable to refresh the user access token: \(error.localizedDescription)"))
      }
      return .failure(.notNow(error.problem ?? .unreachable(error.localizedDescription)))
    }
  }
}

extension [String: AnyBSON?] {
  /// The document with values of Foundation's types.
  fileprivate var plain: [AnyHashable: Any] {
    var plain: [AnyHashable: Any] = [:]
    for (key, value) in self {
      let element: Any = (value ?? .null).plain
      plain[key] = element
    }
    return plain
  }
}

extension AnyBSON {
  fileprivate var plain: Any {
    switch self {
    case .double(let number): number
    case .string(let text): text
    case .document(let document): document.plain
    case .array(let values): values.map { value -> Any in (value ?? .null).plain }
    case .binary(let data): data
    case .objectId(let id): id
    case .bool(let flag): flag
    case .datetime(let date), .timestamp(let date): date
    case .regex(let expression): expression
    case .int32(let number): Int(number)
    case .int64(let number): number
    case .decimal128(let number): number
    case .uuid(let id): id
    case .minKey: MinKey()
    case .maxKey: MaxKey()
    case .null: NSNull()
    }
  }
}
