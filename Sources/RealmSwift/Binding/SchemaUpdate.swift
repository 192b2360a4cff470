import RealmStorage

/// The changes by which the tables of a file come to fit the classes of a program, and whether they are allowed.
struct SchemaUpdate {
  let configuration: Realm.Configuration
  let path: String
  let models: [ObjectModel]
  private let hasTables: Bool
  /// The file's.
  let version: UInt64

  /// Classes that have no table.
  private(set) var missing: [ObjectModel] = []
  /// Some columns are to have another index.
  private var isReindexed = false
  /// What else differs. None of these is made unless the schema version is raised.
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
      // Other devices may have them, or have null in them.
      if isSynced { found.removeAll { $0.kind == .removed || $0.kind == .becameRequired } }
      differences += found
      isReindexed =
        isReindexed
        || model.schema.stored.contains { property in
          table.columns.contains { $0.name == property.columnName && $0.index != property.index }
        }
    }
  }

  /// No program has set up the file yet.
  private var isNew: Bool { !hasTables && version == 0 }
  private var isNewer: Bool {
    configuration.schemaVersion > version && !isSynced && !configuration.keepsSchema
  }
  /// Classes and properties are added without a version, and none is taken away or changed.
  var isSynced: Bool { configuration.syncing != nil }

  /// The tables are to be changed, or the version that is noted with them.
  var isNeeded: Bool {
    // What comes from a server later is read in tables that are known when the file is opened.
    if isReadOnly { return isSynced && !missing.isEmpty }
    return !missing.isEmpty || !differences.isEmpty || isReindexed || isNewer
  }

  /// Of what the file has, nothing is changed.
  var isReadOnly: Bool { configuration.readOnly }

  /// The file is migrated: it was made for classes of an earlier version.
  var migrates: Bool { isNewer && !isNew }

  /// The update changes or takes away something, or a block may: a process with the old classes can't go on then.
  var isMoreThanAdding: Bool {
    migrates
      && (configuration.migrationBlock != nil || differences.contains { $0.kind != .added || $0.isOfKey })
  }

  /// Whether the file can be brought to fit.
  ///
  /// - Throws: `Realm.Error.schemaMismatch`.
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
    // Both are done by a migration, or by a new file.
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
