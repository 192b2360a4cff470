import Foundation
import RealmSwift

/// An API key, which logs in its owner.
final class StoredAPIKey: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted(indexed: true) var secretHash: String
  @Persisted(indexed: true) var ownerID: String
  @Persisted var name: String
  /// True if an administrator has made the key, and its owner with it.
  @Persisted(indexed: true) var isServerKey: Bool
  @Persisted var isDisabled: Bool
  @Persisted var createdAt: Date

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A key that signs access tokens, or has signed them.
final class StoredSigningKey: Object {
  @Persisted(primaryKey: true) var id: String
  /// The secret key: 64 bytes.
  @Persisted var secret: Data
  /// The time at which the next key took the place of this one; nil for the key that signs.
  @Persisted var retiredAt: Date?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
