import Foundation

// A realm whose configuration names no classes leaves out the classes of this file. Only the file of `AppMetadata` has them.

/// What is stored on this device about a user of an app.
final class StoredAppUser: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted var refreshToken: String
  @Persisted var accessToken: String
  /// The raw value of `RLMUserState`.
  @Persisted var state: Int
  @Persisted var identities: List<StoredAppIdentity>
  /// The text of a JSON object.
  @Persisted var profile: String
  /// The paths of the user's files, in the form in which `SyncPaths` stores them.
  @Persisted var realmPaths: MutableSet<String>
  @Persisted var firstLogIn: Date

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  /// The stored state of the user.
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

  /// Stores the state of the user. Paths are only added: the files of a removed user with the same id must still be found.
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

/// The state of an app. The file has one object of this class.
final class StoredAppState: Object {
  static let onlyID = 0

  @Persisted(primaryKey: true) var id: Int
  @Persisted var currentUserID: String?
  @Persisted var deviceID: String?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An action that waits for a file until the app is started the next time; see `FileAction`.
final class StoredFileAction: Object {
  /// The path of the file, in the form in which `SyncPaths` stores it.
  @Persisted(primaryKey: true) var path: String
  /// The id of the file, as in `FileAction.file`.
  @Persisted var file: Data
  /// The path to which the file is moved, in the form in which `SyncPaths` stores it; nil if the file is deleted.
  @Persisted var copyPath: String?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A deleted file of a user that has not been reported to the server yet.
final class StoredGoneReplica: Object {
  /// The server's number for the file; the bits of the unsigned number.
  @Persisted(primaryKey: true) var number: Int
  @Persisted var userID: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
