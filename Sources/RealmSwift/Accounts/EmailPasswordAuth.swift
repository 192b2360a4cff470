/// A closure that is called once when a request has ended.
///
/// - Parameter error: why the request failed; nil if it succeeded.
public typealias EmailPasswordAuthOptionalErrorBlock = @Sendable (_ error: (any Error)?) -> Void

/// A closure that is called once when a request has ended.
///
/// - Parameters:
///   - user: the user; nil if the request failed.
///   - error: why the request failed; nil if it succeeded.
public typealias UserCompletionBlock = @Sendable (_ user: User?, _ error: (any Error)?) -> Void

/// The base class of objects that send requests about one way to log in.
public class RLMProviderClient: @unchecked Sendable {
  // Sendable: neither this class nor the classes that inherit from it ever change.
  /// The app to whose server the requests go.
  public let app: App

  init(_ app: App) { self.app = app }
}

/// Registers users that log in by an e-mail address and a password, and sets new passwords: `App.emailPasswordAuth`. Which
/// messages the server sends depends on the server's configuration.
///
/// All methods throw `AppError`, or pass it to their `completion`, which is called once, on the queue `realm.app.callbacks`.
public final class EmailPasswordAuth: RLMProviderClient, @unchecked Sendable {
  // Sendable: it never changes, as its superclass requires.

  private func send(_ step: String, _ body: Document) async throws {
    _ = try await app.calls.send(.emailPassword(step, app: app.appId, body)).content()
  }

  // MARK: - Registering

  /// Registers a user. The user can log in as soon as the address is confirmed, or at once if the server asks for no
  /// confirmation.
  ///
  /// - Throws: `AppError`: `.accountNameInUse` if another user has the address.
  public func registerUser(email: String, password: String) async throws {
    try await send("register", ["email": .string(email), "password": .string(password)])
  }

  /// The form of `registerUser(email:password:)` that calls `completion`.
  public func registerUser(
    email: String, password: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.registerUser(email: email, password: password) }
  }

  /// Confirms an e-mail address with the token and the token's id from the message that the server has sent.
  ///
  /// - Throws: `AppError`: `.badRequest` if the token is not valid.
  public func confirmUser(_ token: String, tokenId: String) async throws {
    try await send("confirm", ["token": .string(token), "tokenId": .string(tokenId)])
  }

  /// The form of `confirmUser(_:tokenId:)` that calls `completion`.
  public func confirmUser(
    _ token: String, tokenId: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.confirmUser(token, tokenId: tokenId) }
  }

  /// Asks the server to send the message for the confirmation of an address again.
  ///
  /// - Throws: `AppError`: `.userAlreadyConfirmed` if the address is confirmed already.
  public func resendConfirmationEmail(_ email: String) async throws {
    try await send("confirm/send", ["email": .string(email)])
  }

  /// The form of `resendConfirmationEmail(_:)` that calls `completion`.
  public func resendConfirmationEmail(
    _ email: String, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.resendConfirmationEmail(email) }
  }

  /// Asks the server to run its own confirmation function for a user again.
  ///
  /// - Throws: `AppError`: `.userAlreadyConfirmed` if the user is confirmed already.
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

  /// Asks the server to send a message with which the user can set a new password.
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

  /// Sets a new password with the token and the token's id from the message that the server has sent.
  ///
  /// - Throws: `AppError`: `.badRequest` if the token is not valid.
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

  /// Asks the server to run its own function that sets a new password.
  ///
  /// - Parameters:
  ///   - email: the address of the user.
  ///   - password: the new password.
  ///   - args: further arguments for the function.
  /// - Throws: `AppError`: `.functionNotFound` if the server has no such function.
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
