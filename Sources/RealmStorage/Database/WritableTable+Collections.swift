/// Lists of rows, changed element by element. O(log n) in the length of a list, less where changes lie near each other.
///
/// - Precondition: of all, the column, named by its position in the schema, is one of lists, and positions are those of
///   elements.
/// - Throws: of all, `.corrupted`, and `.limitExceeded`: then the transaction can't be committed any more.
extension WritableTable {
  /// How many elements a list has; nil where there is no such row.
  public func listCount(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    try usableWriter().listCount(column, ofRow: key)
  }

  /// An element of a list, as changed so far; nil where there is no such row.
  public func element(at position: Int, ofList column: Int, ofRow key: UInt64) throws(StorageError) -> Value?
  {
    try usableWriter().element(at: position, ofList: column, ofRow: key)
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
  @inlinable
  public func insert(
    _ values: some Collection<Value>, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    // Inlined, so that the values are walked by code for their type.
    if values.count == 1, let value = values.first {
      return try insert(one: value, at: position, ofList: column, ofRow: key)
    }
    var (part, place): ([Value], Int) = ([], position)
    part.reserveCapacity(Swift.min(values.count, 1024))
    for value in values {
      part.append(value)
      if part.count < 1024 { continue }
      guard try insert(all: part, at: place, ofList: column, ofRow: key) else { return false }
      place += part.count
      part.removeAll(keepingCapacity: true)
    }
    return try insert(all: part, at: place, ofList: column, ofRow: key)
  }

  @usableFromInline
  func insert(
    one value: Value, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.insertElement(value, at: position, writer.elements(column, key))).isDone
  }

  @usableFromInline
  func insert(
    all values: [Value], at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.insertElements(values, at: position, writer.elements(column, key))).isDone
  }

  /// Adds elements behind all others. Answers whether there is such a row.
  ///
  /// - Precondition: the values fit the column, and links point to rows there are.
  @discardableResult
  @inlinable
  public func append(
    _ values: some Collection<Value>, toList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    guard let count = try listCount(column, ofRow: key) else { return false }
    return try insert(values, at: count, ofList: column, ofRow: key)
  }

  /// Replaces an element. Answers whether there is such a row.
  ///
  /// - Precondition: the value fits the column, and a link points to a row there is.
  @discardableResult
  public func setElement(
    _ value: Value, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.setElement(value, at: position, writer.elements(column, key))).isDone
  }

  /// Removes elements that follow each other. Answers whether there is such a row.
  @discardableResult
  public func removeElements(
    _ range: Range<Int>, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.removeElements(range, writer.elements(column, key))).isDone
  }

  /// Moves an element to another position, counted without it. Answers whether there is such a row.
  @discardableResult
  public func moveElement(
    from old: Int, to new: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.moveElement(from: old, to: new, writer.elements(column, key))).isDone
  }

  /// Exchanges two elements. Answers whether there is such a row.
  @discardableResult
  public func swapElements(
    _ first: Int, _ second: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.swapElements(first, second, writer.elements(column, key))).isDone
  }

  /// Puts elements into other places. Answers whether there is such a row. Takes time in proportion to the list.
  ///
  /// - Parameter order: of each place, from which it gets its element.
  /// - Precondition: `order` names each position once.
  @discardableResult
  public func reorderElements(_ order: [Int], ofList column: Int, ofRow key: UInt64) throws(StorageError)
    -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.reorderElements(order, writer.elements(column, key))).isDone
  }
}

extension WritableTable {
  /// A list, set or map as it is now, to be walked while the transaction changes it; nil where there is no such row. O(log n), and O(1)
  /// in the size of a large one.
  ///
  /// - Precondition: the column, named by its position in the schema, is one of collections.
  /// - Throws: `.corrupted`, `.limitExceeded`.
  public func holding(_ column: Int, ofRow key: UInt64) throws(StorageError) -> HeldCollection? {
    if schema.columns[column].collection == .list {
      return try usableWriter().list(column, ofRow: key)?.holding()
    }
    return try usableWriter().sorted(column, ofRow: key)?.holding()
  }
}

/// Sets and maps of rows, changed entry by entry. O(log n) in the number of entries.
///
/// - Precondition: of all, the column, named by its position in the schema, is one of sets, or of maps, and values fit it; links
///   point to rows there are.
/// - Throws: of all, `.corrupted`, and `.limitExceeded`: then the transaction can't be committed any more.
extension WritableTable {
  /// How many elements a set has, or keys a map; nil where there is no such row.
  public func sortedCount(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    try usableWriter().sortedCount(column, ofRow: key)
  }

  /// Whether a set has an element that is equal, as changed so far; nil where there is no such row.
  public func contains(_ element: Value, inSet column: Int, ofRow key: UInt64) throws(StorageError) -> Bool? {
    try usableWriter().sorted(column, ofRow: key)?.contains(element)
  }

  /// The position of an element of a set, as changed so far; nil where none is equal, or there is no such row.
  public func position(of element: Value, inSet column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    guard let place = try usableWriter().sorted(column, ofRow: key)?.position(of: element) else { return nil }
    return place.isThere ? place.position : nil
  }

  /// The element of a set, or the value of a map, at a position, as changed so far; nil where there is no such row.
  public func element(
    at position: Int, ofSorted column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Value? {
    guard let open = try usableWriter().sorted(column, ofRow: key) else { return nil }
    let count = try open.count()
    precondition(
      position >= 0 && position < count, "there is no element \(position) in a collection of \(count)")
    return try open.entry(at: position).value
  }

  /// The value of a key of a map, as changed so far; nil where there is no such key, or no such row.
  public func value(
    forKey mapKey: String, ofMap column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Value? {
    try usableWriter().value(forKey: mapKey, ofMap: column, ofRow: key)
  }

  /// Adds the elements that no element of a set is equal to; answers how many, or nil where there is no such row. Of many
  /// elements each node of the set is written once.
  @discardableResult
  public func insert(_ elements: [Value], intoSet column: Int, ofRow key: UInt64) throws(StorageError) -> Int?
  {
    let writer = try usableWriter()
    return try writer.apply(.insertIntoSet(elements, writer.cell(column, key))).count
  }

  /// Removes the element of a set that is equal; answers whether there was one, or nil where there is no such row.
  @discardableResult
  public func remove(_ element: Value, fromSet column: Int, ofRow key: UInt64) throws(StorageError) -> Bool? {
    let writer = try usableWriter()
    return try writer.apply(.removeFromSet([element], writer.cell(column, key))).count.map { $0 == 1 }
  }

  /// Sets the value of a key of a map. Answers whether there is such a row.
  @discardableResult
  public func setValue(
    _ value: Value, forKey mapKey: String, ofMap column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.setValue(value, key: mapKey, writer.elements(column, key))).isDone
  }

  /// Removes a key of a map; answers whether it was there, or nil where there is no such row.
  @discardableResult
  public func removeValue(
    forKey mapKey: String, ofMap column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool? {
    let writer = try usableWriter()
    return try writer.apply(.removeValue(key: mapKey, writer.elements(column, key))).count.map { $0 == 1 }
  }
}

/// Lists and maps that stand in mixed values, each found by its id. An operation takes time in proportion to the mixed value in
/// which the list or map stands, when it is the first one there; those that follow take as long as on an array or a `ValueMap`, since the
/// mixed value is written once.
///
/// - Precondition: of all, the column of a place is one of mixed values, positions are those of elements, and values may stand in a mixed
///   value, not more than `Value.mostLevels` deep; links point to rows there are.
/// - Throws: of all, `.corrupted`, and `.limitExceeded`: then the transaction can't be committed any more.
extension WritableTable {
  /// The list or map, as changed so far; nil where there is no such row, or it is not in its cell any more.
  public func value(at place: NestedPlace) throws(StorageError) -> Value? {
    try usableWriter().nested(at: place)?.value
  }

  /// Inserts elements before the one at a position, or behind all. Answers whether there is such a list.
  @discardableResult
  public func insert(_ values: [Value], at position: Int, of place: NestedPlace) throws(StorageError) -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.insertElements(values, at: position, writer.elements(place))).isDone
  }

  /// Replaces an element. Answers whether there is such a list.
  @discardableResult
  public func setElement(_ value: Value, at position: Int, of place: NestedPlace) throws(StorageError) -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.setElement(value, at: position, writer.elements(place))).isDone
  }

  /// Removes elements that follow each other. Answers whether there is such a list.
  @discardableResult
  public func removeElements(_ range: Range<Int>, of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.removeElements(range, writer.elements(place))).isDone
  }

  /// Moves an element to another position, counted without it. Answers whether there is such a list.
  @discardableResult
  public func moveElement(from old: Int, to new: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.moveElement(from: old, to: new, writer.elements(place))).isDone
  }

  /// Exchanges two elements. Answers whether there is such a list.
  @discardableResult
  public func swapElements(_ first: Int, _ second: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.swapElements(first, second, writer.elements(place))).isDone
  }

  /// Puts elements into other places: `order` tells of each place from which it gets its element. Answers whether there is such a
  /// list.
  @discardableResult
  public func reorderElements(_ order: [Int], of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.reorderElements(order, writer.elements(place))).isDone
  }

  /// Sets the value of a key. Answers whether there is such a map.
  @discardableResult
  public func setValue(_ value: Value, forKey key: String, of place: NestedPlace) throws(StorageError) -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.setValue(value, key: key, writer.elements(place))).isDone
  }

  /// Removes a key; answers whether it was there, or nil where there is no such map.
  @discardableResult
  public func removeValue(forKey key: String, of place: NestedPlace) throws(StorageError) -> Bool? {
    let writer = try usableWriter()
    return try writer.apply(.removeValue(key: key, writer.elements(place))).count.map { $0 == 1 }
  }
}
