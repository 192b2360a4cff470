import Foundation
import RealmStorage
import Synchronization
import Synchronization

/// What an app knows of its users, in a realm file on this device: `sync_metadata.realm`.
///
/// The file is open as long as this is there, so that other processes see it. Nothing is stored where the file can't be opened.
final class AppMetadata: Sendable {
  private let configuration: Realm.Configuration
  /// Nil where nothing is stored.
  private let hold: RealmFile.Hold?
  /// No other process had the file open when this one opened it.
  let isAlone: Bool

  /// What was stored when the app was started.
  struct Known: Sendable {
    struct Entry: Sendable {
      let id: String
      let content: UserContent
    }
    /// Those that are not removed, in the order of their first log-in.
    var users: [Entry] = []
    var removed: [Entry] = []
    var current: String?
    var device: String?
    var actions: [FileAction] = []
    /// The numbers of files that are gone, by the ids of their users.
    var gone: [String: Set<UInt64>] = [:]
  }

  // MARK: - Opening

  /// The metadata of an app. A file that can't be read is put aside, and a new one is made: users then have to log in again, and their realms stay.
  ///
  /// - Parameter key: 64 bytes; nil for the key that is kept beside the file.
  static func open(_ paths: SyncPaths, key: Data?) -> AppMetadata {
    do {
      try FileManager.default.createDirectory(
        atPath: paths.metadataFolder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: paths.metadata),
        encryptionKey: try key ?? MetadataKey.stored(at: paths.key), schemaVersion: schemaVersion,
        objectTypes: [
          StoredAppUser.self, StoredAppIdentity.self, StoredAppState.self, StoredFileAction.self,
          StoredGoneReplica.self,
        ])
      do {
        return try AppMetadata(configuration)
      } catch let error as Realm.Error where unreadable.contains(error.code) {
        try putAside(paths.metadata, configuration, error)
        return try AppMetadata(configuration)
      }
    } catch {
      Logger.shared.log(
        .error,
        "\(paths.metadata) can't be used: users have to log in again when the program starts the next time, and their realms stay. "
          + error.localizedDescription)
      return AppMetadata()
    }
  }

  /// Of the classes. It grows where properties are added.
  private static let schemaVersion: UInt64 = 1

  /// What another key, a damaged file and a file of a later version are told by.
  private static let unreadable: Set<Realm.Error.Code> = [
    .invalidDatabase, .unsupportedFileFormatVersion, .schemaMismatch, .incompatibleHistories,
  ]

  private static func putAside(
    _ path: String, _ configuration: Realm.Configuration, _ error: Realm.Error
  ) throws {
    let aside = "\(path).unreadable-\(ObjectId.generate().stringValue)"
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    // What stands beside it.
    try Realm.deleteFiles(for: configuration)
    Logger.shared.log(
      .error,
      "\(path) can't be read. It was put aside as \(aside), and a new one is made: users have to log in again, and their realms stay. "
        + error.localizedDescription)
  }

  private init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    let realm = try Realm(configuration: configuration)
    // Damage that is read later would stop the program.
    try realm.verify()
    let hold = realm.session.file.hold()
    self.hold = hold
    isAlone = !hold.file.database.isOpenElsewhere
  }

  /// Stores nothing.
  private init() {
    configuration = Realm.Configuration()
    hold = nil
    isAlone = false
  }

  // MARK: - Reading

  /// All that is stored now.
  func known() -> Known {
    guard hold != nil else { return Known() }
    do {
      let realm = try Realm(configuration: configuration)
      var known = Known()
      for user in realm.objects(StoredAppUser.self).sorted(by: \.firstLogIn) {
        let entry = Known.Entry(id: user.id, content: user.content)
        if user.isRemoved { known.removed.append(entry) } else { known.users.append(entry) }
      }
      let state = realm.object(ofType: StoredAppState.self, forPrimaryKey: StoredAppState.onlyID)
      (known.current, known.device) = (state?.currentUserID, state?.deviceID)
      for action in realm.objects(StoredFileAction.self) {
        known.actions.append(
          FileAction(path: action.path, file: Array(action.file), copy: action.copyPath))
      }
      for replica in realm.objects(StoredGoneReplica.self) {
        known.gone[replica.userID, default: []].insert(UInt64(bitPattern: Int64(replica.number)))
      }
      return known
    } catch {
      Logger.shared.log(.error, "The users of an app can't be read: \(error.localizedDescription)")
      return Known()
    }
  }

  // MARK: - Writing

  /// Stores what is known of a user now.
  func save(_ user: User) {
    write("the user \(user.id)") { realm in
      // Read in the transaction: of two threads, the one that writes later writes what is newer.
      let content = user.content.withLock { $0 }
      let known = realm.object(ofType: StoredAppUser.self, forPrimaryKey: user.id)
      let stored = known ?? StoredAppUser()
      if known == nil {
        (stored.id, stored.firstLogIn) = (user.id, Date())
        realm.add(stored)
      }
      stored.set(content)
    }
  }

  /// Forgets a removed user.
  func forget(_ id: String) {
    write("the end of the user \(id)") { realm in
      guard let stored = realm.object(ofType: StoredAppUser.self, forPrimaryKey: id), stored.isRemoved else {
        return
      }
      realm.delete(stored)
    }
  }

  func setCurrent(_ id: String?) { setState("the current user") { $0.currentUserID = id } }

  func setDevice(_ id: String) { setState("the id of the device") { $0.deviceID = id } }

  private func setState(_ what: String, _ change: (StoredAppState) -> Void) {
    write(what) { realm in
      let known = realm.object(ofType: StoredAppState.self, forPrimaryKey: StoredAppState.onlyID)
      let state = known ?? StoredAppState()
      if known == nil {
        state.id = StoredAppState.onlyID
        realm.add(state)
      }
      change(state)
    }
  }

  func add(_ action: FileAction) {
    write("the future of the file \(action.path)") { realm in
      let stored = StoredFileAction()
      (stored.path, stored.file, stored.copyPath) = (action.path, Data(action.file), action.copy)
      realm.add(stored, update: .all)
    }
  }

  func remove(_ action: FileAction) {
    write("what was done with the file \(action.path)") { realm in
      guard let stored = realm.object(ofType: StoredFileAction.self, forPrimaryKey: action.path),
        // Another file at the path may have one of its own by now.
        Array(stored.file) == action.file
      else { return }
      realm.delete(stored)
    }
  }

  /// A file of a user is gone, of which the server is to be told.
  func add(goneReplica number: UInt64, of userID: String) {
    write("a file that is gone") { realm in
      let stored = StoredGoneReplica()
      (stored.number, stored.userID) = (Int(truncatingIfNeeded: number), userID)
      realm.add(stored, update: .all)
    }
  }

  /// The server knows of it.
  func remove(goneReplica number: UInt64) {
    write("a file that is gone") { realm in
      let key = Int(truncatingIfNeeded: number)
      guard let stored = realm.object(ofType: StoredGoneReplica.self, forPrimaryKey: key) else { return }
      realm.delete(stored)
    }
  }

  private func write(_ what: String, _ body: (Realm) -> Void) {
    guard hold != nil else { return }
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { body(realm) }
    } catch {
      Logger.shared.log(
        .error, "The metadata of an app could not be written, with \(what): \(error.localizedDescription)")
    }
  }
}
