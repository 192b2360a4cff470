/// The set or map of a row in a version or an open transaction. Its entries are found one by one, or read in order.
///
/// A set or map of a transaction shows the changes that were made before it was requested. It must not be read after a later
/// change.
public struct StoredSorted {
  /// What was found of a set or map: its position in the file, or its content if it is small. Keeping it does not keep the
  /// version in the file.
  public struct Found: Sendable {
    fileprivate enum Form {
      case inline(Value)
      case tree(Ref)
    }

    fileprivate let form: Form
    fileprivate let column: Column
    /// The number of elements of a set, or of keys of a map.
    public let count: Int
  }

  private let content: TableContent
  /// What was found of the set or map; see `Table.sorted(_:)`.
  public let found: Found
  private var form: Found.Form { found.form }
  private var column: Column { found.column }
  /// The number of elements of a set, or of keys of a map.
  public var count: Int { found.count }

  fileprivate init(_ value: Value, _ content: TableContent, _ column: Column) {
    self.content = content
    found = Found(form: .inline(value), column: column, count: value.elements?.count ?? 0)
  }

  fileprivate init(_ found: Found, _ content: TableContent) {
    self.content = content
    self.found = found
  }

  fileprivate init(
    tree: Ref, _ content: TableContent, _ column: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    self.content = content
    let count = Int(clamping: try SortedTree.count(tree, access))
    found = Found(form: .tree(tree), column: column, count: count)
  }

  /// Whether a set has an equal element. O(log n).
  ///
  /// - Throws: `.corrupted`.
  public func contains(_ element: Value) throws(StorageError) -> Bool {
    switch form {
    case .inline(let value): return SetPlace(of: element, in: value.elements ?? []).isThere
    case .tree(let root):
      return try SortedTree.contains(element, in: root, of: column, content.beginReading(for: content))
    }
  }

  /// The position of the equal element of a set; nil if there is none. O(log n).
  ///
  /// - Throws: `.corrupted`.
  public func position(of element: Value) throws(StorageError) -> Int? {
    switch form {
    case .inline(let value):
      let place = SetPlace(of: element, in: value.elements ?? [])
      return place.isThere ? place.index : nil
    case .tree(let root):
      let access = content.beginReading(for: content)
      let place = try SortedTree.position(of: element, in: root, of: column, access)
      return place.isThere ? Int(clamping: place.position) : nil
    }
  }

  /// The value for a key of a map; nil if there is none. O(log n).
  ///
  /// - Throws: `.corrupted`.
  public func value(forKey key: String) throws(StorageError) -> Value? {
    switch form {
    case .inline(.map(let map, _)): return map[key]
    case .inline: return nil
    case .tree(let root):
      return try SortedTree.value(of: key, in: root, of: column, content.beginReading(for: content))
    }
  }

  /// The element of a set, or the value of a map, at a position in the order of the elements or keys. O(log n).
  ///
  /// - Precondition: `position` is in `0..<count`.
  /// - Throws: `.corrupted`.
  public func element(at position: Int) throws(StorageError) -> Value {
    precondition(
      position >= 0 && position < count, "there is no element \(position) in a collection of \(count)")
    switch form {
    case .inline(let value): return value.elements?[position] ?? .null
    case .tree(let root):
      let access = content.beginReading(for: content)
      guard let entry = try SortedTree.entry(at: UInt64(position), in: root, of: column, access) else {
        throw access.corrupted(.rows, root)
      }
      return entry.value
    }
  }

  /// A group of entries from a position on, in their order: at most 256 of a large collection, all of a small one, and none after
  /// the last entry. The keys are nil for a set. Takes O(log n), and time in proportion to the returned entries.
  ///
  /// - Throws: `.corrupted`.
  public func entries(from position: Int) throws(StorageError) -> [(key: String?, value: Value)] {
    guard position < count else { return [] }
    switch form {
    case .inline(.map(let map, _)):
      return zip(map.keys, map.values).dropFirst(position).map { ($0, $1) }
    case .inline(let value): return (value.elements ?? []).dropFirst(position).map { (nil, $0) }
    case .tree(let root):
      let access = content.beginReading(for: content)
      return try SortedTree.entries(
        from: position, atMost: HeldCollection.entriesAtATime, in: root, of: column, access
      ).map { ($0.key, $0.value) }
    }
  }

  /// The whole content: a `.list` in the order of the elements for a set, a `.map` for a map.
  ///
  /// - Throws: `.corrupted`.
  public func all() throws(StorageError) -> Value {
    switch form {
    case .inline(let value): return value
    case .tree(let root): return try SortedTree.all(root, of: column, content.beginReading(for: content))
    }
  }
}

extension Table {
  /// The set or map that was found before.
  ///
  /// - Precondition: it was found in this table, in the same version.
  public func sorted(_ found: StoredSorted.Found) -> StoredSorted { StoredSorted(found, content) }

  /// An empty set or map of a column, for a row that does not exist any more.
  package func emptySorted(_ column: Int) -> StoredSorted {
    StoredSorted(schema.columns[column].absentValue, content, schema.columns[column])
  }

  /// The set or map of a row; nil if there is no such row. O(log n) in the number of rows, and O(1) in the size of a large one.
  ///
  /// - Parameter column: the position of the column in the schema.
  /// - Precondition: the column is one of sets or maps.
  /// - Throws: `.corrupted`.
  public func sorted(_ column: Int, ofRow key: UInt64) throws(StorageError) -> StoredSorted? {
    let content = content
    let stored = schema.columns[column]
    precondition(
      stored.collection == .set || stored.collection == .map,
      "\(schema.name).\(stored.name) is no set and no map")
    return try content.withRow(key, nil) { (cluster, row, access) throws(StorageError) in
      guard let part = cluster.composite(of: stored.id) else {
        return StoredSorted(stored.absentValue, content, stored)
      }
      let cell = try cluster.cell(part, row, dictionary: .null, access.lent)
      if let tree = cell.tree { return try StoredSorted(tree: tree, content, stored, access) }
      let value = try TableReading.value(stored, row, of: cluster, dictionary: .null, access)
      return StoredSorted(value, content, stored)
    }
  }

  /// The list or map that is part of a mixed value; nil if there is no such row, or its cell does not have the list or map any
  /// more.
  ///
  /// Takes time in proportion to the mixed value around it if `place.near` is right or nearly right; otherwise to everything that
  /// stands before it in the cell.
  ///
  /// - Precondition: the column is one of mixed values.
  /// - Throws: `.corrupted`.
  public func value(at place: NestedPlace) throws(StorageError) -> Value? {
    let column = schema.columns[place.column]
    precondition(column.type == .mixed, "\(schema.name).\(column.name) holds no mixed values")
    func found(in value: Value?) -> Value? {
      guard let value, let path = value.nestedPath(to: place.id) else { return nil }
      return value.nested(at: path)
    }
    switch column.collection {
    case .none: return found(in: try value(column, ofRow: place.row))
    case .list:
      guard let list = try list(place.column, ofRow: place.row) else { return nil }
      for index in place.positionsToLook(in: list.count) {
        if let value = found(in: try list.element(at: index)) { return value }
      }
      var index = 0
      while index < list.count {
        let values = try list.elements(from: index)
        for value in values { if let value = found(in: value) { return value } }
        index += values.count
      }
    case .map:
      guard let map = try sorted(place.column, ofRow: place.row) else { return nil }
      if case .key(let key)? = place.near { return found(in: try map.value(forKey: key)) }
      for value in try map.all().elements ?? [] { if let value = found(in: value) { return value } }
    case .set: break
    }
    return nil
  }
}
