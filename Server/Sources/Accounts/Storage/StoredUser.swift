import Foundation
import RealmSwift

// The classes of this folder are left out of realms that name no classes, because a program may have other realms open.

/// A user.
final class StoredUser: Object {
  @Persisted(primaryKey: true) var id: String
  /// The e-mail address as `EmailAddress` writes it. No two users have the same address.
  @Persisted(indexed: true) var email: String?
  /// The hash of the password by libsodium, with its salt and its cost; nil without an e-mail address.
  @Persisted var passwordHash: String?
  @Persisted var isConfirmed: Bool
  @Persisted var isDisabled: Bool
  @Persisted var identities: List<StoredIdentity>
  /// The text of a JSON object.
  @Persisted var customData: String?
  @Persisted var roles: List<String>
  @Persisted var createdAt: Date
  @Persisted var lastLogIn: Date?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An identity, as which a user logs in.
final class StoredIdentity: EmbeddedObject {
  @Persisted var id: String
  /// The raw value of an `Account.Provider`.
  @Persisted var provider: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  convenience init(id: String, provider: Account.Provider) {
    self.init()
    self.id = id
    self.provider = provider.rawValue
  }
}
