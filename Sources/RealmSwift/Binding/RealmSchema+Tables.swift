import Foundation
import RealmStorage

extension RealmSchema {
  /// The tables to which classes were bound, and the schema version that the file then has.
  struct Bound {
    var tables: [TableSchema]
    var version: UInt64
  }

  /// Changes the objects of a file that was made for earlier versions of the classes. It runs in a transaction. The
  /// tables have the columns that the classes ask for, and still have their earlier columns. The answer is the names of
  /// the tables to delete, which are empty.
  typealias Migrate = (_ steps: SchemaSteps) throws -> Set<String>

  /// Compares classes with the tables of a database, and makes what is missing.
  ///
  /// - Parameter isFirst: whether no realm of the database is open yet.
  /// - Returns: the tables that there are then.
  /// - Throws: `Realm.Error.schemaMismatch` if a table differs from its class; `Realm.Error.alreadyOpen` if another process
  ///   relies on the classes as they were; what `migrate` throws.
  static func bind(
    _ models: [ObjectModel], to database: Database, _ configuration: Realm.Configuration, isFirst: Bool,
    migrate: Migrate
  ) throws -> Bound {
    // This is set before the schema is read, so that another process that migrates meanwhile finds this process.
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
    // While a process waits for its turn it relies on no schema: another process may be faster and bring the file to the same
    // version.
    if isFirst { database.setReliesOnSchema(false) }
    defer { database.setReliesOnSchema(true) }
    return try database.write { transaction in
      try bind(
        models, in: transaction, configuration, path: database.path, alone: { try checkAlone(database) },
        migrate: migrate)
    }
  }

  /// Waits up to half a second for other processes that only look at the schema.
  ///
  /// - Throws: `Realm.Error.alreadyOpen` if another process relies on the classes as they were.
  static func checkAlone(_ database: Database) throws {
    var users = database.schemaUsers
    // A process that only checks whether it must migrate relies on the schema for a moment.
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

  /// Compares classes with the tables that a transaction sees, and makes what is missing. The transaction may be one of the
  /// program.
  ///
  /// - Parameter alone: throws if another process relies on the schema as it was. It is called before and after a migration
  ///   that does more than add.
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
