import Foundation
import RealmStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An action for a realm file that waits until the app is started the next time, when no program has the file open.
struct FileAction: Sendable, Equatable {
  var path: String
  /// The id of the file, as `Database.fileID(path:)` returns it. If the path has another file later, that file is left alone.
  var file: [UInt8]
  /// The path to which the file is moved; nil if it is deleted.
  var copy: String?

  /// The action with its paths in the form in which they are stored.
  func stored(_ paths: SyncPaths) -> FileAction {
    FileAction(path: paths.stored(path), file: file, copy: copy.map { paths.stored($0) })
  }
}

/// Deletes the files of removed users, and carries out the actions that were stored for files of an app.
struct FileActions {
  private let metadata: AppMetadata
  private let paths: SyncPaths

  init(_ metadata: AppMetadata, _ paths: SyncPaths) { (self.metadata, self.paths) = (metadata, paths) }

  /// Carries out all stored actions, and deletes the files of removed users. What can't be done now stays stored.
  func run() {
    let known = metadata.known()
    for action in known.actions { perform(action) }
    for user in known.removed { removeFiles(user, known) }
  }

  /// Carries out an action, unless the file is open.
  ///
  /// - Parameter action: the action with paths in the form in which they are stored.
  /// - Returns: whether it is done.
  @discardableResult
  func perform(_ action: FileAction) -> Bool {
    guard isDone(action) else { return false }
    metadata.remove(action)
    return true
  }

  /// Deletes the files of a removed user.
  func removeFiles(ofUser id: String) {
    let known = metadata.known()
    if let user = known.removed.first(where: { $0.id == id }) { removeFiles(user, known) }
  }

  private func isDone(_ action: FileAction) -> Bool {
    let path = paths.path(ofStored: action.path)
    if FileManager.default.fileExists(atPath: path) {
      do throws(StorageError) {
        guard try Database.fileID(path: path) == action.file else {
          Logger.shared.log(.info, "\(path) is another file now than the one that was to go, and stays.")
          return true
        }
      } catch {
        return isLeft(path, error.description)
      }
      // The only user of the file may be the session that has asked for the action.
      RealmFile.endIdleSync(Realm.Configuration(fileURL: URL(fileURLWithPath: path)))
      RealmFile.waitUntilClosed(path)
    }
    guard let copy = action.copy else { return delete(path) }
    return putAside(path, as: paths.path(ofStored: copy), "as was asked for")
  }

  // MARK: - Removed users

  private func removeFiles(_ user: AppMetadata.Known.Entry, _ known: AppMetadata.Known) {
    let folder = paths.folder(of: user.id)
    // The folder may also have files that were configured while the metadata could not be stored.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let found = names.filter { $0.hasSuffix(".realm") }.map { "\(folder)/\($0)" }
    // The program may have given one of the paths to another user since.
    let others = Set(known.users.flatMap(\.content.realmPaths))
    let noted = user.content.realmPaths.subtracting(others).map { paths.path(ofStored: $0) }
    // Each file is tried, even if an earlier one can't be removed.
    let left = Set(found + noted).sorted().filter { !remove($0) }
    guard left.isEmpty else { return }
    // A folder that is not empty stays.
    rmdir(folder)
    metadata.forget(user.id)
    Logger.shared.log(.info, "The files of the removed user \(user.id) are gone.")
  }

  /// Whether a file has changes that were not uploaded.
  private enum Unsynced {
    case none
    /// The file has such changes, or this can't be found out. The text says why the file is kept.
    case some(String)
    /// The file can't be touched now. The text says why.
    case busy(String)
    case noRealm
    /// The file is a realm that is not synced, so it is another file than the one of the removed user.
    case local
  }

  /// Deletes a file of a removed user, or puts it aside if it has changes that were not uploaded.
  ///
  /// - Returns: whether nothing is left to do for the file.
  private func remove(_ path: String) -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return delete(path) }
    switch unsynced(path) {
    case .none: return delete(path) && delete(path + ".fresh")
    case .some(let why): return putAside(path, as: paths.newRecovered(), why) && delete(path + ".fresh")
    case .busy(let why): return isLeft(path, why)
    case .noRealm:
      Logger.shared.log(.warn, "\(path) of a removed user is no realm file, and stays.")
      return true
    case .local:
      Logger.shared.log(.warn, "\(path) of a removed user is a realm now that is not synced, and stays.")
      return true
    }
  }

  /// Looks into a file for changes that were not uploaded.
  private func unsynced(_ path: String, key: [UInt8]? = nil) -> Unsynced {
    do throws(StorageError) {
      // This check also works for a file that can't be read without its key.
      if try Database.isOpen(path: path) { return .busy("it is open") }
      let database = try Database(path: path, options: .reading(key))
      defer { database.close() }
      if database.isOpenElsewhere { return .busy("it is open") }
      // The database closes the file when no snapshot of it is in use any more.
      guard let count = try pending(database) else { return .local }
      return count == 0 ? .none : .some("it has \(count) changes that were not uploaded")
    } catch {
      switch error {
      case .notARealmFile, .originalRealmFile: return .noRealm
      case .emptyFile: return .none
      case .keyMissing:
        return .some("it is encrypted, so that it can't be told whether all changes were uploaded")
      case .corrupted, .truncated, .unsupportedFormat, .unsupportedDraft, .unknownFeature:
        return .some("it can't be read: \(error.description)")
      default: return .busy(error.description)
      }
    }
  }

  /// The number of changesets that were not uploaded; nil if the file is not synced.
  private func pending(_ database: Database) throws(StorageError) -> Int? {
    let snapshot = try database.snapshot()
    return try snapshot.changelog()?.count(snapshot)
  }

  // MARK: - Files

  /// Deletes a file with the files beside it.
  ///
  /// - Returns: whether it is gone.
  private func delete(_ path: String) -> Bool {
    do {
      // The caller has looked for changes that were not uploaded, or wants them to be deleted with the file.
      _ = try RealmFile.delete(
        Realm.Configuration(fileURL: URL(fileURLWithPath: path)), losesUnsynced: true)
      return true
    } catch {
      return isLeft(path, error.localizedDescription)
    }
  }

  /// Moves a file to another path.
  ///
  /// - Returns: whether the file is there now, or did not exist.
  private func putAside(_ path: String, as copy: String, _ why: String) -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return delete(path) }
    if case .busy(let why) = unsynced(path) { return isLeft(path, why) }
    do { try move(path, to: copy, why) } catch { return isLeft(path, error.localizedDescription) }
    // Deletes the other files that belong to the moved one.
    return delete(path)
  }

  private func move(_ path: String, to copy: String, _ why: String) throws {
    var target = copy
    if FileManager.default.fileExists(atPath: target) { target += ".\(ObjectId.generate().stringValue)" }
    let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.moveItem(atPath: path, toPath: target)
    Logger.shared.log(.warn, "\(path) was not deleted but is kept as \(target): \(why).")
  }

  /// Moves a file that the app wants to delete to the folder of recovered realms, if the file has changes that were not uploaded.
  /// The caller deletes the files beside it.
  ///
  /// - Throws: `Realm.Error.alreadyOpen` if the file is open, `Realm.Error.fileOperationFailed` if it can't be read, and the
  ///   system's error if it can't be moved. The caller must not delete the file then.
  func keepUnsynced(_ path: String, key: [UInt8]?) throws {
    switch unsynced(path, key: key) {
    case .some(let why): try move(path, to: paths.newRecovered(), why)
    case .busy(let why):
      let isOpen = (try? Database.isOpen(path: path)) == true
      throw Realm.Error(
        isOpen ? .alreadyOpen : .fileOperationFailed, "\(path) is not deleted: \(why)", path: path)
    default: break
    }
  }

  private func isLeft(_ path: String, _ why: String) -> Bool {
    Logger.shared.log(.info, "\(path) stays until the app is started the next time: \(why)")
    return false
  }
}
