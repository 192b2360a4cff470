import Foundation
import RealmStorage
import RealmSyncClient

extension SyncConfiguration {
  func copy(_ realm: Realm, to configuration: Realm.Configuration) throws {
    try SyncedCopy(realm, configuration).write()
  }
}

/// Copies a realm for another configuration, if the realm or the copy is synced.
struct SyncedCopy {
  private let realm: Realm
  private let configuration: Realm.Configuration
  private var session: RealmSession { realm.session }
  /// The path of the realm.
  private var origin: String { session.file.database.path }
  private var path: String { configuration.url.path }
  private var key: [UInt8]? { configuration.encryptionKey.map { Array($0) } }

  init(_ realm: Realm, _ configuration: Realm.Configuration) {
    (self.realm, self.configuration) = (realm, configuration)
  }

  /// - Throws: `Realm.Error`.
  func write() throws {
    if realm.isInWriteTransaction {
      raise(
        "Write transaction",
        "\(origin) is copied by writeCopy(configuration:) in a write transaction, and one of the two realms is synced: what the "
          + "transaction has changed would not be copied. Commit it before.")
    }
    do {
      switch (session.file.configuration.syncConfiguration, configuration.syncConfiguration) {
      case (let source?, let target?): try writeClient(source, target)
      case (nil, _?): try writeSynced()
      default: try writeLocal()
      }
    } catch {
      Logger.shared.log(.error, "\(origin) was not copied to \(path): \(error.localizedDescription)")
      throw error
    }
    Logger.shared.log(.info, "\(origin) was copied to \(path).")
  }

  /// The version of the file that the realm reads.
  private func currentVersion() throws -> Snapshot {
    try Realm.Error.wrapping { () throws(StorageError) in try session.currentSnapshot() }
  }

  // MARK: - From sync to sync

  private func writeClient(_ source: SyncConfiguration, _ target: SyncConfiguration) throws {
    guard source.user.app === target.user.app, source.partitionValue == target.partitionValue else {
      raise(
        "Invalid configuration",
        "\(origin) can't be copied for a realm that has other objects: those of another app or partition, or those that it "
          + "subscribes to in place of a partition. Open such a realm, and create the objects in it.")
    }
    let version = try newestVersion()
    let hasPending = try Realm.Error.wrapping { () throws(StorageError) in
      try ClientCopy.hasPending(version)
    }
    guard !hasPending else {
      throw Realm.Error(
        .fail,
        "\(origin) has changes that its server has not integrated, and a copy for another user or device can't have them: wait "
          + "by syncSession.wait(for: .upload) until it has, and copy the realm then.", path: origin)
    }
    try Realm.Error.wrapping { () throws(StorageError) in
      try ClientCopy.write(version, to: path, like: origin, encryptionKey: key)
    }
  }

  /// The newest version of the file; for a frozen realm, the version that it reads. A live realm may not have moved yet
  /// to the version in which all changes are uploaded.
  private func newestVersion() throws -> Snapshot {
    if session.isFrozen { return try currentVersion() }
    return try Realm.Error.wrapping { () throws(StorageError) in try session.file.database.snapshot() }
  }

  // MARK: - To sync

  private func writeSynced() throws {
    let version = try currentVersion()
    let left = try unusedTables(version)
    try Realm.Error.wrapping { () throws(StorageError) in
      try RecordedCopy.writeSynced(version, to: path, like: origin, encryptionKey: key, leavingOut: left)
    }
  }

  /// The tables that can't be synced and need not be copied: they have no objects, and the realm has no class for them.
  ///
  /// - Throws: `Realm.Error.schemaMismatch` if another table can't be synced.
  private func unusedTables(_ version: Snapshot) throws -> Set<String> {
    let classes = Set(realm.classes.bindings.map(\.model.name))
    let tables = try Realm.Error.wrapping { () throws(StorageError) in
      var found: [(name: String, count: Int, problem: SyncProblem)] = []
      for schema in try version.schemas() {
        guard let problem = schema.syncProblem else { continue }
        let count = try version.table(schema.name)?.count ?? 0
        found.append((schema.name, count, problem))
      }
      return found
    }
    if let table = tables.first(where: { classes.contains($0.name) || $0.count > 0 }) {
      throw Realm.Error(
        .schemaMismatch,
        "\(origin) can't be copied for a realm that is synced, since \(table.name) can't be synced: \(table.problem.rawValue).",
        path: origin)
    }
    return Set(tables.map { $0.name })
  }

  // MARK: - From sync

  private func writeLocal() throws {
    let source = try currentVersion()
    let names = propertyNames()
    try Realm.Error.wrapping { () throws(StorageError) in
      let partition = try ClientCopy.partitionProperty(of: source)
      let schemaVersion = try source.schemaVersion()
      try RecordedCopy.writeLocal(
        source, to: path, like: origin, encryptionKey: key,
        schemaVersion: min(schemaVersion, configuration.schemaVersion)
      ) { table in
        table.properties.filter { column in
          // Neither realm has a class for the table; it may belong to another class of the program.
          column.index == .unique || names[table.name]?.contains(column.name) ?? (column.name != partition)
        }
      }
    }
  }

  /// The stored names of properties, by the names of classes: those of the realm's classes, and those that the configuration
  /// names.
  private func propertyNames() -> [String: Set<String>] {
    let named = configuration.objectTypes.map { RealmSchema.models($0) } ?? []
    var names: [String: Set<String>] = [:]
    for model in realm.classes.bindings.map(\.model) + named {
      let stored = model.properties.filter { !$0.isComputed }.map(\.columnName)
      names[model.name, default: []].formUnion(stored)
    }
    return names
  }
}

extension TableSchema {
  /// Why the objects of the table can't be synced; nil if they can.
  fileprivate var syncProblem: SyncProblem? {
    if isEmbedded { return nil }
    guard let key = primaryKey else { return .noPrimaryKey }
    return [.int64, .string, .uuid, .objectID].contains(key.type) ? nil : .primaryKeyType
  }
}
