public import Foundation
import RealmStorage

/// The schema version of a file: the one that it was opened with last; 0 of a file that was given none.
///
/// - Throws: `Realm.Error.fileNotFound` where there is no file, and what opening it would throw.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
  try Realm.Error.wrapping { () throws(StorageError) in
    let database = try Database(path: fileURL.path, options: .reading(encryptionKey.map { Array($0) }))
    defer { database.close() }
    return try database.snapshot().schemaVersion()
  }
}

extension Realm {
  /// Migrates a file, as opening it would, and closes it again. Does nothing where it has the version already.
  ///
  /// - Throws: `Realm.Error`: `.schemaMismatch` where it can't be done, `.alreadyOpen` where another process has the file open; what the
  ///   migration block throws. The file is as it was then.
  public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
    try autoreleasepool { _ = try open(configuration) }
  }

  private static func open(_ configuration: Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  /// Does all that a migration would do, the block included, and takes it back: tells what it would change, and what it would throw.
  ///
  /// It takes as long as the migration, and as much room in the file until it is closed. Nobody else writes meanwhile.
  ///
  /// - Throws: `Realm.Error.fileNotFound` where there is no file, `.alreadyOpen` where this process or another has it open, and what opening it would throw.
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
