/// Is called once, with why something did not succeed; nil where it did.
public typealias EmailPasswordAuthOptionalErrorBlock = @Sendable (_ error: (any Error)?) -> Void

/// Is called once, with a user, or with why there is none.
public typealias UserCompletionBlock = @Sendable (_ user: User?, _ error: (any Error)?) -> Void

/// What sends requests about one way to log in.
public class RLMProviderClient: @unchecked Sendable {
  // Sendable: neither it nor the classes that inherit from it ever change.
  /// The app whose users it is about.
  public let app: App

  init(_ app: App) { self.app = app }
}

/// Registers users that log in by an e-mail address and a password: `App.emailPasswordAuth`. Which messages a server sends is a matter of its
/// configuration.
public final class EmailPasswordAuth: RLMProviderClient, @unchecked Sendable {
  // Sendable: as of `RLMProviderClient`.

  private func send(_ step: String, _ body: Document) async throws {
    _ = try await app.calls.send(.emailPassword(step, app: app.appId, body)).content()
  }

  // MARK: - Registering

  /// Registers a user, who can log in as soon as the address is confirmed, or at once where the server asks for no confirmation.
  ///
  /// - Throws: `AppError`: `.accountNameInUse` for an address that somebody has.
  public func registerUser(email: String, password: String) async throws {
    try await send("register", ["email": .string(email), "password": .string(password)])
  }

  /// The form of `registerUser(email:password:)` that calls `completion`.
  public func registerUser(
    email: String, password: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.registerUser(email: email, password: password) }
  }

  /// Confirms an address, by what the server's message told.
  ///
  /// - Throws: `AppError`: `.badRequest` for a token that is not valid.
  public func confirmUser(_ token: String, tokenId: String) async throws {
    try await send("confirm", ["token": .string(token), "tokenId": .string(tokenId)])
  }

  /// The form of `confirmUser(_:tokenId:)` that calls `completion`.
  public func confirmUser(
    _ token: String, tokenId: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.confirmUser(token, tokenId: tokenId) }
  }

  /// Lets the server send the message that confirms an address again.
  ///
  /// - Throws: `AppError`: `.userAlreadyConfirmed`.
  public func resendConfirmationEmail(_ email: String) async throws {
    try await send("confirm/send", ["email": .string(email)])
  }

  /// The form of `resendConfirmationEmail(_:)` that calls `completion`.
  public func resendConfirmationEmail(
    _ email: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.resendConfirmationEmail(email) }
  }

  /// Lets the server's own way to confirm a user run again.
  ///
  /// - Throws: `AppError`: `.userAlreadyConfirmed`.
  public func retryCustomConfirmation(_ email: String) async throws {
    try await send("confirm/call", ["email": .string(email)])
  }

  /// The form of `retryCustomConfirmation(_:)` that calls `completion`.
  public func retryCustomConfirmation(
    _ email: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.retryCustomConfirmation(email) }
  }

  // MARK: - Passwords

  /// Lets the server send a message that allows to set another password.
  ///
  /// - Throws: `AppError`.
  public func sendResetPasswordEmail(_ email: String) async throws {
    try await send("reset/send", ["email": .string(email)])
  }

  /// The form of `sendResetPasswordEmail(_:)` that calls `completion`.
  public func sendResetPasswordEmail(
    _ email: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.sendResetPasswordEmail(email) }
  }

  /// Sets another password, by what the server's message told.
  ///
  /// - Throws: `AppError`: `.badRequest` for a token that is not valid.
  public func resetPassword(to password: String, token: String, tokenId: String) async throws {
    try await send(
      "reset",
      ["password": .string(password), "token": .string(token), "tokenId": .string(tokenId)])
  }

  /// The form of `resetPassword(to:token:tokenId:)` that calls `completion`.
  public func resetPassword(
    to password: String, token: String, tokenId: String,
    completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) {
      try await self.resetPassword(to: password, token: token, tokenId: tokenId)
    }
  }

  /// Lets a function of the server set another password.
  ///
  /// - Parameter args: what the function takes beside the address and the password.
  /// - Throws: `AppError`: `.functionNotFound` where the server has none.
  public func callResetPasswordFunction(email: String, password: String, args: [AnyBSON]) async throws {
    try await send(
      "reset/call",
      ["email": .string(email), "password": .string(password), "arguments": .array(args)])
  }

  /// The form of `callResetPasswordFunction(email:password:args:)` that calls `completion`.
  public func callResetPasswordFunction(
    email: String, password: String, args: [AnyBSON],
    _ completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) {
      try await self.callResetPasswordFunction(email: email, password: password, args: args)
    }
  }
}
