import Foundation
import RealmStorage
import Synchronization

/// Stores what an app knows of its users, in a realm file on this device: `sync_metadata.realm`.
///
/// The file stays open as long as this object exists, so that other processes can see that the app is in use. If the file can't
/// be opened, nothing is stored.
final class AppMetadata: Sendable {
  private let configuration: Realm.Configuration
  /// Keeps the file open; nil if nothing is stored.
  private let hold: RealmFile.Hold?
  /// Whether no other process had the file open when this one opened it.
  let isAlone: Bool

  /// The content of the file.
  struct Known: Sendable {
    struct Entry: Sendable {
      let id: String
      let content: UserContent
    }
    /// The users that are not removed, in the order of their first log-in.
    var users: [Entry] = []
    var removed: [Entry] = []
    var current: String?
    var device: String?
    var actions: [FileAction] = []
    /// The numbers of deleted files of which the server has not been told yet, by the ids of their users.
    var gone: [String: Set<UInt64>] = [:]
  }

  // MARK: - Opening

  /// Opens the metadata of an app. A file that can't be read is renamed, and a new one is made: users then have to log in again,
  /// and their realms stay.
  ///
  /// - Parameter key: 64 bytes; nil for the key that is kept in a file beside this one.
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

  /// The schema version of the file. It grows by one when properties are added to the stored classes.
  private static let schemaVersion: UInt64 = 1

  /// The errors of a file that has another key, is damaged, or was written by a later version of this library.
  private static let unreadable: Set<Realm.Error.Code> = [
    .invalidDatabase, .unsupportedFileFormatVersion, .schemaMismatch, .incompatibleHistories,
  ]

  private static func putAside(
    _ path: String, _ configuration: Realm.Configuration, _ error: Realm.Error
  ) throws {
    let aside = "\(path).unreadable-\(ObjectId.generate().stringValue)"
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    // Deletes the other files that belong to the moved one.
    try Realm.deleteFiles(for: configuration)
    Logger.shared.log(
      .error,
      "\(path) can't be read. It was put aside as \(aside), and a new one is made: users have to log in again, and their realms stay. "
        + error.localizedDescription)
  }

  private init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    let realm = try Realm(configuration: configuration)
    // Reading damaged data later would stop the program.
    try realm.verify()
    let hold = realm.session.file.hold()
    self.hold = hold
    isAlone = !hold.file.database.isOpenElsewhere
  }

  /// Makes an object that stores nothing.
  private init() {
    configuration = Realm.Configuration()
    hold = nil
    isAlone = false
  }

  // MARK: - Reading

  /// Reads everything that is stored now; nothing if the file can't be read, which is logged.
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

  /// Stores the present state of a user.
  func save(_ user: User) {
    write("the user \(user.id)") { realm in
      // The state is read inside the transaction. So if two threads save a user, the one that writes later stores the newer
      // state.
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

  /// Deletes what is stored about a user, if the user is removed.
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
        // Another file at the same path may have an action of its own by now.
        Array(stored.file) == action.file
      else { return }
      realm.delete(stored)
    }
  }

  /// Stores that a synced file of a user is gone, so that the server can be told later.
  func add(goneReplica number: UInt64, of userID: String) {
    write("a file that is gone") { realm in
      let stored = StoredGoneReplica()
      (stored.number, stored.userID) = (Int(truncatingIfNeeded: number), userID)
      realm.add(stored, update: .all)
    }
  }

  /// Deletes the entry of a file that is gone, since the server knows of it now.
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
