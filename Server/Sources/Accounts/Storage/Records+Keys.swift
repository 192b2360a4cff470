import Foundation
import RealmSwift

extension Records {
  // MARK: - Keys of users and of the server

  func key(secretHash: String) -> StoredAPIKey? {
    realm.objects(StoredAPIKey.self).where { $0.secretHash == secretHash }.first
  }

  /// The user with an id, if the user may have keys.
  ///
  /// - Throws: `AccountError`: `.userNotFound`; `.userDisabled`; `.authError`.
  func keyOwner(_ id: String) throws -> StoredUser {
    let user = try existingUser(id)
    guard !user.isDisabled else { throw AccountError.disabledUser }
    guard !Account(user).isAnonymous else {
      throw AccountError(
        .authError, "An anonymous user can't have API keys. Link an e-mail address to the user first.")
    }
    return user
  }

  /// The keys that a user has made, the oldest first.
  func keys(of userID: String) -> [StoredAPIKey] {
    Array(
      realm.objects(StoredAPIKey.self).where { $0.ownerID == userID && $0.isServerKey == false }
        .sorted(by: \.id))
  }

  /// - Throws: `AccountError`: `.valueNotFound`; the errors of `keyOwner(_:)`.
  func key(_ id: String, of userID: String) throws -> StoredAPIKey {
    let user = try keyOwner(userID)
    guard Texts.isID(id), let key = realm.object(ofType: StoredAPIKey.self, forPrimaryKey: id),
      key.ownerID == user.id, !key.isServerKey
    else { throw AccountError.unknownKey }
    return key
  }

  func serverKeys() -> Results<StoredAPIKey> {
    realm.objects(StoredAPIKey.self).where { $0.isServerKey == true }
  }

  /// - Throws: `AccountError.Code.valueNotFound`.
  func serverKey(_ id: String) throws -> StoredAPIKey {
    guard Texts.isID(id), let key = realm.object(ofType: StoredAPIKey.self, forPrimaryKey: id),
      key.isServerKey
    else {
      throw AccountError(.valueNotFound, "The server has no such API key. List the keys to see their ids.")
    }
    return key
  }

  /// - Throws: `AccountError`: `.apiKeyAlreadyExists`; `.badRequest`.
  func addKey(
    _ name: String, of user: StoredUser, isServerKey: Bool, _ secret: RandomSecret, _ now: Date
  ) throws -> StoredAPIKey {
    let known = keys(of: user.id)
    guard isServerKey || !known.contains(where: { $0.name == name }) else {
      throw AccountError.keyNameInUse
    }
    guard known.count < Accounts.Bounds.apiKeys else {
      throw AccountError(
        .badRequest, "The user has \(known.count) API keys, the most there can be. Delete one of them.")
    }
    let key = StoredAPIKey()
    key.id = Self.newID()
    key.secretHash = secret.hash(for: .apiKey)
    key.ownerID = user.id
    key.name = name
    key.isServerKey = isServerKey
    key.createdAt = now
    realm.add(key)
    return key
  }

  // MARK: - Keys that sign tokens

  /// The time at which the last token has expired that a key has signed.
  static func end(ofTokensUntil retired: Date) -> Date {
    retired + TimeInterval(Accounts.Bounds.accessTokenLifetime + Accounts.Bounds.clockSkew)
  }

  /// The keys that sign tokens. If none is stored, it makes the first one, in a write transaction of its own.
  func openKeys(_ now: Date) throws -> KeyRing {
    if realm.objects(StoredSigningKey.self).contains(where: { $0.retiredAt == nil }) { return try keyRing() }
    return try realm.write { () throws -> KeyRing in try rotateKeys(now) }
  }

  /// Makes a new key that signs. The previous key goes on verifying, and older keys are removed.
  func rotateKeys(_ now: Date) throws -> KeyRing {
    for key in Array(realm.objects(StoredSigningKey.self)) {
      if key.retiredAt == nil { key.retiredAt = now } else { realm.delete(key) }
    }
    let key = StoredSigningKey()
    key.id = Self.newID()
    key.secret = Data(Sodium.newSecretKey())
    realm.add(key)
    return try keyRing()
  }

  private func keyRing() throws -> KeyRing {
    var current: SigningKey?
    var former: SigningKey?
    var formerEnd = Date.distantPast
    for stored in realm.objects(StoredSigningKey.self) {
      let key = SigningKey(id: stored.id, secret: Array(stored.secret))
      if let retired = stored.retiredAt {
        (former, formerEnd) = (key, Self.end(ofTokensUntil: retired))
      } else {
        current = key
      }
    }
    guard let current else {
      throw AccountError(
        .internalServerError,
        "The key that signs tokens is damaged. Restore the file of the accounts from a copy.")
    }
    return KeyRing(current: current, former: former, formerEnd: formerEnd)
  }
}

extension AccountError {
  static let keyNameInUse = AccountError(
    .apiKeyAlreadyExists, "There is an API key of that name. Choose another name, or delete that key.")
}
