import Foundation

// The classes of this file are left out of realms that name no classes: they stand in the file of `AppMetadata` alone.

/// A user of an app, as it is kept on this device.
final class StoredAppUser: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted var refreshToken: String
  @Persisted var accessToken: String
  /// The raw value of `RLMUserState`.
  @Persisted var state: Int
  @Persisted var identities: List<StoredAppIdentity>
  /// The text of a JSON object.
  @Persisted var profile: String
  /// As `SyncPaths` stores them.
  @Persisted var realmPaths: MutableSet<String>
  @Persisted var firstLogIn: Date

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  /// What is known of the user.
  var content: UserContent {
    var content = UserContent()
    content.realmPaths = Set(realmPaths)
    content.identities = identities.map {
      RLMUserIdentity(userIdentityWithProviderType: $0.provider, identifier: $0.id)
    }
    content.profile = (try? ExtendedJSON.read(Data(profile.utf8)))?.documentValue ?? [:]
    if isRemoved {
      content.state = .removed
    } else if let access = AccessToken(accessToken), !refreshToken.isEmpty {
      (content.access, content.refreshToken, content.state) = (access, refreshToken, .loggedIn)
    }
    return content
  }

  var isRemoved: Bool { state == Int(RLMUserState.removed.rawValue) }

  /// Paths are added only: what a removed user of the same id had is still to be found.
  func set(_ content: UserContent) {
    refreshToken = content.refreshToken
    accessToken = content.access?.text ?? ""
    state = Int(content.state.rawValue)
    profile = ExtendedJSON.text(.document(content.profile))
    identities.removeAll()
    for identity in content.identities {
      let stored = StoredAppIdentity()
      (stored.id, stored.provider) = (identity.identifier, identity.providerType)
      identities.append(stored)
    }
    for path in content.realmPaths { realmPaths.insert(path) }
  }
}

/// A way in which a user can log in.
final class StoredAppIdentity: EmbeddedObject {
  @Persisted var id: String
  @Persisted var provider: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What is known of an app. There is one object.
final class StoredAppState: Object {
  static let onlyID = 0

  @Persisted(primaryKey: true) var id: Int
  @Persisted var currentUserID: String?
  @Persisted var deviceID: String?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What is to be done with a file when the app is started the next time.
final class StoredFileAction: Object {
  /// As `SyncPaths` stores it.
  @Persisted(primaryKey: true) var path: String
  /// As `FileAction` has it.
  @Persisted var file: Data
  /// Where the file is to be put, as `SyncPaths` stores it; nil for a file that is to be deleted.
  @Persisted var copyPath: String?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A file of a user that is gone, and that the server was not told of yet.
final class StoredGoneReplica: Object {
  /// The number by which the server knows the file, as the same 64 bits.
  @Persisted(primaryKey: true) var number: Int
  @Persisted var userID: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
