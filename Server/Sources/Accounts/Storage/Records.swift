import Foundation
import RealmSwift

/// The stored records, as the file's queue sees them. Methods that change something have to be called in a write
/// transaction.
struct Records {
  let realm: Realm

  /// A new id: 24 hexadecimal digits, greater than those before.
  static func newID() -> String { ObjectId.generate().stringValue }

  // MARK: - Finding users

  func user(_ id: String) -> StoredUser? {
    Texts.isID(id) ? realm.object(ofType: StoredUser.self, forPrimaryKey: id) : nil
  }

  /// - Parameter email: the address as `EmailAddress` writes it.
  func user(email: String) -> StoredUser? { realm.objects(StoredUser.self).where { $0.email == email }.first }

  /// - Throws: `AccountError.Code.userNotFound`.
  func existingUser(_ id: String) throws -> StoredUser {
    guard let user = user(id) else { throw AccountError.unknownUser }
    return user
  }

  /// - Throws: `AccountError`: `.userNotFound`; `.invalidParameter`.
  func userWithEmail(_ id: String) throws -> StoredUser {
    let user = try existingUser(id)
    guard user.email != nil else {
      throw AccountError(
        .invalidParameter, "This user has no e-mail address, and so no password. Link an address first.")
    }
    return user
  }

  func users(after last: String?, limit: Int) -> [StoredUser] {
    let all = realm.objects(StoredUser.self)
    let rest = last.map { last in all.where { $0.id > last } } ?? all
    return Array(rest.sorted(by: \.id).prefix(limit))
  }

  // MARK: - Making and removing users

  func addUser(_ provider: Account.Provider, _ now: Date) -> StoredUser {
    let user = StoredUser()
    user.id = Self.newID()
    user.createdAt = now
    user.identities.append(StoredIdentity(id: Self.newID(), provider: provider))
    realm.add(user)
    return user
  }

  /// Removes a user with everything that is stored about it.
  func remove(_ user: StoredUser) {
    let id = user.id
    removeSessions(of: id)
    realm.delete(realm.objects(StoredMessageToken.self).where { $0.userID == id })
    realm.delete(realm.objects(StoredAPIKey.self).where { $0.ownerID == id })
    realm.delete(user)
  }

  // MARK: - Who logs in

  /// The user that a proof belongs to. The proof `.nothing` makes a new user.
  ///
  /// - Throws: `AccountError`.
  func user(of proof: Proof, _ now: Date) throws -> StoredUser {
    switch proof {
    case .nothing: return addUser(.anonymous, now)
    case .password(let email, let hash):
      // Another password may have been set while this one was checked.
      guard let user = user(email: email), user.passwordHash == hash else { throw AccountError.wrongPassword }
      guard !user.isDisabled else { throw AccountError.disabledUser }
      guard user.isConfirmed else {
        throw AccountError(
          .authError,
          "The e-mail address is not confirmed. Follow the message that was sent to it, or ask for another.")
      }
      return user
    case .apiKey(let hash):
      guard let key = key(secretHash: hash), let user = user(key.ownerID) else { throw AccountError.wrongKey }
      guard !key.isDisabled else {
        throw AccountError(.authError, "This API key is disabled. Enable it, or use another.")
      }
      guard !user.isDisabled else { throw AccountError.disabledUser }
      return user
    }
  }

  /// Makes the proved credentials an identity of the user that an access token stands for.
  ///
  /// - Throws: `AccountError`.
  func link(_ proof: Proof, to access: Accounts.Access, _ now: Date) throws -> StoredUser {
    guard let user = user(access.userID), hasSession(access.sessionID, of: user.id, now) else {
      throw AccountError.endedSession
    }
    guard !user.isDisabled else { throw AccountError.disabledUser }
    let owner = try self.user(of: proof, now)
    if owner.id == user.id { return user }
    // The owner of the password has registered and never logged in, so it becomes part of the other user.
    guard case .password = proof, isUnused(owner), let identity = owner.identities.first else {
      throw AccountError.identityInUse
    }
    guard user.email == nil else {
      throw AccountError(.invalidParameter, "This user has an e-mail address already. It can have one only.")
    }
    let (email, hash, identityID) = (owner.email, owner.passwordHash, identity.id)
    remove(owner)
    user.email = email
    user.passwordHash = hash
    user.isConfirmed = true
    user.identities.append(StoredIdentity(id: identityID, provider: .emailPassword))
    return user
  }

  /// Whether nothing but its identity would be lost with a user.
  private func isUnused(_ user: StoredUser) -> Bool {
    user.lastLogIn == nil && user.identities.count == 1 && user.customData == nil && user.roles.isEmpty
  }
}
