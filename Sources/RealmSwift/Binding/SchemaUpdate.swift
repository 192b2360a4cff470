import RealmStorage

/// The changes by which the tables of a file come to fit the classes of a program, and whether they are allowed.
struct SchemaUpdate {
  let configuration: Realm.Configuration
  let path: String
  let models: [ObjectModel]
  private let hasTables: Bool
  /// The schema version of the file.
  let version: UInt64

  /// The classes that have no table.
  private(set) var missing: [ObjectModel] = []
  /// Whether a column is to get another index.
  private var isReindexed = false
  /// The other differences. They are removed only if the schema version is raised.
  private(set) var differences: [SchemaDifference] = []

  init(
    _ models: [ObjectModel], _ tables: [TableSchema], version: UInt64, _ configuration: Realm.Configuration,
    path: String
  ) {
    self.models = models
    hasTables = !tables.isEmpty
    self.version = version
    self.configuration = configuration
    self.path = path
    for model in models {
      guard let table = tables.first(where: { $0.name == model.name }) else {
        missing.append(model)
        continue
      }
      var found = SchemaDifference.all(model.schema, ClassSchema(table, among: tables))
      // Other devices may still have removed properties, or null in properties that became required.
      if isSynced { found.removeAll { $0.kind == .removed || $0.kind == .becameRequired } }
      differences += found
      isReindexed =
        isReindexed
        || model.schema.stored.contains { property in
          table.columns.contains { $0.name == property.columnName && $0.index != property.index }
        }
    }
  }

  /// Whether no program has set up the file yet.
  private var isNew: Bool { !hasTables && version == 0 }
  private var isNewer: Bool {
    configuration.schemaVersion > version && !isSynced && !configuration.keepsSchema
  }
  /// Whether the file is synced. Classes and properties are then added without a schema version, and none is removed or
  /// changed.
  var isSynced: Bool { configuration.syncing != nil }

  /// Whether the tables are to be changed, or the schema version.
  var isNeeded: Bool {
    // A synced realm is read through the tables that are known when the file is opened, so these are made before the server
    // sends anything.
    if isReadOnly { return isSynced && !missing.isEmpty }
    return !missing.isEmpty || !differences.isEmpty || isReindexed || isNewer
  }

  /// Whether nothing of the file may be changed.
  var isReadOnly: Bool { configuration.readOnly }

  /// Whether the file is migrated, because it was made for earlier versions of the classes.
  var migrates: Bool { isNewer && !isNew }

  /// Whether the update changes or removes something, or a migration block may. A process with the old classes can't continue
  /// then.
  var isMoreThanAdding: Bool {
    migrates
      && (configuration.migrationBlock != nil || differences.contains { $0.kind != .added || $0.isOfKey })
  }

  /// Checks whether the file can be made to fit.
  ///
  /// - Throws: `Realm.Error.schemaMismatch` if it can't.
  func check() throws {
    if isSynced { return try checkSynced() }
    if isNew || configuration.keepsSchema { return }
    guard configuration.schemaVersion >= version else {
      throw mismatch(
        "\(path) has schema version \(version), and \(configuration.schemaVersion) is asked for: a newer program has changed "
          + "it. Set schemaVersion to \(version) at least, with the classes of that version.")
    }
    if configuration.readOnly {
      let unreadable = differences.filter { !$0.canBeReadOver }
      if !unreadable.isEmpty { throw mismatch(words(unreadable) + advice(toRead: unreadable)) }
      return
    }
    // Both are done by a migration, or by making the file anew.
    let isChanged = !differences.isEmpty || isNewer
    let mustDelete = isChanged && configuration.deleteRealmIfMigrationNeeded
    if mustDelete || (!differences.isEmpty && !isNewer) {
      throw mismatch(words(differences) + advice)
    }
  }

  private func checkSynced() throws {
    let changed = differences.filter { !$0.canBeSynced }
    guard changed.isEmpty else {
      throw mismatch(
        "The classes do not fit the tables of \(path), which is synced:\n"
          + changed.map { "- \($0.text)\n" }.joined()
          + "What other devices have can't be changed: undo these changes, or give the property a new name.")
    }
    let added = differences.filter { $0.kind == .added }
    if configuration.readOnly, !added.isEmpty { throw mismatch(words(added) + advice(toRead: added)) }
  }

  private func words(_ differences: [SchemaDifference]) -> String {
    guard !differences.isEmpty else {
      return "\(path) has schema version \(version), and \(configuration.schemaVersion) is asked for."
    }
    return
      "The classes do not fit the tables of \(path), which has schema version \(version), and migrating is needed:\n"
      + differences.map { "- \($0.text)\n" }.joined()
  }

  private func advice(toRead differences: [SchemaDifference]) -> String {
    "A realm that is only read can't be changed to fit: open it once without readOnly and with a schemaVersion above "
      + "\(version), or declare the properties as the file has them. Properties that only the file has are passed over."
  }

  private var advice: String {
    "The file is changed to fit when schemaVersion is above the file's: "
      + (isNewer
        ? "it is \(configuration.schemaVersion)." : "increase it from \(configuration.schemaVersion).")
      + " A migrationBlock gives the objects what the change can't know."
  }

  func mismatch(_ message: String) -> Realm.Error {
    Realm.Error(.schemaMismatch, message, path: path)
  }
}
