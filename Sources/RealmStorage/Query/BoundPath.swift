/// A path whose columns and tables have been looked up.
struct BoundPath {
  struct Step {
    var column: Column
    /// The rows the links lead to.
    var target: Ref
  }

  var steps: [Step]
  var column: Column
  /// The place of the first column in the schema.
  var first: Int

  /// Whether there may be several values.
  var isMany: Bool { column.isList || steps.contains { $0.column.isList } }
  var isDirect: Bool { steps.isEmpty && !column.isList }

  /// - Precondition: the tables have the columns, and all but the last are links.
  init(
    _ path: ColumnPath, of table: TableForm, _ tables: any TableFinder
  ) throws(StorageError) {
    var table = table
    steps = []
    for link in path.links {
      let column = table.schema.columns[link]
      precondition(column.type == .link, "\(table.schema.name).\(column.name) is no link")
      if column.target != table.schema.id {
        // A table that is not there has no rows.
        table =
          try tables.form(ofTable: column.target) ?? TableForm(TableSchema("", columns: []), TableRoot())
      }
      steps.append(Step(column: column, target: table.root.clusters))
    }
    column = table.schema.columns[path.column]
    first = path.links.first ?? path.column
  }
}
