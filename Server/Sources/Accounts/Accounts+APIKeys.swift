import Foundation
import RealmSwift

extension Accounts {
  /// An API key as it can be shown: without its secret.
  public struct APIKey: Sendable, Equatable, Identifiable {
    /// The id of the key: 24 hexadecimal digits.
    public let id: String
    /// The name of the key. No other key of the user has it.
    public let name: String
    /// The id of the user that the key logs in.
    public let userID: String
    /// True if nobody can log in with the key.
    public let isDisabled: Bool
    /// The time at which the key was made.
    public let createdAt: Date
  }

  /// An API key that was just made.
  public struct NewAPIKey: Sendable, Equatable, CustomStringConvertible {
    /// The text to log in with. The server keeps only a hash of it, and can't tell it again.
    public let key: String
    /// The key without its secret.
    public let info: APIKey

    /// The id alone, so that no key gets into a log.
    public var description: String { "new API key \(info.id)" }
  }

  /// Makes a key by which programs log in as the user.
  ///
  /// - Parameters:
  ///   - name: 1 to 128 characters; the user has no other key of that name.
  ///   - userID: the id of the user, from an access token that was verified.
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

  /// Returns the keys of a user, the oldest first. They do not include keys of the server.
  ///
  /// - Throws: `AccountError`: `.authError` for an anonymous user; `.userNotFound`; `.userDisabled`.
  public func apiKeys(of userID: String) async throws -> [APIKey] {
    try await read { records in
      let user = try records.keyOwner(userID)
      return records.keys(of: user.id).map { APIKey($0) }
    }
  }

  /// Returns a key of a user.
  ///
  /// - Throws: `AccountError`: `.valueNotFound`; `.authError` for an anonymous user; `.userNotFound`;
  ///   `.userDisabled`.
  public func apiKey(_ id: String, of userID: String) async throws -> APIKey {
    try await read { records in APIKey(try records.key(id, of: userID)) }
  }

  /// Lets a key log in again. Nothing changes if it can already.
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
