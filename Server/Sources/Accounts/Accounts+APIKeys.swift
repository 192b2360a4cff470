import Foundation
import RealmSwift

extension Accounts {
  /// An API key as it can be shown: without its secret.
  public struct APIKey: Sendable, Equatable, Identifiable {
    /// 24 hexadecimal digits.
    public let id: String
    /// No other key of the user has it.
    public let name: String
    /// The user that it logs in.
    public let userID: String
    /// Nobody can log in with it.
    public let isDisabled: Bool
    /// When it was made.
    public let createdAt: Date
  }

  /// An API key that was just made.
  public struct NewAPIKey: Sendable, Equatable, CustomStringConvertible {
    /// The text to log in with. The server keeps a hash of it only, and can't tell it again.
    public let key: String
    /// What can be told later, too.
    public let info: APIKey

    /// The id alone, so that no key gets into a log.
    public var description: String { "new API key \(info.id)" }
  }

  /// Makes a key by which programs log in as the user.
  ///
  /// - Parameters:
  ///   - name: 1 to 128 characters; the user has no other key of that name.
  ///   - userID: of an access token that was verified.
  /// - Throws: `AccountError`: `.apiKeyAlreadyExists`; `.invalidParameter` for a name that is not allowed;
  ///   `.authError` for an anonymous user; `.badRequest` for a user who has too many; `.userNotFound`;
  ///   `.userDisabled`.
  public func createAPIKey(name: String, for userID: String) async throws -> NewAPIKey {
    try Texts.checkName(name, of: "API key")
    let (secret, now) = (RandomSecret(), options.now())
    let info = try await write { records in
      let user = try records.keyOwner(userID)
      return APIKey(try records.addKey(name, of: user, isServerKey: false, secret, now))
    }
    return NewAPIKey(key: APIKeyText.text(of: secret), info: info)
  }

  /// The keys of a user, the oldest first.
  ///
  /// - Throws: `AccountError`: `.authError` for an anonymous user; `.userNotFound`; `.userDisabled`.
  public func apiKeys(of userID: String) async throws -> [APIKey] {
    try await read { records in
      let user = try records.keyOwner(userID)
      return records.keys(of: user.id).map { APIKey($0) }
    }
  }

  /// A key of a user.
  ///
  /// - Throws: `AccountError`: `.valueNotFound`; `.authError` for an anonymous user; `.userNotFound`;
  ///   `.userDisabled`.
  public func apiKey(_ id: String, of userID: String) async throws -> APIKey {
    try await read { records in APIKey(try records.key(id, of: userID)) }
  }

  /// Lets a key log in again. Does nothing with one that can.
  ///
  /// - Throws: `AccountError`: `.valueNotFound`; `.authError` for an anonymous user; `.userNotFound`;
  ///   `.userDisabled`.
  public func enableAPIKey(_ id: String, of userID: String) async throws {
    try await write { records in try records.key(id, of: userID).isDisabled = false }
  }

  /// Lets a key log in no more, and ends the sessions that it began.
  ///
  /// - Throws: `AccountError`: `.valueNotFound`; `.authError` for an anonymous user; `.userNotFound`;
  ///   `.userDisabled`.
  public func disableAPIKey(_ id: String, of userID: String) async throws {
    let ended = try await write { records -> [Revocation] in
      let key = try records.key(id, of: userID)
      key.isDisabled = true
      return records.removeSessions(begunBy: key)
    }
    announce(ended)
  }

  /// Removes a key, and ends the sessions that it began.
  ///
  /// - Throws: `AccountError`: `.valueNotFound`; `.authError` for an anonymous user; `.userNotFound`;
  ///   `.userDisabled`.
  public func deleteAPIKey(_ id: String, of userID: String) async throws {
    let ended = try await write { records -> [Revocation] in
      let key = try records.key(id, of: userID)
      let ended = records.removeSessions(begunBy: key)
      records.realm.delete(key)
      return ended
    }
    announce(ended)
  }
}

extension Accounts.APIKey {
  init(_ key: StoredAPIKey) {
    id = key.id
    name = key.name
    userID = key.ownerID
    isDisabled = key.isDisabled
    createdAt = key.createdAt
  }
}
