/// The form in which a cell holds a collection: encoded in its piece (`CompositeCell`), or in a tree that the cluster
/// names. Equal content is the same value in either form.
enum CollectionForm {
  /// The greatest length of an encoding in a piece, in bytes. A collection whose encoding is longer is a tree.
  ///
  /// A piece holds up to 512 collections, and is written as a whole when one of them changes.
  static let maximumInline = 1024

  /// The content of a cell: the encoding of a collection, or the root of its tree.
  enum Content {
    case inline([UInt8])
    case tree(Ref)
  }

  /// The form in which a collection that is written whole is stored.
  ///
  /// - Precondition: the value fits the column, which is a column of collections.
  static func content(
    of value: Value, _ column: Column, _ editor: NodeEditor
  ) throws(StorageError) -> Content {
    let bytes = CompositeCell.encode(value, of: column) ?? []
    guard bytes.count > maximumInline else { return .inline(bytes) }
    guard column.collection == .list, case .list(let elements, _) = value else {
      return .tree(try SortedTree.build(value, of: column, editor: editor))
    }
    return .tree(try ListTree.build(elements, column.element, editor))
  }

  /// Verifies a tree as a whole, and calls `body` with each element, or each value of a map.
  static func check(
    _ tree: Ref, _ column: Column, _ reader: any NodeReader, _ body: (Value) throws(StorageError) -> Void
  ) throws(StorageError) {
    if column.collection == .list { return try ListTree.check(tree, column, reader, body) }
    _ = try SortedTree.check(tree, of: column, reader) { (entry) throws(StorageError) in try body(entry.value)
    }
  }

  /// The number of elements of a tree, or of entries of a map's tree.
  static func count(
    _ tree: Ref, _ column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int {
    guard column.collection == .list else { return Int(clamping: try SortedTree.count(tree, access)) }
    return try ListTree.count(tree, access)
  }

  /// Whether `condition` is true for an element of a tree, or for a value of a map. The leaves after the first such
  /// element are not read.
  static func contains(
    _ tree: Ref, _ column: Column, _ access: borrowing NodeAccess,
    _ condition: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var isFound = false
    guard column.collection == .list else {
      try SortedTree.forEach(in: tree, of: column, access) { (entry) throws(StorageError) in
        isFound = try condition(entry.value)
        return !isFound
      }
      return isFound
    }
    let element = column.element
    try PositionTree.forEachLeaf(of: tree, access) { (leaf, _) throws(StorageError) in
      var values: [Value] = []
      try ListTree.append(leaf: leaf, element, access, to: &values)
      for value in values where try condition(value) {
        isFound = true
        return false
      }
      return true
    }
    return isFound
  }

  /// The whole collection of a tree.
  static func value(
    _ tree: Ref, _ column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    guard column.collection == .list else { return try SortedTree.all(tree, of: column, access) }
    return .list(try ListTree.values(tree, column.element, access))
  }
}

/// Whether an open collection of a table has changes that its cell lacks. So reads between changes need not look at
/// each open collection.
final class OpenChanges {
  @exclusivity(unchecked) var isAny = false
}

/// A collection that a transaction changes element by element.
protocol OpenCollection: AnyObject {
  /// The column of the table, which is a column of collections.
  var column: Column { get }
  /// Whether the collection was changed since its content was last stored in the cell.
  var isChanged: Bool { get }
  /// Returns the content that is to be stored in the cell. The collection can be changed further after this call.
  func store() throws(StorageError) -> CollectionForm.Content
}
