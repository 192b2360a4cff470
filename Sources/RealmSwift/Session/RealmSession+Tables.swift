import RealmStorage

extension RealmSession {
  /// The tables of the file as classes, which a table is among as it is now; nil where there is no such table.
  private func tableBinding(_ found: (TableSchema) -> Bool) throws(StorageError) -> ClassBinding? {
    let tables = try currentTables()
    guard let table = tables.first(where: found) else { return nil }
    if let known = tableModels?.binding(table: table.id), known.table == table { return known }
    let models = file.classes.models(of: tables)
    tableModels = models
    return models.binding(table: table.id)
  }

  /// The tables that the session sees now.
  func currentTables() throws(StorageError) -> [TableSchema] {
    if let transaction { return try transaction.schemas() }
    return try currentSnapshot().schemas()
  }

  /// The dynamic objects of a table, by its name.
  ///
  /// - Precondition: there is such a table: otherwise the program stops.
  func tableContext(_ name: String) -> ObjectContext {
    check()
    let found = reading { () throws(StorageError) in
      let known = tableModels?.binding(named: name)
      if let known, try isAsNow(known) { return Optional(known) }
      return try tableBinding { $0.name == name }
    }
    guard let found else {
      let names = reading { () throws(StorageError) in try currentTables().map(\.name) }
      raise(
        "Class not in the realm",
        "\(file.database.path) has no class \(name); it has \(names.isEmpty ? "none" : names.joined(separator: ", "))."
      )
    }
    return tableContext(found)
  }

  private func isAsNow(_ binding: ClassBinding) throws(StorageError) -> Bool {
    guard let table = binding.table else { return false }
    if let transaction { return try transaction.table(table.name)?.schema == table }
    return try currentSnapshot().table(table.name)?.schema == table
  }

  /// The dynamic objects of a table that something links to.
  func tableContext(_ id: UInt32) -> ObjectContext? {
    if let known = tableModels?.binding(table: id) { return tableContext(known) }
    let found = reading { () throws(StorageError) in try tableBinding { $0.id == id } }
    return found.map { tableContext($0) }
  }

  private func tableContext(_ binding: ClassBinding) -> ObjectContext {
    makeRoom(for: binding)
    return context(binding)
  }
}
