import Foundation
import RealmStorage

extension RealmSchema {
  /// The tables that classes were bound to, and the schema version that the file has with them.
  struct Bound {
    var tables: [TableSchema]
    var version: UInt64
  }

  /// Changes the objects of a file that was made for classes of an earlier version, in a transaction in which the tables have what the classes ask for, and what they
  /// had, too. Answers the names of tables that are to go, which are empty.
  typealias Migrate = (_ steps: SchemaSteps) throws -> Set<String>

  /// Compares classes with the tables of a database, and makes what is missing. Answers the tables there are then.
  ///
  /// - Parameter isFirst: no realm of the database is open yet.
  /// - Throws: `Realm.Error.schemaMismatch` where a table differs from its class; what `migrate` throws.
  static func bind(
    _ models: [ObjectModel], to database: Database, _ configuration: Realm.Configuration, isFirst: Bool,
    migrate: Migrate
  ) throws -> Bound {
    // This is told before the schema is read, so that a process that migrates meanwhile learns of this one.
    database.setReliesOnSchema(true)
    let (found, update) = try Realm.Error.wrapping { () throws(StorageError) in
      let snapshot = try database.snapshot()
      let found = Bound(tables: try snapshot.schemas(), version: try snapshot.schemaVersion())
      let update = SchemaUpdate(
        models, found.tables, version: found.version, configuration, path: database.path)
      return (found, update)
    }
    try update.check()
    guard update.isNeeded else { return found }
    // A process that waits for its turn relies on no schema: another process may be faster, and bring the file to the same version.
    if isFirst { database.setReliesOnSchema(false) }
    defer { database.setReliesOnSchema(true) }
    return try database.write { transaction in
      try bind(
        models, in: transaction, configuration, path: database.path, alone: { try checkAlone(database) },
        migrate: migrate)
    }
  }

  /// - Throws: `Realm.Error.alreadyOpen` where another process relies on the classes as they were.
  static func checkAlone(_ database: Database) throws {
    var users = database.schemaUsers
    // A process that only looks whether it must migrate as well says so for a moment.
    for _ in 0..<200 where !users.isEmpty {
      Thread.sleep(forTimeInterval: 0.0025)
      users = database.schemaUsers
    }
    guard !users.isEmpty else { return }
    let names = users.map { $0 == 0 ? "one in another container" : "\($0)" }.joined(separator: ", ")
    throw Realm.Error(
      .alreadyOpen,
      "\(database.path) is to be migrated, and is open in \(users.count == 1 ? "another process" : "other processes"): \(names). "
        + "End \(users.count == 1 ? "it" : "them"), and open the realm again.", path: database.path)
  }

  /// Compares classes with the tables that a transaction sees, and makes what is missing. The transaction may be a program's own.
  ///
  /// - Parameter alone: throws where another process relies on the schema as it was; asked before a migration that does more than add, and behind it.
  static func bind(
    _ models: [ObjectModel], in transaction: WriteTransaction, _ configuration: Realm.Configuration,
    path: String, alone: () throws -> Void = {}, migrate: Migrate = { _ in [] }
  ) throws -> Bound {
    let tables = try transaction.schemas()
    let update = SchemaUpdate(
      models, tables, version: try transaction.schemaVersion(), configuration, path: path)
    try update.check()
    let steps = SchemaSteps(update: update, transaction: transaction)
    if update.isMoreThanAdding { try alone() }
    let unreadable = try steps.prepare()
    let doomed = update.migrates ? try migrate(steps) : []
    try steps.checkReadable(unreadable)
    try steps.finish(dropping: doomed)
    if update.isMoreThanAdding { try alone() }
    if !configuration.keepsSchema {
      try transaction.setSchemaVersion(max(configuration.schemaVersion, transaction.schemaVersion()))
    }
    return Bound(tables: try transaction.schemas(), version: try transaction.schemaVersion())
  }
}
