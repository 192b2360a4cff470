package import RealmStorage

/// The tables that an import writes to.
package final class ImportTables {
  private var schemas: [UInt32: TableSchema] = [:]
  private var ids: [[UInt8]: UInt32] = [:]
  private var columns: [UInt32: [[UInt8]: Int]] = [:]

  package init(_ schemas: [TableSchema]) { for schema in schemas { add(schema) } }

  package func add(_ schema: TableSchema) {
    schemas[schema.id] = schema
    ids[Array(schema.name.utf8)] = schema.id
    columns[schema.id] = Dictionary(
      schema.columns.enumerated().filter { !$0.element.isCompanion }.map {
        (Array($0.element.name.utf8), $0.offset)
      }
    ) { first, _ in first }
  }

  package func schema(_ id: UInt32) -> TableSchema? { schemas[id] }

  /// The table with a name; nil if there is none. Names differ if their bytes differ.
  package func schema(named name: String) -> TableSchema? { ids[Array(name.utf8)].flatMap { schemas[$0] } }

  /// The positions of the properties of a table, by the bytes of their names.
  package func positions(of schema: TableSchema) -> [[UInt8]: Int] { columns[schema.id] ?? [:] }
}
