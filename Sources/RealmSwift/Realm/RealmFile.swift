import Foundation
import RealmStorage
import Synchronization

/// A realm that is open in this process, shared by all threads that use it.
final class RealmFile: Sendable {
  let database: Database
  let schema: RealmSchema
  /// As it was opened first.
  let configuration: Realm.Configuration
  private let place: String
  private let sessions = Mutex<[Confinement: WeakSession]>([:])

  private final class WeakSession: @unchecked Sendable {
    // Sendable: it is looked at under the lock, and what it refers to is used by the one it belongs to only.
    weak var life: SessionLife?
    let id: ObjectIdentifier

    init(_ life: SessionLife) {
      self.life = life
      id = ObjectIdentifier(life.session)
    }
  }

  private init(_ configuration: Realm.Configuration, place: String, _ models: [ObjectModel]) throws {
    self.configuration = configuration
    self.place = place
    do {
      (database, schema) = try Self.opened(configuration, models)
    } catch let error as Realm.Error
      where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded
    {
      Logger.shared.log(.warn, "\(place) is made anew, with nothing in it: \(error.localizedDescription)")
      try Self.removeFiles(configuration)
      // The seed may be what does not fit.
      var empty = configuration
      empty.seedFilePath = nil
      (database, schema) = try Self.opened(empty, models)
    }
  }

  private static func opened(
    _ configuration: Realm.Configuration, _ models: [ObjectModel]
  ) throws -> (Database, RealmSchema) {
    let database = try open(configuration)
    do {
      return (database, try RealmSchema.bind(models, to: database, configuration))
    } catch {
      database.close()
      throw (error as? StorageError).map { Realm.Error($0) } ?? error
    }
  }

  private static func open(_ configuration: Realm.Configuration) throws -> Database {
    if let name = configuration.inMemoryIdentifier {
      return try Realm.Error.wrapping { () throws(StorageError) in try Database(inMemory: name) }
    }
    try SeedFile.copy(configuration)
    let url = configuration.url
    if url == Realm.Configuration.defaultFileURL, !configuration.readOnly {
      try? FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    let options = Database.Options(
      encryptionKey: configuration.encryptionKey.map { Array($0) }, isReadOnly: configuration.readOnly)
    return try Realm.Error.wrapping { () throws(StorageError) in
      let database = try Database(path: url.path, options: options)
      if let version = database.fellBackTo {
        Logger.shared.log(
          .warn, "\(url.path) was opened at version \(version): a later one was not whole, as after a crash.")
      }
      guard try shouldCompact(database, configuration) else { return database }
      database.close()
      let isDone = try Database.compact(path: url.path, options: options)
      Logger.shared.log(.info, "\(url.path) \(isDone ? "was" : "is in use elsewhere and was not") compacted.")
      return try Database(path: url.path, options: options)
    }
  }

  /// Asks the program, where there is anything to gain.
  private static func shouldCompact(
    _ database: Database, _ configuration: Realm.Configuration
  ) throws(StorageError) -> Bool {
    guard let ask = configuration.shouldCompactOnLaunch, !database.isOpenElsewhere else { return false }
    let report = try database.storageReport()
    guard report.liveBytes < report.fileBytes else { return false }
    return ask(Int(clamping: report.fileBytes), Int(clamping: report.liveBytes))
  }

  // MARK: - Sharing

  private struct Open {
    var file: RealmFile
    var sessions: Int
  }
  private static let open = Mutex<[String: Open]>([:])

  /// The session of whoever asks: one for each thread or queue that uses a realm.
  ///
  /// - Throws: `Realm.Error`.
  static func session(_ configuration: Realm.Configuration, _ owner: Confinement) throws -> SessionLife {
    configuration.checkSettings()
    let place = place(configuration)
    if let life = try open.withLock({ open in try existing(&open, place, configuration, owner) }) {
      return life
    }
    // Not under the lock: it runs initializers of the classes, and stops the program where they can't be stored.
    let models = RealmSchema.models(configuration.objectTypes)
    return try open.withLock { open in
      if let life = try existing(&open, place, configuration, owner) { return life }
      let file = try RealmFile(configuration, place: place, models)
      Logger.shared.log(
        .info, "\(place) is open at version \(file.database.version), with \(models.count) classes.")
      open[place] = Open(file: file, sessions: 1)
      return file.newSession(owner)
    }
  }

  /// The session in a realm that is open; nil where it is not.
  private static func existing(
    _ open: inout [String: Open], _ place: String, _ configuration: Realm.Configuration, _ owner: Confinement
  ) throws -> SessionLife? {
    guard let found = open[place] else { return nil }
    try found.file.check(configuration)
    if let life = found.file.sessions.withLock({ $0[owner]?.life }) { return life }
    open[place]?.sessions += 1
    return found.file.newSession(owner)
  }

  private func newSession(_ owner: Confinement) -> SessionLife {
    let life = SessionLife(RealmSession(file: self, owner: owner))
    let entry = WeakSession(life)
    sessions.withLock { $0[owner] = entry }
    return life
  }

  /// A session has ended. With the last the file is closed, before anyone can open it again.
  func leave(_ owner: Confinement, _ id: ObjectIdentifier) {
    Self.open.withLock { open in
      sessions.withLock { if $0[owner]?.id == id { $0[owner] = nil } }
      guard var entry = open[place] else { return }
      entry.sessions -= 1
      open[place] = entry.sessions > 0 ? entry : nil
      if entry.sessions == 0 {
        database.close()
        Logger.shared.log(.detail, "\(place) is closed.")
      }
    }
  }

  /// - Throws: `Realm.Error`.
  static func delete(_ configuration: Realm.Configuration) throws -> Bool {
    let place = place(configuration)
    return try open.withLock { open in
      guard open[place] == nil else {
        throw Realm.Error(
          .alreadyOpen, "\(place) is open in this process: let go of its realms and objects first.",
          path: configuration.fileURL?.path)
      }
      return try removeFiles(configuration)
    }
  }

  @discardableResult
  private static func removeFiles(_ configuration: Realm.Configuration) throws -> Bool {
    guard configuration.inMemoryIdentifier == nil else { return false }
    let path = configuration.url.path
    return try Realm.Error.wrapping { () throws(StorageError) in try Database.removeFiles(path: path) }
  }

  private static func place(_ configuration: Realm.Configuration) -> String {
    if let name = configuration.inMemoryIdentifier { return "memory:\(name)" }
    return resolved(configuration.url.standardizedFileURL).path
  }

  /// Without symbolic links, also where the file, or the folder it is to be in, is not there yet.
  private static func resolved(_ url: URL) -> URL {
    let parent = url.deletingLastPathComponent()
    if parent.path == url.path || FileManager.default.fileExists(atPath: url.path) {
      return url.resolvingSymlinksInPath()
    }
    return resolved(parent).appendingPathComponent(url.lastPathComponent)
  }

  private func check(_ other: Realm.Configuration) throws {
    let path = other.fileURL?.path
    if other.encryptionKey != configuration.encryptionKey {
      throw Realm.Error(.invalidDatabase, "\(place) is open with another encryption key.", path: path)
    }
    if other.readOnly != configuration.readOnly {
      throw Realm.Error(
        .alreadyOpen, "\(place) is open with readOnly = \(configuration.readOnly); open it in the same way.",
        path: path)
    }
  }
}
