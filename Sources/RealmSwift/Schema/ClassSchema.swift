import RealmStorage

/// A class as realms store it: its names, its types, and what its properties are for. It is made of a class of the program, or of a table of a file
/// for which there need be no class. Where a Swift class keeps its properties is told by `ObjectModel`.
struct ClassSchema: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case object
    /// Each object of it belongs to another.
    case embedded
    /// Objects of it are only sent to a server.
    case asymmetric
  }

  let name: String
  let kind: Kind
  /// The properties of a class, a superclass's first; those of a table stand in the order in which its columns were added.
  let properties: [PropertySchema]

  init(_ name: String, _ kind: Kind, _ properties: [PropertySchema]) {
    self.name = name
    self.kind = kind
    self.properties = properties
  }

  /// Makes the schema of a table of a file.
  ///
  /// - Parameter tables: all tables of the file, to which links may lead.
  init(_ table: TableSchema, among tables: [TableSchema]) {
    self.init(
      table.name, table.isEmbedded ? .embedded : .object,
      table.properties.map { column in
        PropertySchema(
          column, target: column.type == .link ? tables.first { $0.id == column.target }?.name : nil)
      })
  }

  var isEmbedded: Bool { kind == .embedded }
  var primaryKey: PropertySchema? { properties.first { $0.role == .primaryKey } }
  /// The properties that have a column.
  var stored: [PropertySchema] { properties.filter { !$0.isComputed } }

  /// The property that is stored under a name; nil where there is none.
  func property(ofColumn name: String) -> PropertySchema? {
    properties.first { !$0.isComputed && $0.columnName == name }
  }
}
