/// How a cell holds a collection: in its piece, as `CompositeCell` tells, or in a tree that the cluster names. Equal content
/// is the same value in either form.
enum CollectionForm {
  /// A collection whose encoding takes more bytes is a tree.
  ///
  /// A piece holds up to 512 collections and is written whole when one of them changes.
  static let maximumInline = 1024

  /// What a cell stores.
  enum Content {
    case inline([UInt8])
    case tree(Ref)
  }

  /// The form in which a collection that is written whole is stored.
  ///
  /// - Precondition: the value fits the column, which is one of collections.
  static func content(
    of value: Value, _ column: Column, _ editor: NodeEditor
  ) throws(StorageError) -> Content {
    let bytes = CompositeCell.encode(value, of: column) ?? []
    guard bytes.count > maximumInline, column.collection == .list, case .list(let elements) = value else {
      return .inline(bytes)
    }
    return .tree(try ListTree.build(elements, column.element, editor))
  }

  /// Verifies a tree as a whole, and calls `body` with each element, or each value of a map.
  static func check(
    _ tree: Ref, _ column: Column, _ reader: any NodeReader, _ body: (Value) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard column.collection == .list else { throw reader.access().corrupted(.structure, tree) }
    try ListTree.check(tree, column, reader, body)
  }

  /// The whole collection of a tree.
  static func value(
    _ tree: Ref, _ column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    guard column.collection == .list else { throw access.corrupted(.structure, tree) }
    return .list(try ListTree.values(tree, column.element, access))
  }
}
