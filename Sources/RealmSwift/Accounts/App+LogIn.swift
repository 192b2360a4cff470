import Synchronization

extension App {
  /// Logs somebody in, who becomes the current user. Who was logged in before stays so.
  ///
  /// A user who has logged in on this device before is the same object as then, and its realms go on syncing. Anonymous credentials make a new user only where
  /// no anonymous user is logged in, and need a network only then.
  ///
  /// - Throws: `AppError`; nothing has changed here then.
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

  /// The user of a log-in: the one whom the app knows already, or a new one.
  private func begin(_ answer: LogInAnswer, _ profile: ProfileAnswer) -> User {
    while true {
      let user = users.withLock { users -> User in
        if let known = users.all.first(where: { $0.id == answer.userID }) { return known }
        let user = User(answer.userID, self)
        users.all.append(user)
        return user
      }
      let isHere = user.content.withLock { content -> Bool in
        // It may have been removed a moment ago, and is about to leave the list.
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
  /// Gives the user one more way to log in. The user keeps the id and all data; an anonymous user can log in again then. The user becomes the current one.
  ///
  /// - Parameter credentials: not anonymous ones, and none of another user's.
  /// - Throws: `AppError`. The user has to be logged in.
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
