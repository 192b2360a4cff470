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

  private struct WeakSession: @unchecked Sendable {
    // Sendable: what it refers to is used by the one it belongs to only.
    weak var session: RealmSession?
  }

  private init(_ configuration: Realm.Configuration, place: String) throws {
    self.configuration = configuration
    self.place = place
    let models = RealmSchema.models(configuration.objectTypes)
    let database = try Self.open(configuration)
    self.database = database
    do {
      schema = try RealmSchema.bind(models, to: database, readOnly: configuration.readOnly)
    } catch {
      database.close()
      throw (error as? StorageError).map { Realm.Error($0) } ?? error
    }
  }

  private static func open(_ configuration: Realm.Configuration) throws -> Database {
    try Realm.Error.wrapping { () throws(StorageError) in
      if let name = configuration.inMemoryIdentifier { return try Database(inMemory: name) }
      guard let url = configuration.fileURL else {
        raise("Invalid configuration", "it has neither a fileURL nor an inMemoryIdentifier; set one.")
      }
      if url == Realm.Configuration.defaultFileURL, !configuration.readOnly {
        try? FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      }
      return try Database(
        path: url.path,
        options: Database.Options(
          encryptionKey: configuration.encryptionKey.map { Array($0) }, isReadOnly: configuration.readOnly))
    }
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
  static func session(_ configuration: Realm.Configuration, _ owner: Confinement) throws -> RealmSession {
    let place = place(configuration)
    return try open.withLock { open in
      if let found = open[place] {
        try found.file.check(configuration)
        if let session = found.file.sessions.withLock({ $0[owner]?.session }) { return session }
        open[place]?.sessions += 1
        return found.file.newSession(owner)
      }
      let file = try RealmFile(configuration, place: place)
      open[place] = Open(file: file, sessions: 1)
      return file.newSession(owner)
    }
  }

  private func newSession(_ owner: Confinement) -> RealmSession {
    let session = RealmSession(file: self, owner: owner)
    nonisolated(unsafe) let made = session
    sessions.withLock { $0[owner] = WeakSession(session: made) }
    return session
  }

  /// A session has ended. With the last the file is closed, before anyone can open it again.
  func leave(_ owner: Confinement) {
    Self.open.withLock { open in
      sessions.withLock { if $0[owner]?.session == nil { $0[owner] = nil } }
      guard var entry = open[place] else { return }
      entry.sessions -= 1
      open[place] = entry.sessions > 0 ? entry : nil
      if entry.sessions == 0 { database.close() }
    }
  }

  private static func place(_ configuration: Realm.Configuration) -> String {
    if let name = configuration.inMemoryIdentifier { return "memory:\(name)" }
    return configuration.fileURL?.standardizedFileURL.resolvingSymlinksInPath().path ?? ""
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
