import RealmStorage

/// What the names of a query mean: the tables with their columns, other names of columns, and names of inverse links.
///
/// It is made once for a schema. Each name of a query is then looked up in a dictionary.
public final class QueryNames: Sendable {
  /// The rows of a table that link to a row by one of their columns.
  public struct Inverse: Sendable, Hashable {
    let table: UInt32
    let column: UInt16

    /// - Parameters:
    ///   - table: the id of the table that the links are in.
    ///   - column: the id of the column of links.
    public init(table: UInt32, column: UInt16) { (self.table, self.column) = (table, column) }
  }

  private let byID: [UInt32: QueryTable]
  private let byName: [String: QueryTable]

  /// The names that a file alone gives: columns have their stored names, and inverse links are written `@links.Class.property`.
  public convenience init(tables: [TableSchema]) {
    self.init(tables: tables, aliases: [:], inverses: [:], classes: [:])
  }

  /// - Parameters:
  ///   - aliases: for the id of a table, other names of its columns, each with the stored name or one more such name. A name that leads back to itself is an
  ///     error where a query uses it.
  ///   - inverses: for the id of a table, names of inverse links.
  ///   - classes: other names of tables, with their ids, beside the stored names.
  public init(
    tables: [TableSchema], aliases: [UInt32: [String: String]], inverses: [UInt32: [String: Inverse]],
    classes: [String: UInt32]
  ) {
    let classNames = Dictionary(classes.map { ($0.value, $0.key) }, uniquingKeysWith: min)
    let schemas = Dictionary(tables.map { ($0.id, $0) }) { first, _ in first }
    var byID: [UInt32: QueryTable] = [:]
    var byName: [String: QueryTable] = [:]
    for schema in tables where byID[schema.id] == nil {
      // A name of an inverse link that the tables do not have is no name.
      let inverses = (inverses[schema.id] ?? [:]).filter { $0.value.leads(to: schema.id, in: schemas) }
      let table = QueryTable(
        schema, name: classNames[schema.id] ?? schema.name, aliases: aliases[schema.id] ?? [:],
        inverses: inverses)
      byID[schema.id] = table
      if byName[schema.name] == nil { byName[schema.name] = table }
    }
    for (name, id) in classes { if let table = byID[id] { byName[name] = table } }
    (self.byID, self.byName) = (byID, byName)
  }

  /// The table of a class; nil where there is none.
  public func table(named name: String) -> TableSchema? { byName[name]?.schema }

  /// The table of an id; nil where there is none.
  public func table(id: UInt32) -> TableSchema? { byID[id]?.schema }

  func find(_ name: String) -> QueryTable? { byName[name] }
  func find(_ id: UInt32) -> QueryTable? { byID[id] }

  /// The name of a class that was probably meant.
  func nearest(to name: String) -> String? { Misspelling.nearest(to: name, among: byName.keys.sorted()) }
}

extension QueryNames.Inverse {
  fileprivate func leads(to target: UInt32, in schemas: [UInt32: TableSchema]) -> Bool {
    schemas[table]?.columns.contains { $0.id == column && $0.type == .link && $0.target == target } ?? false
  }
}

/// A table with the names of its columns and inverse links.
final class QueryTable: Sendable {
  enum Name: Sendable {
    /// A column, by its position in the schema.
    case column(Int)
    case inverse(QueryNames.Inverse)
    /// Another name that leads back to itself.
    case loop
  }

  let schema: TableSchema
  /// What messages call it.
  let name: String
  private let names: [String: Name]

  var id: UInt32 { schema.id }

  init(
    _ schema: TableSchema, name: String, aliases: [String: String],
    inverses: [String: QueryNames.Inverse]
  ) {
    self.schema = schema
    self.name = name
    var stored: [String: Name] = [:]
    for (position, column) in schema.columns.enumerated()
    where !column.isCompanion && stored[column.name] == nil {
      stored[column.name] = .column(position)
    }
    for (name, inverse) in inverses where stored[name] == nil { stored[name] = .inverse(inverse) }
    var names = stored
    for alias in aliases.keys {
      var (next, count) = (aliases[alias], 0)
      // A column that is there ends the way: two properties may be stored under each other's names.
      while let name = next, stored[name] == nil, count <= aliases.count {
        next = aliases[name]
        count += 1
      }
      if let name = next, let found = stored[name] {
        names[alias] = found
      } else if next != nil {
        names[alias] = .loop
      }
    }
    self.names = names
  }

  func find(_ name: String) -> Name? { names[name] }

  /// What the values of a column are. The column is not copied.
  func form(of column: Int) -> (type: ColumnType, isOptional: Bool, collection: ColumnCollection) {
    (schema.columns[column].type, schema.columns[column].isOptional, schema.columns[column].collection)
  }

  /// The name of a property that was probably meant.
  func nearest(to name: String) -> String? { Misspelling.nearest(to: name, among: names.keys.sorted()) }
}
