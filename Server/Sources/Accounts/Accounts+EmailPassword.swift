import Foundation
import RealmSwift

extension Accounts {
  /// Makes a user with an e-mail address and a password, and sends a message to confirm the address unless
  /// `autoConfirm` is set. The user can log in when the address is confirmed.
  ///
  /// - Parameters:
  ///   - email: an address of 254 bytes at most. Capital letters A to Z are made small, and space around it is left
  ///     out.
  ///   - password: 6 to 128 characters.
  ///   - address: the address that the request comes from, as for a log-in.
  /// - Returns: the id of the user.
  /// - Throws: `AccountError`: `.accountNameInUse`; `.invalidParameter`; `.authProviderNotFound` if e-mail addresses
  ///   are switched off; `.tooManyRequests`; `.serviceUnavailable`, also if the user was made and the message could not
  ///   be sent.
  @discardableResult
  public func register(email: String, password: String, address: String) async throws -> String {
    guard options.providers.contains(.emailPassword) else {
      throw AccountError.noProvider(Account.Provider.emailPassword.rawValue)
    }
    let email = try EmailAddress(email)
    let password = try Password(password)
    // This is checked before the password is hashed, because the answer is the same then, and hashing takes long.
    guard try await read({ records in records.user(email: email.text) == nil }) else {
      throw AccountError.nameInUse
    }
    let sends = !options.autoConfirm && options.messenger != nil
    if sends {
      _ = try sendings.begin(account: email.text, address: address, options.now())
    } else {
      _ = try creations.begin(account: nil, address: address, options.now())
    }
    let hash = try await passwords.hash(password)
    let (app, isConfirmed, now) = (options.app, options.autoConfirm, options.now())
    let (id, message) = try await write { records -> (String, Message?) in
      guard records.user(email: email.text) == nil else { throw AccountError.nameInUse }
      let user = records.addUser(.emailPassword, now)
      user.email = email.text
      user.passwordHash = hash
      user.isConfirmed = isConfirmed
      return (user.id, sends ? records.addToken(.confirm, for: user, app: app, now) : nil)
    }
    if let message {
      try await send(message, whereNot: "The user was made, but the message to confirm it could not be sent")
    }
    return id
  }

  /// Confirms an e-mail address with the token of a message.
  ///
  /// - Throws: `AccountError`: `.badRequest` for a token that is not valid, was used or has expired;
  ///   `.userAlreadyConfirmed`; `.userDisabled`.
  public func confirm(token: String, tokenID: String) async throws {
    let now = options.now()
    try await write { records in
      let user = try records.user(ofToken: tokenID, token, .confirm, now)
      guard !user.isConfirmed else { throw AccountError.alreadyConfirmed }
      user.isConfirmed = true
      records.removeTokens(of: user, .confirm)
    }
  }

  /// Sends the message to confirm an e-mail address again, with another token. Tokens that were sent before
  /// stay valid until they expire.
  ///
  /// - Throws: `AccountError`: `.userNotFound`; `.userAlreadyConfirmed`; `.invalidParameter`; `.tooManyRequests`;
  ///   `.serviceUnavailable` if the server sends no messages, or the message could not be sent.
  public func resendConfirmation(email: String, address: String) async throws {
    let email = try EmailAddress(email)
    guard options.messenger != nil else { throw AccountError.noMessenger }
    let now = options.now()
    _ = try sendings.begin(account: email.text, address: address, now)
    let app = options.app
    let message = try await write { records -> Message in
      guard let user = records.user(email: email.text) else { throw AccountError.unknownUser }
      guard !user.isConfirmed else { throw AccountError.alreadyConfirmed }
      return records.addToken(.confirm, for: user, app: app, now)
    }
    try await send(message, whereNot: "The message to confirm the address could not be sent")
  }

  /// Does the same as `resendConfirmation(email:address:)`, because the messenger confirms users, whatever it does.
  public func retryCustomConfirmation(email: String, address: String) async throws {
    try await resendConfirmation(email: email, address: address)
  }

  /// Sends a message by which the password can be set anew. The method returns before the message is sent. It does the
  /// same for an address that nobody has, so that nobody learns which addresses have accounts.
  ///
  /// - Throws: `AccountError`: `.invalidParameter` for a text that is not an address; `.tooManyRequests`;
  ///   `.serviceUnavailable` if the server sends no messages, or is sending too many already.
  public func sendReset(email: String, address: String) async throws {
    let email = try EmailAddress(email)
    guard options.messenger != nil else { throw AccountError.noMessenger }
    _ = try sendings.begin(account: email.text, address: address, options.now())
    try deliveries.begin()
    Task {
      await self.deliverReset(to: email)
      self.deliveries.end()
    }
  }

  private func deliverReset(to email: EmailAddress) async {
    guard let messenger = options.messenger else { return }
    let (app, now) = (options.app, options.now())
    do {
      let isKnown = try await read { records in records.user(email: email.text)?.isDisabled == false }
      guard isKnown else { return }
      let message = try await write { records -> Message? in
        guard let user = records.user(email: email.text), !user.isDisabled else { return nil }
        return records.addToken(.reset, for: user, app: app, now)
      }
      if let message { try await messenger.deliver(message) }
    } catch {
      options.report(error)
    }
  }

  /// Sets a password with the token of a message. All sessions of the user end. The address counts as confirmed,
  /// because the owner of the token can read its mail.
  ///
  /// - Throws: `AccountError`: `.badRequest` for a token that is not valid, was used or has expired;
  ///   `.invalidParameter` for a password that is too short or too long; `.userDisabled`; `.serviceUnavailable`.
  public func reset(token: String, tokenID: String, password: String) async throws {
    let password = try Password(password)
    let now = options.now()
    // This is checked before the password is hashed, so that nobody can make the server work without a token.
    try await read { records in _ = try records.user(ofToken: tokenID, token, .reset, now) }
    let hash = try await passwords.hash(password)
    let (id, email) = try await write { records -> (String, String?) in
      let user = try records.user(ofToken: tokenID, token, .reset, now)
      user.passwordHash = hash
      user.isConfirmed = true
      records.removeTokens(of: user, .confirm, .reset)
      records.removeSessions(of: user.id)
      return (user.id, user.email)
    }
    if let email { failures.forget(account: email) }
    announce([Revocation(userID: id, sessionID: nil, reason: .sessionsRevoked)])
  }

  /// - Parameter failure: the text that says what has failed, as the beginning of a sentence.
  private func send(_ message: Message, whereNot failure: String) async throws {
    guard let messenger = options.messenger else { return }
    try deliveries.begin()
    defer { deliveries.end() }
    do {
      try await messenger.deliver(message)
    } catch {
      options.report(error)
      throw AccountError(.serviceUnavailable, "\(failure). Ask for it again later.")
    }
  }
}

extension AccountError {
  static let alreadyConfirmed = AccountError(
    .userAlreadyConfirmed, "The e-mail address is confirmed already. Log in with it.")
  static let noMessenger = AccountError(
    .serviceUnavailable, "This server sends no messages. Ask the administrator of the app.")
}
