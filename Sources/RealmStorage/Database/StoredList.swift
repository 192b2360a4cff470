/// The list of a row in a version or an open transaction. Its elements are read one by one, or in groups that are stored
/// together.
///
/// A list of a transaction shows the changes that were made before it was requested. It must not be read after a later change.
public struct StoredList {
  /// What was found of a list: its position in the file, or its elements if it is small. Keeping it does not keep the version in
  /// the file.
  public struct Found: Sendable {
    fileprivate enum Form {
      case inline([Value])
      case tree(Ref)
    }

    fileprivate let form: Form
    fileprivate let element: Column
    /// The number of elements.
    public let count: Int
  }

  private let content: TableContent
  /// What was found of the list; see `Table.list(_:)`.
  public let found: Found
  private var form: Found.Form { found.form }
  private var element: Column { found.element }
  /// The number of elements.
  public var count: Int { found.count }

  fileprivate init(_ values: [Value], _ content: TableContent, _ column: Column) {
    self.content = content
    found = Found(form: .inline(values), element: column.element, count: values.count)
  }

  fileprivate init(_ found: Found, _ content: TableContent) {
    self.content = content
    self.found = found
  }

  fileprivate init(
    tree: Ref, _ content: TableContent, _ column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    self.content = content
    found = Found(form: .tree(tree), element: column.element, count: try ListTree.count(tree, access))
  }

  /// The element at a position. O(log n).
  ///
  /// - Precondition: `position` is in `0..<count`.
  /// - Throws: `.corrupted`.
  public func element(at position: Int) throws(StorageError) -> Value {
    check(position, below: count)
    switch form {
    case .inline(let values): return values[position]
    case .tree(let root):
      return try ListTree.value(at: position, of: root, element, content.beginReading(for: content))
    }
  }

  /// A group of elements from a position on: all of a short list, up to 512 of a long one, and none after the last element. To
  /// read a whole list, ask again from the position after the group; so the list is never in memory as a whole. Takes O(log n),
  /// and time in proportion to the returned elements.
  ///
  /// - Precondition: `position` is in `0...count`.
  /// - Throws: `.corrupted`.
  public func elements(from position: Int) throws(StorageError) -> [Value] {
    check(position, below: count + 1)
    guard position < count else { return [] }
    switch form {
    case .inline(let values): return position == 0 ? values : Array(values[position...])
    case .tree(let root):
      return try ListTree.values(from: position, of: root, element, content.beginReading(for: content))
    }
  }

  /// All elements. Takes time in proportion to the list.
  ///
  /// - Throws: `.corrupted`.
  public func elements() throws(StorageError) -> [Value] {
    switch form {
    case .inline(let values): return values
    case .tree(let root): return try ListTree.values(root, element, content.beginReading(for: content))
    }
  }

  /// The position of the first element that matches a condition; nil if there is none. Takes time in proportion to the elements
  /// that are looked at.
  ///
  /// - Throws: `.corrupted`.
  public func firstIndex(where condition: (Value) -> Bool) throws(StorageError) -> Int? {
    var position = 0
    while position < count {
      let values = try elements(from: position)
      if let found = values.firstIndex(where: condition) { return position + found }
      position += values.count
    }
    return nil
  }

  private func check(_ position: Int, below end: Int) {
    precondition(position >= 0 && position < end, "there is no element \(position) in a list of \(count)")
  }
}

extension Table {
  /// The list that was found before.
  ///
  /// - Precondition: it was found in this table, in the same version.
  public func list(_ found: StoredList.Found) -> StoredList { StoredList(found, content) }

  /// An empty list of a column, for a row that does not exist any more.
  package func emptyList(_ column: Int) -> StoredList { StoredList([], content, schema.columns[column]) }

  /// The list of a row; nil if there is no such row. O(log n) in the number of rows, and O(1) in the length of a long list.
  ///
  /// - Parameter column: the position of the column in the schema.
  /// - Precondition: the column is one of lists.
  /// - Throws: `.corrupted`.
  public func list(_ column: Int, ofRow key: UInt64) throws(StorageError) -> StoredList? {
    let content = content
    let stored = schema.columns[column]
    precondition(stored.collection == .list, "\(schema.name).\(stored.name) is no list")
    return try content.withRow(key, nil) { (cluster, row, access) throws(StorageError) in
      guard let part = cluster.composite(of: stored.id) else { return StoredList([], content, stored) }
      let cell = try cluster.cell(part, row, dictionary: .null, access.lent)
      if let tree = cell.tree { return try StoredList(tree: tree, content, stored, access) }
      let value = try TableReading.value(stored, row, of: cluster, dictionary: .null, access)
      return StoredList(value.elements ?? [], content, stored)
    }
  }
}
