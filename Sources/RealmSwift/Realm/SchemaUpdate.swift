import RealmStorage

/// What is to be done so that the tables of a file fit the classes of a program.
struct SchemaUpdate {
  private let configuration: Realm.Configuration
  private let path: String
  private let tables: [TableSchema]
  /// The file's.
  private let version: UInt64

  private(set) var missing: [ObjectModel] = []
  /// Properties that their tables lack.
  private(set) var added: [(model: ObjectModel, property: ModelProperty)] = []
  /// Columns that are to have another index, by their position.
  private(set) var reindexed: [(table: String, position: Int, index: ColumnIndex)] = []
  /// What else differs, in words.
  private(set) var differences: [String] = []

  init(
    _ models: [ObjectModel], _ tables: [TableSchema], version: UInt64, _ configuration: Realm.Configuration,
    path: String
  ) {
    self.tables = tables
    self.version = version
    self.configuration = configuration
    self.path = path
    for model in models {
      if let table = tables.first(where: { $0.name == model.name }) {
        compare(model, table)
      } else {
        missing.append(model)
      }
    }
  }

  private mutating func compare(_ model: ObjectModel, _ table: TableSchema) {
    if table.isEmbedded != model.isEmbedded {
      differences.append("class \(model.name) \(model.isEmbedded ? "became" : "was") embedded")
    }
    for property in model.properties {
      guard let column = property.column else { continue }
      if let position = table.columns.firstIndex(where: { $0.name == property.columnName }) {
        compare("property \(model.name).\(property.name)", property, column, table, position)
      } else {
        added.append((model, property))
      }
    }
    let wanted = Set(model.properties.filter { !$0.isComputed }.map(\.columnName))
    for column in table.columns where !wanted.contains(column.name) {
      differences.append("property \(model.name).\(column.name) was removed")
    }
  }

  private mutating func compare(
    _ name: String, _ property: ModelProperty, _ column: Column, _ table: TableSchema, _ position: Int
  ) {
    let found = table.columns[position]
    let target = tables.first { $0.id == found.target }?.name
    if found.type != column.type || found.collection != column.collection {
      differences.append("\(name) has another type")
    } else if found.isOptional != column.isOptional {
      differences.append("\(name) became \(column.isOptional ? "optional" : "required")")
    } else if found.type == .link, target != property.type.target.map({ ObjectModel.of($0).name }) {
      differences.append("\(name) links to another class")
    } else if (found.index == .unique) != (column.index == .unique) {
      differences.append("\(name) \(column.index == .unique ? "became" : "was") the primary key")
    } else if found.index != column.index {
      reindexed.append((table.name, position, column.index))
    }
  }

  /// No program has set up the file yet.
  private var isNew: Bool { tables.isEmpty && version == 0 }
  private var isNewer: Bool { configuration.schemaVersion > version }

  /// The tables are to be changed, or the version that is noted with them.
  var isNeeded: Bool {
    !missing.isEmpty || !added.isEmpty || !reindexed.isEmpty || isNewer
  }

  /// Whether the file can be brought to fit.
  ///
  /// - Throws: `Realm.Error.schemaMismatch`.
  func check() throws {
    if isNew { return }
    guard configuration.schemaVersion >= version else {
      throw mismatch(
        "\(path) has schema version \(version), and \(configuration.schemaVersion) is asked for: a newer program has changed "
          + "it. Set schemaVersion to \(version) at least, with the classes of that version.")
    }
    let words = added.map { "property \($0.model.name).\($0.property.name) was added" } + differences
    if configuration.readOnly {
      if !words.isEmpty { throw migrationNeeded(words) }
      return
    }
    if !words.isEmpty, !isNewer { throw migrationNeeded(words) }
    // Both are done by a migration, or by a new file.
    let isChanged = !words.isEmpty || isNewer
    if isChanged, configuration.deleteRealmIfMigrationNeeded { throw migrationNeeded(words) }
    if isNewer, configuration.migrationBlock != nil {
      throw mismatch(
        "\(path) has schema version \(version) and is to have \(configuration.schemaVersion), by a migrationBlock; blocks can't "
          + "be run yet. Properties that were only added need none.")
    }
    guard differences.isEmpty else {
      throw mismatch(
        "\(path) can't be migrated yet where more was done than to add properties, classes and indexes: "
          + differences.joined(separator: ", ") + ". Write the objects to a new file.")
    }
  }

  private func migrationNeeded(_ words: [String]) -> Realm.Error {
    mismatch(
      "The classes do not fit the tables of \(path), and migrating is needed: "
        + words.joined(separator: ", ")
        + ". Increase schemaVersion, which is \(configuration.schemaVersion).")
  }

  private func mismatch(_ message: String) -> Realm.Error {
    Realm.Error(.schemaMismatch, message, path: path)
  }
}

// MARK: - Applying

extension RealmSchema {
  /// Compares classes with the tables of a database, and makes what is missing.
  ///
  /// - Throws: `Realm.Error.schemaMismatch` where a table differs from its class.
  static func bind(
    _ models: [ObjectModel], to database: Database, _ configuration: Realm.Configuration
  ) throws -> RealmSchema {
    let found = try Realm.Error.wrapping { () throws(StorageError) in
      let snapshot = try database.snapshot()
      return (tables: try snapshot.schemas(), version: try snapshot.schemaVersion())
    }
    var tables = found.tables
    let update = SchemaUpdate(models, tables, version: found.version, configuration, path: database.path)
    try update.check()
    if update.isNeeded, !configuration.readOnly {
      try database.write { transaction in
        // Another process may have been faster.
        let update = SchemaUpdate(
          models, try transaction.schemas(), version: try transaction.schemaVersion(), configuration,
          path: database.path)
        try update.check()
        try apply(update, in: transaction)
        try transaction.setSchemaVersion(max(configuration.schemaVersion, transaction.schemaVersion()))
        tables = try transaction.schemas()
      }
    }
    return RealmSchema(
      models.enumerated().map { index, model in
        ClassBinding(model, index: index, table: tables.first { $0.name == model.name })
      })
  }

  private static func apply(_ update: SchemaUpdate, in transaction: WriteTransaction) throws(StorageError) {
    try create(update.missing, in: transaction)
    for (model, property) in update.added { try add(property, to: model, in: transaction) }
    for (table, position, index) in update.reindexed {
      try transaction.table(table)?.setIndex(index, ofColumn: position)
    }
  }

  /// Classes may link to one another in circles, so links are added when all tables are there that they point to.
  private static func create(_ models: [ObjectModel], in transaction: WriteTransaction) throws(StorageError) {
    var late: [(ObjectModel, ModelProperty)] = []
    for model in models {
      var columns: [Column] = []
      for property in model.properties {
        guard var column = property.column else { continue }
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
  ) throws(StorageError) {
    guard var column = property.column, let table = try transaction.table(model.name) else { return }
    if let target = property.type.target {
      column.target = try transaction.table(ObjectModel.of(target).name)?.schema.id ?? 0
    }
    try table.addColumn(column)
  }
}
