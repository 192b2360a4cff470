/// The tables of a version: their schemas and roots, found through the catalogue.
enum Tables {
  static func schemas(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError)
    -> [TableSchema]
  {
    var schemas: [TableSchema] = []
    var cursor = TreeCursor(catalogue.schema)
    try cursor.seekFirst(access)
    while cursor.isValid {
      schemas.append(try schema(at: cursor, catalogue, access))
      try cursor.next(access)
    }
    return schemas
  }

  private static func schema(
    at cursor: TreeCursor, _ catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) -> TableSchema {
    try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
      let id = leaf.key(index).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard leaf.keyLength(index) == 4 else { throw access.corrupted(.structure, catalogue.schema) }
      return try schema(leaf.value(index), id, catalogue.schema, access)
    }
  }

  /// The schema that a value of a leaf holds.
  ///
  /// - Parameter node: the node that is damaged if the value is no schema.
  static func schema(
    _ value: TreeValue, _ id: UInt32, _ node: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> TableSchema {
    let bytes = try value.contents(access)
    do {
      return try TableSchema(record: bytes, id: id)
    } catch {
      switch error {
      case .damaged: throw access.corrupted(.structure, node)
      case .unknown(let feature): throw access.unknown(feature)
      }
    }
  }

  /// The schemas that can be read. Damaged records are left out.
  static func wholeSchemas(
    _ catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [TableSchema] {
    var schemas: [TableSchema] = []
    var cursor = TreeCursor(catalogue.schema)
    try cursor.seekFirst(access)
    while cursor.isValid {
      do throws(StorageError) {
        schemas.append(try schema(at: cursor, catalogue, access))
      } catch {
        guard error.isDamage else { throw error }
      }
      try cursor.next(access)
    }
    return schemas
  }

  static func root(
    of id: UInt32, _ catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) -> TableRoot {
    let key = TableSchema.key(id)
    let ref = try OrderedTree.find(key.span.bytes, in: catalogue.tables, access) { $0.ref ?? .null } ?? .null
    return try TableRoot(ref, access)
  }

  /// Stores a table's root. It replaces the root that the table had.
  static func setRoot(
    _ root: TableRoot, of id: UInt32, in catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) {
    let key = TableSchema.key(id)
    let old =
      try OrderedTree.find(key.span.bytes, in: catalogue.tables, editor.access()) { $0.ref ?? .null } ?? .null
    let nothing: [UInt8] = []
    catalogue.tables = try OrderedTree.set(
      TreeValue(bytes: nothing.span.bytes, ref: root.write(editor)), for: key.span.bytes,
      in: catalogue.tables,
      editor: editor)
    if !old.isNull { editor.free(old) }
  }

  /// Removes the schema and the root of a table. The trees of the root are not freed.
  static func remove(
    _ id: UInt32, from catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) {
    let key = TableSchema.key(id)
    let root = try OrderedTree.find(key.span.bytes, in: catalogue.tables, editor.access()) { $0.ref ?? .null }
    catalogue.tables = try OrderedTree.remove(key.span.bytes, from: catalogue.tables, editor: editor)
    if let root, !root.isNull { editor.free(root) }
    let schema =
      try OrderedTree.find(key.span.bytes, in: catalogue.schema, editor.access()) { $0.ref ?? .null }
    catalogue.schema = try OrderedTree.remove(key.span.bytes, from: catalogue.schema, editor: editor)
    if let schema, !schema.isNull { try editor.freeTree(schema) }
  }

  static func setSchema(
    _ schema: TableSchema, in catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) {
    let key = TableSchema.key(schema.id)
    let old =
      try OrderedTree.find(key.span.bytes, in: catalogue.schema, editor.access()) { $0.ref ?? .null } ?? .null
    catalogue.schema = try StoredValue.set(schema.encoded, for: key, in: catalogue.schema, editor)
    if !old.isNull { try editor.freeTree(old) }
  }
}
