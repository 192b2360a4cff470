/// The set or the map of a row, as a version or an open transaction has it: its entries are found one by one, or read in order.
///
/// A set or map of a transaction shows the changes that were made before it was asked for. It may not be read after a later change.
public struct StoredSorted {
  /// The place of a set or map in a version, or its content where that is small. A program that keeps it keeps no version in use.
  public struct Found: Sendable {
    fileprivate enum Form {
      case inline(Value)
      case tree(Ref)
    }

    fileprivate let form: Form
    fileprivate let column: Column
    /// How many elements a set has, or keys a map.
    public let count: Int
  }

  private let content: TableContent
  /// See `Table.sorted(_:)`.
  public let found: Found
  private var form: Found.Form { found.form }
  private var column: Column { found.column }
  /// How many elements a set has, or keys a map.
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

  /// Whether a set has an element that is equal. O(log n).
  ///
  /// - Throws: `.corrupted`.
  public func contains(_ element: Value) throws(StorageError) -> Bool {
    switch form {
    case .inline(let value): return SetPlace(of: element, in: value.elements ?? []).isThere
    case .tree(let root):
      return try SortedTree.contains(element, in: root, of: column, content.beginReading(for: content))
    }
  }

  /// The position of an element of a set; nil where none is equal. O(log n).
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

  /// The value of a key of a map; nil where there is none. O(log n).
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

  /// The element of a set, or the value of a map, at a position in the order of the elements, or of the keys. O(log n).
  ///
  /// - Precondition: there is one.
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

  /// Entries from a position on, in their order, a few hundred at most; none behind the last. A set has no keys. O(log n) beside the
  /// entries.
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

  /// All of it: `.list` for a set, in order, `.map` for a map.
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
  /// A set or map that was found before.
  ///
  /// - Precondition: it was found in a table of this version.
  public func sorted(_ found: StoredSorted.Found) -> StoredSorted { StoredSorted(found, content) }

  /// A set or map without entries, in the place of one whose row is gone.
  package func emptySorted(_ column: Int) -> StoredSorted {
    StoredSorted(schema.columns[column].absentValue, content, schema.columns[column])
  }

  /// The set or map of a row; nil where there is no such row. O(log n), and O(1) in the size of a large one.
  ///
  /// - Precondition: the column, named by its position in the schema, is one of sets or maps.
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

  /// The list or map that stands in a mixed value; nil where there is no such row, or it is not in its cell any more.
  ///
  /// Takes time in proportion to the mixed value in which it stands, where `place.near` is right or nearly so; else to what stands before
  /// it in the cell.
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
