import Foundation
import RealmSwift

/// A refresh token. Each log-in makes one, with a session of its own. Linking an identity makes one more in the
/// existing session.
final class StoredSession: Object {
  /// The hash of the token's secret.
  @Persisted(primaryKey: true) var secretHash: String
  @Persisted(indexed: true) var sessionID: String
  @Persisted(indexed: true) var userID: String
  /// The id of the API key that the user has logged in with; nil for other ways to log in.
  @Persisted(indexed: true) var keyID: String?
  @Persisted var deviceID: String
  @Persisted var deviceName: String?
  @Persisted var createdAt: Date
  @Persisted var expiresAt: Date

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A token that was sent to a user.
final class StoredMessageToken: Object {
  /// The id of the token. It is told together with the secret, so that the token can be found.
  @Persisted(primaryKey: true) var id: String
  @Persisted var secretHash: String
  @Persisted(indexed: true) var userID: String
  /// The raw value of a `Message.Kind`.
  @Persisted var kind: String
  @Persisted var expiresAt: Date

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
