import Foundation
import RealmSwift

extension Records {
  /// Makes a token, and returns the message that tells it to the user.
  func addToken(_ kind: Message.Kind, for user: StoredUser, app: String, _ now: Date) -> Message {
    let secret = RandomSecret()
    let token = StoredMessageToken()
    token.id = Self.newID()
    token.secretHash = secret.hash(for: kind.purpose)
    token.userID = user.id
    token.kind = kind.rawValue
    token.expiresAt = now + TimeInterval(kind.lifetime)
    realm.add(token)
    return Message(
      kind: kind, app: app, email: user.email ?? "", userID: user.id, token: secret.text, tokenID: token.id)
  }

  /// The user that a token was sent to.
  ///
  /// - Throws: `AccountError`: `.badRequest` for a token that is not valid; `.userDisabled`.
  func user(ofToken id: String, _ text: String, _ kind: Message.Kind, _ now: Date) throws -> StoredUser {
    guard Texts.isID(id), let secret = RandomSecret(text[...]),
      let token = realm.object(ofType: StoredMessageToken.self, forPrimaryKey: id),
      SecretComparison.areEqual(token.secretHash, secret.hash(for: kind.purpose)),
      token.kind == kind.rawValue, token.expiresAt > now,
      let user = user(token.userID)
    else { throw AccountError.badMessageToken }
    guard !user.isDisabled else { throw AccountError.disabledUser }
    return user
  }

  /// Removes the tokens of some kinds that were sent to a user.
  func removeTokens(of user: StoredUser, _ kinds: Message.Kind...) {
    let id = user.id
    for kind in kinds {
      let name = kind.rawValue
      realm.delete(realm.objects(StoredMessageToken.self).where { $0.userID == id && $0.kind == name })
    }
  }
}

extension Message.Kind {
  fileprivate var purpose: RandomSecret.Purpose {
    switch self {
    case .confirm: .confirm
    case .reset: .reset
    }
  }

  /// The time for which a token is valid, in seconds.
  fileprivate var lifetime: Int {
    switch self {
    case .confirm: Accounts.Bounds.confirmationLifetime
    case .reset: Accounts.Bounds.resetLifetime
    }
  }
}
