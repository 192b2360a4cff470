/// The part of the database that a node of a file belongs to.
package struct FilePart: Hashable, Sendable {
  package enum Role: String, Sendable {
    /// Facts of the whole database, the schemas, and the roots of all other parts.
    case catalogue
    /// Rows, with their fixed-size columns.
    case table
    /// The pieces, long values and dictionary of a column of varying size. A fixed-size column has no nodes of its own.
    case column
    case index
    /// The index of the links to the rows of a table.
    case links
    /// The index of the links to rows that a table lacks.
    case absentLinks
    /// A named tree, with its long values.
    case tree
    /// The nodes of a named slot: the changelog, or a slot that this version of the library does not know.
    case slot
  }

  package var role: Role
  /// The name of the table, the named tree or the slot; empty for the catalogue.
  package var name = ""
  /// The name of the column, if the part belongs to a column; or the number of an index that this version does not
  /// know.
  package var column: String?
  /// True for a hidden table and its parts.
  package var isHidden = false
  /// The ids tell parts apart, because two names from a file may be equal.
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
  /// The same error, which also names the part that the damaged node belongs to, unless it names a part already.
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

/// The places where the parts of a version start. A walk over the nodes uses them to find the part of each node.
struct FileParts {
  /// The parts in the order of a report. The root of an empty part is null.
  private(set) var all: [(part: FilePart, root: Ref)] = []
  /// The error that prevented finding all parts; nil if all were found. The parts in `all` are valid anyway.
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

  /// The part that starts at a node; nil if the node lies within a part.
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

  /// The owners of the contents of a cluster.
  struct ClusterParts {
    /// For each ref of the cluster, a piece or a tree, the column that it belongs to.
    var pieces: [FilePart] = []
    /// The number of bytes of each column's data in the cluster itself. The rows' keys belong to the table.
    var packed: [(part: FilePart, bytes: Int)] = []
  }

  /// - Parameter table: The part that the cluster belongs to: a table, or the column that has it as a leaf of a list.
  func parts(ofCluster ref: Ref, of table: FilePart, _ access: borrowing NodeAccess) throws(StorageError)
    -> ClusterParts
  {
    // A leaf of a list that is a tree belongs to its column as a whole.
    if table.role == .column { return ClusterParts() }
    let cluster = ClusterNode(try access.node(ref, .cluster))
    let schema = schemas[table.tableID]
    var parts = ClusterParts()
    for index in 0..<cluster.columnCount {
      let descriptor = cluster.descriptor(index)
      let column = schema?.columns.first { $0.id == descriptor.column }
      // Without a schema that knows the column, the data belong to the table.
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
  /// The node that a table starts from; null for a table that never had a row.
  static func ref(
    of id: UInt32, _ catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Ref {
    let key = TableSchema.key(id)
    return try OrderedTree.find(key.span.bytes, in: catalogue.tables, access) { $0.ref ?? .null } ?? .null
  }
}
