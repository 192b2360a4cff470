import RealmStorage

/// What is to be done so that the tables of a file fit the classes of a program.
struct SchemaUpdate {
  private let configuration: Realm.Configuration
  private let path: String
  private let models: [ObjectModel]
  private let hasTables: Bool
  /// The file's.
  let version: UInt64

  /// Classes that have no table.
  private(set) var missing: [ObjectModel] = []
  /// Columns that are to have another index.
  private(set) var reindexed: [(table: String, column: String, index: ColumnIndex)] = []
  /// What else differs. None of these is made unless the schema version is raised.
  private(set) var differences: [SchemaDifference] = []

  /// - Parameter rows: tells how many rows a table has, by its name.
  init(
    _ models: [ObjectModel], _ tables: [TableSchema], version: UInt64, _ configuration: Realm.Configuration,
    path: String, rows: (String) throws(StorageError) -> Int
  ) throws(StorageError) {
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
      let old = ClassSchema(table, among: tables)
      var found = SchemaDifference.all(
        model.schema, old, rows: SchemaDifference.addsKey(model.schema, old) ? try rows(table.name) : 0)
      // Other devices may have them, or have null in them.
      if isSynced { found.removeAll { $0.kind == .removed || $0.kind == .becameRequired } }
      differences += found
      let notKept = Set(found.filter { !$0.canBeMade }.map(\.column))
      for property in model.schema.properties where !notKept.contains(property.columnName) {
        guard let column = property.column,
          let old = table.columns.first(where: { $0.name == column.name }), old.index != column.index
        else { continue }
        reindexed.append((table.name, column.name, column.index))
      }
    }
  }

  /// The class whose table a difference is of.
  fileprivate func model(of difference: SchemaDifference) -> ObjectModel? {
    models.first { $0.name == difference.className }
  }

  /// No program has set up the file yet.
  private var isNew: Bool { !hasTables && version == 0 }
  private var isNewer: Bool {
    configuration.schemaVersion > version && !isSynced && !configuration.keepsSchema
  }
  /// Classes and properties are added without a version, and none is taken away or changed.
  fileprivate var isSynced: Bool { configuration.syncing != nil }

  /// The tables are to be changed, or the version that is noted with them.
  var isNeeded: Bool {
    // What comes from a server later is read in tables that are known when the file is opened.
    if isReadOnly { return isSynced && !missing.isEmpty }
    return !missing.isEmpty || !differences.isEmpty || !reindexed.isEmpty || isNewer
  }

  /// Of what the file has, nothing is changed.
  fileprivate var isReadOnly: Bool { configuration.readOnly }

  /// The program's block is to be called, as objects of an earlier version are there.
  var callsBlock: Bool { isNewer && !isNew }

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
    let cannotBeMade = differences.contains { !$0.canBeMade }
    if mustDelete || cannotBeMade || (!differences.isEmpty && !isNewer) {
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
      + differences.map { "- \($0.text)\($0.canBeMade ? "" : " (not possible yet)")\n" }.joined()
  }

  private func advice(toRead differences: [SchemaDifference]) -> String {
    let canBeMade = differences.allSatisfy { $0.canBeMade }
    return "A realm that is only read can't be changed to fit: "
      + (canBeMade ? "open it once without readOnly and with a schemaVersion above \(version), or " : "")
      + "declare the properties as the file has them. Properties that only the file has are passed over."
  }

  private var advice: String {
    let makeable =
      "Properties are added and removed, and made optional or required, when schemaVersion is above the file's: "
      + (isNewer
        ? "it is \(configuration.schemaVersion)." : "increase it from \(configuration.schemaVersion).")
    guard differences.contains(where: { !$0.canBeMade }) else { return makeable }
    return makeable
      + " Other types, other link targets, another primary key, and embedding are not possible yet: undo these changes, give "
      + "the property a new name, or write the objects to a new file."
  }

  fileprivate func mismatch(_ message: String) -> Realm.Error {
    Realm.Error(.schemaMismatch, message, path: path)
  }
}

// MARK: - Applying

extension RealmSchema {
  /// What classes were bound to.
  struct Bound {
    var tables: [TableSchema]
    var version: UInt64
  }

  /// Compares classes with the tables of a database, and makes what is missing. Answers the tables there are then.
  ///
  /// - Throws: `Realm.Error.schemaMismatch` where a table differs from its class.
  static func bind(
    _ models: [ObjectModel], to database: Database, _ configuration: Realm.Configuration
  ) throws -> Bound {
    let (found, update) = try Realm.Error.wrapping { () throws(StorageError) in
      let snapshot = try database.snapshot()
      let found = Bound(tables: try snapshot.schemas(), version: try snapshot.schemaVersion())
      let update = try SchemaUpdate(
        models, found.tables, version: found.version, configuration, path: database.path
      ) { (name) throws(StorageError) in try snapshot.table(name)?.count ?? 0 }
      return (found, update)
    }
    try update.check()
    guard update.isNeeded else { return found }
    // Another process may have been faster.
    return try database.write { try bind(models, in: $0, configuration, path: database.path) }
  }

  /// The same in a transaction, which may be a program's own.
  static func bind(
    _ models: [ObjectModel], in transaction: WriteTransaction, _ configuration: Realm.Configuration,
    path: String
  ) throws -> Bound {
    let update = try SchemaUpdate(
      models, try transaction.schemas(), version: try transaction.schemaVersion(), configuration, path: path
    ) { (name) throws(StorageError) in try transaction.table(name)?.reading().count ?? 0 }
    try update.check()
    try apply(update, in: transaction)
    if !configuration.keepsSchema {
      try transaction.setSchemaVersion(max(configuration.schemaVersion, transaction.schemaVersion()))
    }
    if update.callsBlock { configuration.migrationBlock?(Migration(), update.version) }
    return Bound(tables: try transaction.schemas(), version: try transaction.schemaVersion())
  }

  private static func apply(_ update: SchemaUpdate, in transaction: WriteTransaction) throws {
    try create(update.missing, in: transaction)
    if update.isReadOnly { return }
    var lacking: [String] = []
    for difference in update.differences {
      do {
        try make(difference, update, in: transaction)
      } catch let error as NoValue {
        lacking.append(error.property)
      }
    }
    if !lacking.isEmpty { throw update.mismatch(words(ofLacking: lacking)) }
    for (table, column, index) in update.reindexed {
      guard let table = try transaction.table(table), let position = table.position(of: column) else {
        continue
      }
      try table.setIndex(index, ofColumn: position)
    }
  }

  private static func words(ofLacking properties: [String]) -> String {
    properties.count == 1
      ? "property \(properties[0]) has no value for the objects that are in the file already: its type can't be made of zero. "
        + "Declare a value for it in the class, or make it optional."
      : "properties \(properties.joined(separator: ", ")) have no value for the objects that are in the file already: their types "
        + "can't be made of zero. Declare values for them in their classes, or make them optional."
  }

  private static func make(
    _ change: SchemaDifference, _ update: SchemaUpdate, in transaction: WriteTransaction
  ) throws {
    guard let model = update.model(of: change), let table = try transaction.table(model.name) else { return }
    let property = model.properties.first { !$0.isComputed && $0.columnName == change.column }
    if change.kind == .added {
      if let property { try add(property, to: model, in: transaction) }
      return
    }
    guard let position = table.position(of: change.column) else { return }
    switch change.kind {
    case .removed: try table.dropColumn(position)
    case .becameOptional:
      try table.setOptional(true, ofColumn: position)
      if update.isSynced { try tellDefinition(of: change, in: transaction) }
    case .becameRequired: try makeRequired(position, of: table, property, model, update)
    case .added, .retyped, .primaryKey, .embedded: break
    }
  }

  /// Tells the server, and by it the other devices, that a property may be null from now on.
  private static func tellDefinition(
    of change: SchemaDifference, in transaction: WriteTransaction
  ) throws {
    let definitions = try transaction.definitions().filter { definition in
      guard case .addProperty(let table, let property) = definition else { return false }
      return table == change.className && property.name == change.column
    }
    try transaction.record(definitions)
  }

  private static func makeRequired(
    _ position: Int, of table: WritableTable, _ property: ModelProperty?, _ model: ObjectModel,
    _ update: SchemaUpdate
  ) throws {
    let column = table.schema.columns[position]
    var zero: Value?
    if let property, property.cannotReadZero,
      try table.reading().count(where: .compare(ColumnPath(position), .equal, .null)) > 0
    {
      zero = try property.readableDefault(of: model)
    }
    do throws(StorageError) {
      try table.setOptional(false, ofColumn: position, nullsBecome: zero)
    } catch {
      guard case .duplicateKey = error else { throw error }
      throw update.mismatch(
        "property \(model.name).\(property?.name ?? column.name) can't become required: it is the primary key, nil becomes "
          + "the zero of its type, and another object has that key already. Open the file with the classes as they were, "
          + "and delete one of the two objects.")
    }
  }

  /// Classes may link to one another in circles, so links are added when all tables are there that they point to.
  private static func create(
    _ models: [ObjectModel], in transaction: WriteTransaction
  ) throws {
    var late: [(ObjectModel, ModelProperty)] = []
    for model in models {
      var columns: [Column] = []
      for property in model.properties {
        guard var column = property.schema.column else { continue }
        if let target = property.type.target, target != model.type {
          guard late.allSatisfy({ $0.0 !== model }),
            let table = try transaction.table(ObjectModel.of(target).name)
          else {
            late.append((model, property))
            continue
          }
          column.target = table.schema.id
        } else if !late.isEmpty, late.contains(where: { $0.0 === model }) {
          // Columns stay in the order of the properties.
          late.append((model, property))
          continue
        }
        columns.append(column)
      }
      try transaction.createTable(TableSchema(model.name, isEmbedded: model.isEmbedded, columns: columns))
    }
    for (model, property) in late { try add(property, to: model, in: transaction) }
  }

  private static func add(
    _ property: ModelProperty, to model: ObjectModel, in transaction: WriteTransaction
  ) throws {
    guard var column = property.schema.column, let table = try transaction.table(model.name) else { return }
    if let target = property.type.target {
      column.target = try transaction.table(ObjectModel.of(target).name)?.schema.id ?? 0
    }
    // An initializer of the program is called only where there are objects that the value is for.
    if column.collection == .none, !column.isOptional, try table.reading().count > 0,
      let value = try property.readableDefault(of: model)
    {
      column = Column(column.name, column.type, index: column.index, storedDefault: value)
    }
    try table.addColumn(column)
  }
}

/// A property whose type can't be made of zero, and for which the class declares no value.
private struct NoValue: Error {
  let property: String
}

extension ModelProperty {
  fileprivate var cannotReadZero: Bool { field.isUnknown(type.column.zero) }

  /// What the class declares for the property, as it is stored, where the type can't read zero: an enumeration without such
  /// a case. Nil of all others, whose older objects have zero.
  ///
  /// - Throws: `NoValue` where the class declares none, and the type has none.
  fileprivate func readableDefault(of model: ObjectModel) throws -> Value? {
    guard cannotReadZero else { return nil }
    guard let value = declaredValue(of: model) else { throw NoValue(property: "\(model.name).\(name)") }
    return value
  }
}

extension WritableTable {
  fileprivate func position(of column: String) -> Int? { schema.columns.firstIndex { $0.name == column } }
}
