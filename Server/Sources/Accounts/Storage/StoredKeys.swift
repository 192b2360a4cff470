import Foundation
import RealmSwift

/// A key that logs in its owner.
final class StoredAPIKey: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted(indexed: true) var secretHash: String
  @Persisted(indexed: true) var ownerID: String
  @Persisted var name: String
  /// An administrator has made it, and its owner with it.
  @Persisted(indexed: true) var isServerKey: Bool
  @Persisted var isDisabled: Bool
  @Persisted var createdAt: Date

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A key that signs access tokens, or has signed them.
final class StoredSigningKey: Object {
  @Persisted(primaryKey: true) var id: String
  /// 64 bytes.
  @Persisted var secret: Data
  /// When the next key took its place; nil for the one that signs.
  @Persisted var retiredAt: Date?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
