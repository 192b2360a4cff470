/// What a node of a file belongs to.
package struct FilePart: Hashable, Sendable {
  package enum Role: String, Sendable {
    /// Facts of the whole database, schemas, and the roots of all else.
    case catalogue
    /// Rows, with their fixed-size columns.
    case table
    /// The pieces, long values and dictionary of a column of varying size; a fixed-size column has no nodes of its
    /// own.
    case column
    case index
    /// Who links to the rows of a table.
    case links
    /// Who links to rows of a table that are not there.
    case absentLinks
    /// A named tree, with its long values.
    case tree
    /// The nodes of a named slot: of the changelog, or of one that this version does not know.
    case slot
  }

  package var role: Role
  /// The name of the table, the named tree or the slot; empty for the catalogue.
  package var name = ""
  /// The column's name, where the part is one's; of an index that this version does not know, its number.
  package var column: String?
  /// It is a hidden table, or a part of one.
  package var isHidden = false
  /// Names from a file may be alike: ids tell parts apart.
  var tableID: UInt32 = 0
  var columnID: UInt16 = 0
  /// The id of an index that this version does not know; 0 for all other parts.
  var indexID: UInt16 = 0
}

extension FilePart: CustomStringConvertible {
  package var description: String {
    switch role {
    case .catalogue: "catalogue"
    case .table: "\(hidden)table \(name)"
    case .column: "\(hidden)column \(name).\(column ?? "")"
    case .index: "\(hidden)index \(name).\(column ?? "")"
    case .links: "links to \(hidden.isEmpty ? "" : "hidden table ")\(name)"
    case .absentLinks: "links to rows that \(hidden)table \(name) lacks"
    case .tree: "tree \(name)"
    case .slot: "slot \(name)"
    }
  }

  private var hidden: String { isHidden ? "hidden " : "" }
}

extension FilePart {
  static func table(_ schema: TableSchema) -> FilePart {
    FilePart(role: .table, name: schema.name, isHidden: schema.isHidden, tableID: schema.id)
  }

  static func column(_ column: Column, _ schema: TableSchema) -> FilePart {
    FilePart(
      role: .column, name: schema.name, column: schema.title(of: column), isHidden: schema.isHidden,
      tableID: schema.id,
      columnID: column.id)
  }

  static func index(_ column: Column, _ schema: TableSchema) -> FilePart {
    FilePart(
      role: .index, name: schema.name, column: column.name, isHidden: schema.isHidden, tableID: schema.id,
      columnID: column.id)
  }

  /// An index that this version does not know how to use.
  static func foreignIndex(_ id: UInt16, _ schema: TableSchema) -> FilePart {
    FilePart(
      role: .index, name: schema.name, column: "#\(id)", isHidden: schema.isHidden, tableID: schema.id,
      indexID: id)
  }

  static func absentLinks(_ schema: TableSchema) -> FilePart {
    FilePart(role: .absentLinks, name: schema.name, isHidden: schema.isHidden, tableID: schema.id)
  }

  static func links(_ schema: TableSchema) -> FilePart {
    FilePart(role: .links, name: schema.name, isHidden: schema.isHidden, tableID: schema.id)
  }
}

extension StorageError {
  /// The same, saying what the damaged node belongs to, unless that is said already.
  func naming(_ part: FilePart) -> StorageError {
    guard case .corrupted(let found, let path) = self,
      NodeKind.allCases.contains(where: { $0.name == found.nodeKind })
    else { return self }
    return .corrupted(
      Corruption(
        found.finding, offset: found.offset, length: found.length, birth: found.birth,
        nodeKind: "\(found.nodeKind) of \(part)"), path: path)
  }
}

/// Where the parts of a version start: a walk over its nodes finds by it what each belongs to.
struct FileParts {
  /// In the order of a report; null where a part is empty.
  private(set) var all: [(part: FilePart, root: Ref)] = []
  /// What stood in the way of finding them all. What was found holds.
  private(set) var failure: StorageError?
  private var starts: [Ref: FilePart] = [:]
  private var schemas: [UInt32: TableSchema] = [:]

  init(_ root: Ref, _ access: borrowing NodeAccess) {
    all.append((FilePart(role: .catalogue), root))
    do {
      let catalogue = try Catalogue(root, access)
      for schema in try Tables.schemas(catalogue, access) {
        schemas[schema.id] = schema
        do { try add(schema, catalogue, access) } catch { note(error) }
      }
      try addTrees(catalogue, access)
      for slot in try NamedSlots.all(catalogue.namedSlots, access) where !slot.root.isNull {
        add(FilePart(role: .slot, name: slot.name), at: slot.root)
      }
    } catch {
      note(error)
    }
  }

  /// Keeps the error. An unknown part of the format comes before damage: nobody can tell whether an unknown part is damaged.
  private mutating func note(_ error: StorageError) {
    if case .unknownFeature = failure { return }
    if case .unknownFeature = error { failure = error } else { failure = failure ?? error }
  }

  /// The part that starts at a node; nil for a node within one.
  func part(startingAt ref: Ref) -> FilePart? { starts[ref] }

  private mutating func add(_ part: FilePart, at root: Ref) {
    all.append((part, root))
    if !root.isNull { starts[root] = part }
  }

  private mutating func add(
    _ schema: TableSchema, _ catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let ref = try Tables.ref(of: schema.id, catalogue, access)
    add(.table(schema), at: ref)
    let root = try TableRoot(ref, access)
    for column in schema.columns { add(.column(column, schema), at: root.dictionaries[column.id]) }
    for column in schema.columns where column.index != .none {
      add(.index(column, schema), at: root.index(of: column))
    }
    for id in schema.unknown.foreignIndexes {
      add(.foreignIndex(id, schema), at: root.indexes[id])
    }
    if !root.links.isNull { add(.links(schema), at: root.links) }
    if !root.absentLinks.isNull { add(.absentLinks(schema), at: root.absentLinks) }
  }

  private mutating func addTrees(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError)
  {
    for (name, root) in try NamedTrees.all(in: catalogue, access) where !root.isNull {
      add(FilePart(role: .tree, name: name), at: root)
    }
  }

  // MARK: - Clusters

  /// What of a cluster is whose.
  struct ClusterParts {
    /// The column that each ref, a piece or a tree, belongs to.
    var pieces: [FilePart] = []
    /// Bytes of each column's data in the cluster itself; the rows' keys are the table's.
    var packed: [(part: FilePart, bytes: Int)] = []
  }

  /// - Parameter table: the part that the cluster belongs to: a table, or the column whose list it is a leaf of.
  func parts(ofCluster ref: Ref, of table: FilePart, _ access: borrowing NodeAccess) throws(StorageError)
    -> ClusterParts
  {
    // A leaf of a list that is a tree is its column's, whole.
    if table.role == .column { return ClusterParts() }
    let cluster = ClusterNode(try access.node(ref, .cluster))
    let schema = schemas[table.tableID]
    var parts = ClusterParts()
    for index in 0..<cluster.columnCount {
      let descriptor = cluster.descriptor(index)
      let column = schema?.columns.first { $0.id == descriptor.column }
      // Without a schema that knows the column it is the table's.
      let part = column.flatMap { column in schema.map { .column(column, $0) } } ?? table
      parts.packed.append((part, descriptor.length))
      if descriptor.encoding.hasRefs {
        parts.pieces += Array(repeating: part, count: Int(descriptor.greatest))
      }
    }
    return parts
  }
}

extension Tables {
  /// The node a table starts from; null for one that never held a row.
  static func ref(
    of id: UInt32, _ catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Ref {
    let key = TableSchema.key(id)
    return try OrderedTree.find(key.span.bytes, in: catalogue.tables, access) { $0.ref ?? .null } ?? .null
  }
}
