import RealmStorage

/// Random changes of the table's columns.
extension TableModel {
  /// Makes one random change. Returns a description of the first error, or nil.
  package mutating func changeSchema(_ table: WritableTable, _ generator: inout SeededGenerator) throws
    -> String?
  {
    switch generator.below(4) {
    case 0: try addColumn(to: table, &generator)
    case 1: try dropColumn(of: table, &generator)
    case 2: try renameColumn(of: table, &generator)
    default: try changeOptionality(of: table, &generator)
    }
    let names = Set(table.schema.columns.map(\.name))
    for (key, row) in rows where Set(row.keys) != names { return "row \(key) has other columns" }
    return nil
  }

  private static let mostColumns = 40

  private mutating func addColumn(to table: WritableTable, _ generator: inout SeededGenerator) throws {
    guard addedColumns < 200, table.schema.columns.count < max(Self.mostColumns, Self.everything.count) else {
      return
    }
    addedColumns += 1
    let type = ColumnType.allCases[generator.below(ColumnType.allCases.count)]
    let collection: ColumnCollection = generator.chance(20) ? .list : .none
    var column = Column(
      "added \(addedColumns)", type, isOptional: generator.chance(50), collection: collection,
      index: collection == .none && type.canHave(.plain) && generator.chance(30) ? .plain : .none,
      target: type == .link ? table.schema.id : 0)
    let value = element(Column("", type), &generator)
    if collection == .none, column.canStoreDefault(value), generator.chance(50) {
      column = Column(
        column.name, type, isOptional: column.isOptional, index: column.index, storedDefault: value)
    }
    try table.addColumn(column)
    for key in rows.keys { rows[key]?[column.name] = Self.empty(column) }
  }

  private mutating func dropColumn(of table: WritableTable, _ generator: inout SeededGenerator) throws {
    let columns = table.schema.columns
    guard columns.count > 4 else { return }
    let position = generator.below(columns.count)
    try table.dropColumn(position)
    for key in rows.keys { rows[key]?[columns[position].name] = nil }
  }

  private mutating func renameColumn(of table: WritableTable, _ generator: inout SeededGenerator) throws {
    let columns = table.schema.columns
    let position = generator.below(columns.count)
    guard addedColumns < 200 else { return }
    addedColumns += 1
    let (old, new) = (columns[position].name, "renamed \(addedColumns)")
    try table.renameColumn(position, to: new)
    for key in rows.keys {
      let value = rows[key]?.removeValue(forKey: old)
      rows[key]?[new] = value
    }
  }

  private mutating func changeOptionality(
    of table: WritableTable, _ generator: inout SeededGenerator
  ) throws {
    let columns = table.schema.columns
    let position = generator.below(columns.count)
    let column = columns[position]
    guard !column.isCollection, column.type != .link, column.type != .mixed else { return }
    guard column.isOptional else { return try table.setOptional(true, ofColumn: position) }
    let some = element(Column("", column.type), &generator)
    let value = generator.chance(50) && column.canStoreDefault(some) ? some : nil
    let nulls = rows.filter { $0.value[column.name] == .null }.keys
    let filling = value ?? Self.empty(Column("", column.type))
    if column.index == .unique {
      let isTaken = rows.values.contains { $0[column.name] == filling }
      guard nulls.count < (isTaken ? 1 : 2) else { return }
    }
    try table.setOptional(false, ofColumn: position, nullsBecome: value)
    for key in nulls { rows[key]?[column.name] = filling }
  }
}
