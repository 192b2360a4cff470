import RealmStorage

extension RealmSession {
  /// The tables of the file as classes of dynamic objects, as the session sees them now.
  private func currentModels() throws(StorageError) -> TableModels {
    // A migration decides itself which tables are shown.
    if let tableModels, areTableModelsChecked || !isCounted { return tableModels }
    let tables = try currentTables()
    let models: TableModels
    if let known = tableModels, known.tables == tables {
      models = known
    } else {
      models = file.classes.models(of: tables)
    }
    tableModels = models
    areTableModelsChecked = true
    return models
  }

  /// The tables that the session sees now.
  func currentTables() throws(StorageError) -> [TableSchema] {
    if let transaction { return try transaction.schemas() }
    return try currentSnapshot().schemas()
  }

  /// All tables that the session sees now, as classes.
  var tableBindings: [ClassBinding] {
    reading { () throws(StorageError) in try currentModels().bindings }
  }

  /// The context of the dynamic objects of the table with a name.
  ///
  /// - Precondition: there is such a table. Otherwise the program stops.
  func tableContext(_ name: String) -> ObjectContext {
    check()
    let models = reading { () throws(StorageError) in try currentModels() }
    guard let found = models.binding(named: name) else {
      let names = models.tables.map(\.name)
      raise(
        "Class not in the realm",
        "\(file.database.path) has no class \(name); it has \(names.isEmpty ? "none" : names.joined(separator: ", "))."
      )
    }
    return context(found)
  }

  /// The context of the dynamic objects of a table to which something links; nil if there is no such table.
  func tableContext(_ id: UInt32) -> ObjectContext? {
    let found = reading { () throws(StorageError) in try currentModels().binding(table: id) }
    return found.map { context($0) }
  }
}
