import RealmStorage

/// The meaning of the names in queries: the tables with their columns, other names of columns, and names of inverse
/// links.
///
/// It is made once for a schema. Each name of a query is then looked up in a dictionary.
public final class QueryNames: Sendable {
  /// An inverse link: it leads from a row to the rows of a table that link to it by one of their columns.
  public struct Inverse: Sendable, Hashable {
    let table: UInt32
    let column: UInt16

    /// Makes an inverse link.
    ///
    /// - Parameters:
    ///   - table: the id of the table that has the links.
    ///   - column: the id of the column of links.
    public init(table: UInt32, column: UInt16) { (self.table, self.column) = (table, column) }
  }

  private let byID: [UInt32: QueryTable]
  private let byName: [String: QueryTable]

  /// Makes the names that a file gives without a program: columns have their stored names, and inverse links are
  /// written `@links.Class.property`.
  public convenience init(tables: [TableSchema]) {
    self.init(tables: tables, aliases: [:], inverses: [:], classes: [:])
  }

  /// Makes the names of tables, with further names that a program gives.
  ///
  /// - Parameters:
  ///   - tables: the tables.
  ///   - aliases: by the ids of tables, other names of columns, each with the stored name or another alias. A query
  ///     that uses an alias that leads back to itself is an error.
  ///   - inverses: by the ids of tables, inverse links by their names. An inverse link whose table or column does not
  ///     exist is ignored.
  ///   - classes: other names of tables, beside the stored names, with the ids of the tables.
  public init(
    tables: [TableSchema], aliases: [UInt32: [String: String]], inverses: [UInt32: [String: Inverse]],
    classes: [String: UInt32]
  ) {
    let classNames = Dictionary(classes.map { ($0.value, $0.key) }, uniquingKeysWith: min)
    let schemas = Dictionary(tables.map { ($0.id, $0) }) { first, _ in first }
    var byID: [UInt32: QueryTable] = [:]
    var byName: [String: QueryTable] = [:]
    for schema in tables where byID[schema.id] == nil {
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

  /// The schema of the table with a name; nil if there is none.
  public func table(named name: String) -> TableSchema? { byName[name]?.schema }

  /// The schema of the table with an id; nil if there is none.
  public func table(id: UInt32) -> TableSchema? { byID[id]?.schema }

  func find(_ name: String) -> QueryTable? { byName[name] }
  func find(_ id: UInt32) -> QueryTable? { byID[id] }

  /// The name of a class that is most similar to an unknown name, for messages.
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
    /// An alias that leads back to itself.
    case loop
  }

  let schema: TableSchema
  /// The name of the table in messages.
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
      // A stored name ends the search: two properties may be stored under each other's names.
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

  /// The form of a column. The column itself is not copied.
  func form(of column: Int) -> (type: ColumnType, isOptional: Bool, collection: ColumnCollection) {
    (schema.columns[column].type, schema.columns[column].isOptional, schema.columns[column].collection)
  }

  /// The name of a property that is most similar to an unknown name, for messages.
  func nearest(to name: String) -> String? { Misspelling.nearest(to: name, among: names.keys.sorted()) }
}
