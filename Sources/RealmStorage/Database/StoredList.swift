/// The list of a row, as a version or an open transaction has it: its elements are read one by one, or as many as stand
/// together.
///
/// What is read of a list of a transaction does not show later changes, and nothing may be read of it after them.
public struct StoredList {
  private enum Form {
    case inline([Value])
    case tree(Ref)
  }

  private let content: TableContent
  private let element: Column
  private let form: Form
  public let count: Int

  fileprivate init(_ values: [Value], _ content: TableContent, _ column: Column) {
    self.content = content
    element = column.element
    form = .inline(values)
    count = values.count
  }

  fileprivate init(
    tree: Ref, _ content: TableContent, _ column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    self.content = content
    element = column.element
    form = .tree(tree)
    count = try ListTree.count(tree, access)
  }

  /// The element at a position. O(log n).
  ///
  /// - Precondition: there is one.
  /// - Throws: `.corrupted`.
  public func element(at position: Int) throws(StorageError) -> Value {
    check(position, below: count)
    switch form {
    case .inline(let values): return values[position]
    case .tree(let root):
      return try ListTree.value(at: position, of: root, element, content.beginReading(for: content))
    }
  }

  /// The elements from a position on, as many as stand together: all of a short list, up to 512 of a long one; none behind the
  /// last element. Who walks a list asks for what follows, so that the list is never in memory whole. O(log n) beside the
  /// elements.
  ///
  /// - Precondition: the position is at most `count`.
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

  /// All elements.
  ///
  /// - Throws: `.corrupted`.
  public func elements() throws(StorageError) -> [Value] {
    switch form {
    case .inline(let values): return values
    case .tree(let root): return try ListTree.values(root, element, content.beginReading(for: content))
    }
  }

  /// The position of the first element of which `condition` holds; nil where there is none.
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
  /// The list of a row; nil where there is no such row. O(log n), and O(1) in the length of a long list.
  ///
  /// - Precondition: the column, named by its position in the schema, is one of lists.
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

/// Lists of rows, changed element by element. O(log n) in the length of a list, less where changes lie near each other.
///
/// - Precondition: of all, the column, named by its position in the schema, is one of lists, and positions are those of
///   elements.
/// - Throws: of all, `.corrupted`, and `.limitExceeded`: then the transaction can't be committed any more.
extension WritableTable {
  /// How many elements a list has; nil where there is no such row.
  public func listCount(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    try usableWriter().list(column, ofRow: key)?.count
  }

  /// An element of a list, as changed so far; nil where there is no such row.
  public func element(at position: Int, ofList column: Int, ofRow key: UInt64) throws(StorageError) -> Value?
  {
    guard let list = try usableWriter().list(column, ofRow: key) else { return nil }
    precondition(
      position >= 0 && position < list.count, "there is no element \(position) in a list of \(list.count)")
    return try list.value(at: position)
  }

  /// Elements of a list from a position on, as changed so far, as many as stand together; none behind the last element, or
  /// where there is no such row.
  public func elements(
    from position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> [Value] {
    precondition(position >= 0, "there is no element \(position)")
    return try usableWriter().list(column, ofRow: key)?.values(from: position) ?? []
  }

  /// Inserts elements before the one at a position, or behind all. Answers whether there is such a row.
  ///
  /// - Precondition: the values fit the column, and links point to rows there are.
  @discardableResult
  public func insert(
    _ values: some Collection<Value>, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    try usableWriter().insert(values, at: position, ofList: column, ofRow: key)
  }

  /// Adds elements behind all others. Answers whether there is such a row.
  ///
  /// - Precondition: the values fit the column, and links point to rows there are.
  @discardableResult
  public func append(
    _ values: some Collection<Value>, toList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    guard let count = try writer.list(column, ofRow: key)?.count else { return false }
    return try writer.insert(values, at: count, ofList: column, ofRow: key)
  }

  /// Replaces an element. Answers whether there is such a row.
  ///
  /// - Precondition: the value fits the column, and a link points to a row there is.
  @discardableResult
  public func setElement(
    _ value: Value, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    try usableWriter().setElement(value, at: position, ofList: column, ofRow: key)
  }

  /// Removes elements that follow each other. Answers whether there is such a row.
  @discardableResult
  public func removeElements(
    _ range: Range<Int>, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    try usableWriter().removeElements(range, ofList: column, ofRow: key)
  }

  /// Moves an element to another position, counted without it. Answers whether there is such a row.
  @discardableResult
  public func moveElement(
    from old: Int, to new: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    try usableWriter().moveElement(from: old, to: new, ofList: column, ofRow: key)
  }

  /// Exchanges two elements. Answers whether there is such a row.
  @discardableResult
  public func swapElements(
    _ first: Int, _ second: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    try usableWriter().swapElements(first, second, ofList: column, ofRow: key)
  }
}
