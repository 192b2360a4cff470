import RealmStorage

/// A class as realms store it: its name, and the names, types and roles of its properties. It is made from a class of the
/// program, or from a table of a file for which the program needs no class. `ObjectModel` says where a Swift class keeps its
/// properties.
struct ClassSchema: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case object
    /// Each object of the class belongs to another object.
    case embedded
    /// Objects of the class are meant for a server and are never read again.
    case asymmetric
  }

  let name: String
  let kind: Kind
  /// The properties of a class, those of a superclass first. The properties of a table are in the order in which its columns
  /// were added.
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

  /// The property that is stored under a name; nil if there is none.
  func property(ofColumn name: String) -> PropertySchema? {
    properties.first { !$0.isComputed && $0.columnName == name }
  }
}
