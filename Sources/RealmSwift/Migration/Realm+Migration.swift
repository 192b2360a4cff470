public import Foundation
import RealmStorage

/// The schema version with which a file was last opened; 0 if it was never given one.
///
/// - Parameters:
///   - fileURL: the file of the realm.
///   - encryptionKey: the key of the file; nil if it is not encrypted.
/// - Throws: `Realm.Error.fileNotFound` if there is no file, and what opening the file would throw.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
  try Realm.Error.wrapping { () throws(StorageError) in
    let database = try Database(path: fileURL.path, options: .reading(encryptionKey.map { Array($0) }))
    defer { database.close() }
    return try database.snapshot().schemaVersion()
  }
}

extension Realm {
  /// Migrates a file as opening it would, and closes it again. It does nothing if the file fits already.
  ///
  /// - Parameter configuration: the realm, with the classes and the schema version to migrate to.
  /// - Throws: `Realm.Error.schemaMismatch` if the file can't be migrated, `Realm.Error.alreadyOpen` if another process has
  ///   the file open, what opening throws, and what the migration block throws. The file is then unchanged.
  public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
    try autoreleasepool { _ = try open(configuration) }
  }

  private static func open(_ configuration: Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  /// Runs a migration, with its block, and rolls it back. It finds what the migration would change, and which error it would
  /// throw.
  ///
  /// It takes as long as the migration, and as much space in the file until the file is closed. No one else can write to the
  /// file meanwhile.
  ///
  /// - Parameter configuration: the realm, with the classes and the schema version to migrate to.
  /// - Throws: `Realm.Error.fileNotFound` if there is no file, `Realm.Error.alreadyOpen` if this process or another has it
  ///   open, what opening throws, and what the migration block throws.
  public static func dryRunMigration(
    for configuration: Configuration = .defaultConfiguration
  ) throws -> MigrationReport {
    guard fileExists(for: configuration) else {
      throw Realm.Error(
        .fileNotFound, "\(configuration.url.path) is not there, so that nothing of it can be migrated.",
        path: configuration.url.path)
    }
    return try RealmFile.tryingMigration(configuration) { file, models in
      try file.migrationReport(models, configuration)
    }
  }
}

extension RealmFile {
  fileprivate func migrationReport(
    _ models: [ObjectModel], _ configuration: Realm.Configuration
  ) throws -> MigrationReport {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let base = try transaction.baseSnapshot()
    let update = SchemaUpdate(
      models, try base.schemas(), version: try base.schemaVersion(), configuration, path: database.path)
    var renamed: [String] = []
    let bound = try RealmSchema.bind(
      models, in: transaction, configuration, path: database.path,
      alone: { try RealmSchema.checkAlone(self.database) }
    ) { steps in
      let migrator = try Migrator(self, steps)
      let doomed = try migrator.run()
      migrator.finish()
      renamed = migrator.renamed
      return doomed
    }
    var changes = update.missing.map { "class \($0.name) was added" }
    changes += update.differences.map(\.text) + renamed
    let before = try base.schemas().map(\.name)
    let after = bound.tables.map(\.name)
    changes += before.filter { !after.contains($0) }.map { "class \($0) was deleted" }
    let names = before + after.filter { !before.contains($0) }
    return MigrationReport(
      oldSchemaVersion: update.version, newSchemaVersion: bound.version, changes: changes,
      classes: try names.map { name in
        MigrationReport.ClassCount(
          className: name, before: try base.table(name)?.count,
          after: try transaction.table(name)?.reading().count)
      })
  }
}
