import Foundation
import RealmSwift

/// The identity that a client has proved at a log-in.
enum Proof: Sendable {
  case nothing
  /// The password of the account with an e-mail address. The password has this hash.
  case password(email: String, hash: String)
  /// An API key. Its secret has this hash.
  case apiKey(hash: String)
}

extension Accounts {
  /// Logs a user in, and begins a session. An anonymous log-in makes a new user.
  ///
  /// With `linkTo` the credentials become an identity of that user instead. The user keeps its id and the session,
  /// which gets one more refresh token. A user who registered an e-mail address and never logged in becomes part of
  /// that user.
  ///
  /// - Parameters:
  ///   - device: the device that asks.
  ///   - address: the address that the request comes from, such as an IP address. Of an IPv6 address it is the part of
  ///     the network, because a client with one address has many. Failed attempts are counted by it.
  ///   - linkTo: the result of `verify(_:)` for the access token of the user.
  /// - Throws: `AccountError`: `.authProviderNotFound` for a way to log in that is switched off; `.invalidPassword`;
  ///   `.authError` for a key that is not known or is disabled, and for an e-mail address that is not confirmed;
  ///   `.userDisabled`; `.tooManyRequests`; `.invalidParameter` for a device that is not valid; `.serviceUnavailable`.
  ///   With `linkTo` also `.accountNameInUse` if another user has the identity, `.invalidParameter` for anonymous
  ///   credentials and for a second e-mail address, `.invalidSession`.
  public func logIn(
    _ credentials: Credentials, device: Device = Device(), address: String, linkTo access: Access? = nil
  ) async throws -> LogIn {
    try device.check()
    guard options.providers.contains(credentials.provider) else {
      throw AccountError.noProvider(credentials.provider.rawValue)
    }
    if access != nil, credentials.provider == .anonymous {
      throw AccountError(
        .invalidParameter, "Anonymous credentials can't be linked to a user. Link an e-mail address instead.")
    }
    let proof = try await prove(credentials, address: address)
    let now = options.now()
    let opened = try await write { records -> OpenedSession in
      guard let access else {
        let user = try records.user(of: proof, now)
        return records.openSession(for: user, by: proof, device: device, now)
      }
      let user = try records.link(proof, to: access, now)
      return records.openSession(for: user, by: proof, device: device, in: access.sessionID, now)
    }
    announce(
      opened.dropped.map { Revocation(userID: opened.account.id, sessionID: $0, reason: .sessionEnded) })
    return LogIn(
      account: opened.account,
      accessToken: accessToken(for: opened.account, sessionID: opened.sessionID, now: now),
      refreshToken: opened.refreshToken, sessionID: opened.sessionID, deviceID: opened.deviceID)
  }

  private func prove(_ credentials: Credentials, address: String) async throws -> Proof {
    switch credentials {
    case .anonymous:
      _ = try creations.begin(account: nil, address: address, options.now())
      return .nothing
    case .emailPassword(let email, let password): return try await prove(email, password, address: address)
    case .apiKey(let key): return try await prove(key: key, address: address)
    }
  }

  private func prove(_ email: String, _ password: String, address: String) async throws -> Proof {
    let now = options.now()
    guard let email = try? EmailAddress(email), let password = try? Password(password) else {
      // No account can have this address and password, so nothing is hashed. That tells nothing about the accounts.
      _ = try failures.begin(account: nil, address: address, now)
      throw AccountError.wrongPassword
    }
    // The attempt counts as failed until it has succeeded, so that attempts that run at the same time count too.
    let attempt = try failures.begin(account: email.text, address: address, now)
    do {
      let known = try await read { records in records.user(email: email.text)?.passwordHash }
      let isRight = try await passwords.matches(password, known ?? dummyHash)
      guard let known, isRight else { throw AccountError.wrongPassword }
      failures.takeBack(attempt)
      return .password(email: email.text, hash: known)
    } catch {
      if (error as? AccountError) != AccountError.wrongPassword { failures.takeBack(attempt) }
      throw error
    }
  }

  private func prove(key: String, address: String) async throws -> Proof {
    let attempt = try failures.begin(account: nil, address: address, options.now())
    guard let hash = APIKeyText.hash(of: key),
      try await read({ records in records.key(secretHash: hash) != nil })
    else { throw AccountError.wrongKey }
    failures.takeBack(attempt)
    return .apiKey(hash: hash)
  }
}
