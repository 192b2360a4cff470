import Foundation
import RealmStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What is to be done with a realm file when the app is started the next time, as nobody has it open then.
struct FileAction: Sendable, Equatable {
  var path: String
  /// The file that is meant, by what `Database.fileID(path:)` answers: another one that comes to the path later is left alone.
  var file: [UInt8]
  /// Where the file is put; nil for one that is deleted.
  var copy: String?

  /// The same with paths as they are stored.
  func stored(_ paths: SyncPaths) -> FileAction {
    FileAction(path: paths.stored(path), file: file, copy: copy.map { paths.stored($0) })
  }
}

/// Does what is to be done with the files of an app: those of removed users go, and what was asked for before is done.
struct FileActions {
  private let metadata: AppMetadata
  private let paths: SyncPaths

  init(_ metadata: AppMetadata, _ paths: SyncPaths) { (self.metadata, self.paths) = (metadata, paths) }

  /// Does all of it. What can't be done now is done another time.
  func run() {
    let known = metadata.known()
    for action in known.actions { perform(action) }
    for user in known.removed { removeFiles(user, known) }
  }

  /// Does what was asked for a file, unless somebody has it open; answers whether it is done.
  ///
  /// - Parameter action: as it is stored.
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
      // The session that has asked for it may be all that has the file open.
      RealmFile.endIdleSync(Realm.Configuration(fileURL: URL(fileURLWithPath: path)))
      RealmFile.waitUntilClosed(path)
    }
    guard let copy = action.copy else { return delete(path) }
    return putAside(path, as: paths.path(ofStored: copy), "as was asked for")
  }

  // MARK: - Removed users

  private func removeFiles(_ user: AppMetadata.Known.Entry, _ known: AppMetadata.Known) {
    let folder = paths.folder(of: user.id)
    // Also what was configured while the users could not be stored.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let found = names.filter { $0.hasSuffix(".realm") }.map { "\(folder)/\($0)" }
    // The program may have given the path of a file of its own choice to another user since.
    let others = Set(known.users.flatMap(\.content.realmPaths))
    let noted = user.content.realmPaths.subtracting(others).map { paths.path(ofStored: $0) }
    // All of them are tried, also where one can't be removed.
    let left = Set(found + noted).sorted().filter { !remove($0) }
    guard left.isEmpty else { return }
    // A folder in which something else is stays.
    rmdir(folder)
    metadata.forget(user.id)
    Logger.shared.log(.info, "The files of the removed user \(user.id) are gone.")
  }

  /// What is known of changes that no server has.
  private enum Unsynced {
    case none
    /// There are some, or nobody can tell; and why.
    case some(String)
    /// The file can't be touched now; and why.
    case busy(String)
    case noRealm
    /// It is a realm that is not synced: not the file that was, but another at its place.
    case local
  }

  /// Whether nothing is left of the file.
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

  /// Looks into a file for changes that no server has.
  private func unsynced(_ path: String, key: [UInt8]? = nil) -> Unsynced {
    do throws(StorageError) {
      // Also of a file that can't be read without its key.
      if try Database.isOpen(path: path) { return .busy("it is open") }
      let database = try Database(path: path, options: .reading(key))
      defer { database.close() }
      if database.isOpenElsewhere { return .busy("it is open") }
      // The file is let go of when no version of it is read any more.
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

  /// How many changes no server has; nil of a file that is not synced.
  private func pending(_ database: Database) throws(StorageError) -> Int? {
    let snapshot = try database.snapshot()
    return try snapshot.changelog()?.count(snapshot)
  }

  // MARK: - Files

  /// Whether nothing is left of the file.
  private func delete(_ path: String) -> Bool {
    do {
      // What no server has was looked for before, or is to go with the file.
      _ = try RealmFile.delete(
        Realm.Configuration(fileURL: URL(fileURLWithPath: path)), losesUnsynced: true)
      return true
    } catch {
      return isLeft(path, error.localizedDescription)
    }
  }

  /// Whether the file is at the other path now, or is not there.
  private func putAside(_ path: String, as copy: String, _ why: String) -> Bool {
    guard FileManager.default.fileExists(atPath: path) else { return delete(path) }
    if case .busy(let why) = unsynced(path) { return isLeft(path, why) }
    do { try move(path, to: copy, why) } catch { return isLeft(path, error.localizedDescription) }
    // What stands beside it.
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

  /// Puts a file aside that the app deletes, if it has changes that no server has. What stands beside it is left to who deletes it.
  ///
  /// - Throws: `Realm.Error.alreadyOpen` where somebody has it open, who may write; what the system says where it can't be moved. Then it is not to be deleted.
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
