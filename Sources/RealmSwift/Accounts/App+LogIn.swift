import Synchronization

extension App {
  /// Logs a user in, and makes that user the current one. Users that are logged in already stay logged in.
  ///
  /// If the user has logged in on this device before and was not removed since, the returned object is the same as then, and the
  /// realms of the user go on syncing. For anonymous credentials, an anonymous user that is logged in is returned without asking
  /// the server; only if there is none, the server makes a new user.
  ///
  /// - Throws: `AppError` if the server does not accept the credentials or can't be reached. Nothing has changed on this device
  ///   then.
  public func login(credentials: Credentials) async throws -> User {
    if case .anonymous = credentials, let known = loggedInAnonymously {
      makeCurrent(known)
      return known
    }
    let device = users.withLock { $0.device }
    let call = ServerCall.logIn(credentials, app: appId, device: device)
    let answer = try await LogInAnswer(calls.send(call))
    let profile = try await ProfileAnswer(calls.send(.profile, token: answer.access.text))
    let user = begin(answer, profile)
    metadata.save(user)
    keep(device: answer.deviceID)
    makeCurrent(user)
    Logger.shared.log(.info, "The user \(user.id) has logged in to the app \(appId).")
    user.sync.withLock { $0 }?.userDidLogIn()
    return user
  }

  /// The form of `login(credentials:)` that calls `completion`.
  public func login(
    credentials: Credentials, _ completion: @Sendable @escaping (Result<User, any Error>) -> Void
  ) {
    App.answering(completion) { try await self.login(credentials: credentials) }
  }

  private var loggedInAnonymously: User? {
    users.withLock { $0.all }.first { $0.isLoggedIn && $0.isAnonymous }
  }

  /// Records a log-in: in the user with this id that the app knows already, or in a new one.
  private func begin(_ answer: LogInAnswer, _ profile: ProfileAnswer) -> User {
    while true {
      let user = users.withLock { users -> User in
        if let known = users.all.first(where: { $0.id == answer.userID }) { return known }
        let user = User(answer.userID, self)
        users.all.append(user)
        return user
      }
      let isHere = user.content.withLock { content -> Bool in
        // Another thread may have removed the user a moment ago, and is about to take it off the list.
        guard content.state != .removed else { return false }
        content.begin(answer, profile)
        return true
      }
      if isHere { return user }
      users.withLock { users in users.all.removeAll { $0 === user } }
    }
  }

  private func keep(device: String?) {
    guard let device, users.withLock({ $0.device }) != device else { return }
    users.withLock { $0.device = device }
    metadata.setDevice(device)
  }
}

extension User {
  /// Adds the credentials to the ways in which the user can log in, and makes the user the current one. The user keeps the id and
  /// all data. An anonymous user can log in again afterwards.
  ///
  /// - Parameter credentials: neither anonymous credentials nor those of another user.
  /// - Returns: this user.
  /// - Throws: `AppError`: `.badRequest` for anonymous credentials, `.unknown` if the user is not logged in or logs out
  ///   meanwhile, and what the server answers if it does not accept the credentials.
  public func linkUser(credentials: Credentials) async throws -> User {
    if case .anonymous = credentials {
      throw AppError(
        .badRequest, "Anonymous credentials can't be linked to a user. Link an e-mail address in their place."
      )
    }
    let app = self.app
    let device = app.users.withLock { $0.device }
    let call = ServerCall.logIn(credentials, app: app.appId, device: device, isLink: true)
    let sent = try await send(call)
    let answer = try LogInAnswer(sent)
    guard answer.userID == id else { throw sent.notUnderstood }
    let profile = try await ProfileAnswer(app.calls.send(.profile, token: answer.access.text))
    let isHere = content.withLock { content -> Bool in
      guard content.state == .loggedIn else { return false }
      content.begin(answer, profile)
      return true
    }
    guard isHere else { throw AppError.loggedOut(id) }
    app.metadata.save(self)
    app.makeCurrent(self)
    return self
  }

  /// The form of `linkUser(credentials:)` that calls `completion`.
  public func linkUser(
    credentials: Credentials, _ completion: @Sendable @escaping (Result<User, any Error>) -> Void
  ) {
    App.answering(completion) { try await self.linkUser(credentials: credentials) }
  }
}
