/// Changes of lists, element by element. `column` is the position of the column in the schema. Each takes O(log n) in the length
/// of the list, and less if changes are near each other.
///
/// - Precondition: for all functions, the column is one of lists, and positions are those of elements.
/// - Throws: all functions throw `.corrupted` and `.limitExceeded`: then the transaction can't be committed.
extension WritableTable {
  /// The number of elements of a list; nil if there is no such row.
  public func listCount(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    try usableWriter().listCount(column, ofRow: key)
  }

  /// The element of a list at a position, as changed so far; nil if there is no such row.
  public func element(at position: Int, ofList column: Int, ofRow key: UInt64) throws(StorageError) -> Value?
  {
    try usableWriter().element(at: position, ofList: column, ofRow: key)
  }

  /// A group of elements of a list from a position on, as changed so far: those that are stored together. It is empty after the
  /// last element, and if there is no such row.
  public func elements(
    from position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> [Value] {
    precondition(position >= 0, "there is no element \(position)")
    return try usableWriter().list(column, ofRow: key)?.values(from: position) ?? []
  }

  /// Inserts elements before the one at a position, or at the end.
  ///
  /// - Returns: whether there is such a row.
  /// - Precondition: the values fit the column, and links lead to rows that exist.
  @discardableResult
  @inlinable
  public func insert(
    _ values: some Collection<Value>, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    // The function is inlined, so that the compiler specializes the loop for the type of the collection.
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

  /// Adds elements at the end of a list.
  ///
  /// - Returns: whether there is such a row.
  /// - Precondition: the values fit the column, and links lead to rows that exist.
  @discardableResult
  @inlinable
  public func append(
    _ values: some Collection<Value>, toList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    guard let count = try listCount(column, ofRow: key) else { return false }
    return try insert(values, at: count, ofList: column, ofRow: key)
  }

  /// Replaces the element at a position.
  ///
  /// - Returns: whether there is such a row.
  /// - Precondition: the value fits the column, and a link leads to a row that exists.
  @discardableResult
  public func setElement(
    _ value: Value, at position: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.setElement(value, at: position, writer.elements(column, key))).isDone
  }

  /// Removes the elements of a range of positions.
  ///
  /// - Returns: whether there is such a row.
  @discardableResult
  public func removeElements(
    _ range: Range<Int>, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.removeElements(range, writer.elements(column, key))).isDone
  }

  /// Moves an element to another position.
  ///
  /// - Parameters:
  ///   - old: the position of the element.
  ///   - new: its new position, counted without the element.
  /// - Returns: whether there is such a row.
  @discardableResult
  public func moveElement(
    from old: Int, to new: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.moveElement(from: old, to: new, writer.elements(column, key))).isDone
  }

  /// Swaps the elements at two positions.
  ///
  /// - Returns: whether there is such a row.
  @discardableResult
  public func swapElements(
    _ first: Int, _ second: Int, ofList column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.swapElements(first, second, writer.elements(column, key))).isDone
  }

  /// Puts the elements into another order. Takes time in proportion to the list.
  ///
  /// - Parameter order: for each new position the old position of its element.
  /// - Returns: whether there is such a row.
  /// - Precondition: `order` has each position once.
  @discardableResult
  public func reorderElements(_ order: [Int], ofList column: Int, ofRow key: UInt64) throws(StorageError)
    -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.reorderElements(order, writer.elements(column, key))).isDone
  }
}

extension WritableTable {
  /// A list, set or map with its present elements, which can be read while the transaction changes the collection; nil if there
  /// is no such row. O(log n) in the number of rows, and O(1) in the size of a large collection.
  ///
  /// - Parameter column: the position of the column in the schema.
  /// - Precondition: the column is one of collections.
  /// - Throws: `.corrupted`, `.limitExceeded`.
  public func holding(_ column: Int, ofRow key: UInt64) throws(StorageError) -> HeldCollection? {
    if schema.columns[column].collection == .list {
      return try usableWriter().list(column, ofRow: key)?.holding()
    }
    return try usableWriter().sorted(column, ofRow: key)?.holding()
  }
}

/// Changes of sets and maps, entry by entry. `column` is the position of the column in the schema. Each takes O(log n) in the
/// number of entries.
///
/// - Precondition: for all functions, the column is one of sets, or of maps, values fit it, and links lead to rows that exist.
/// - Throws: all functions throw `.corrupted` and `.limitExceeded`: then the transaction can't be committed.
extension WritableTable {
  /// The number of elements of a set, or of keys of a map; nil if there is no such row.
  public func sortedCount(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    try usableWriter().sortedCount(column, ofRow: key)
  }

  /// Whether a set has an equal element, as changed so far; nil if there is no such row.
  public func contains(_ element: Value, inSet column: Int, ofRow key: UInt64) throws(StorageError) -> Bool? {
    try usableWriter().sorted(column, ofRow: key)?.contains(element)
  }

  /// The position of the equal element of a set, as changed so far; nil if there is none, or no such row.
  public func position(of element: Value, inSet column: Int, ofRow key: UInt64) throws(StorageError) -> Int? {
    guard let place = try usableWriter().sorted(column, ofRow: key)?.position(of: element) else { return nil }
    return place.isThere ? place.position : nil
  }

  /// The element of a set, or the value of a map, at a position, as changed so far; nil if there is no such row.
  ///
  /// - Precondition: there is an entry at the position.
  public func element(
    at position: Int, ofSorted column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Value? {
    guard let open = try usableWriter().sorted(column, ofRow: key) else { return nil }
    let count = try open.count()
    precondition(
      position >= 0 && position < count, "there is no element \(position) in a collection of \(count)")
    return try open.entry(at: position).value
  }

  /// The value for a key of a map, as changed so far; nil if there is no such key, or no such row.
  public func value(
    forKey mapKey: String, ofMap column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Value? {
    try usableWriter().value(forKey: mapKey, ofMap: column, ofRow: key)
  }

  /// Adds elements to a set, except those to which an element of the set is equal. For many elements each node of the set is
  /// written once.
  ///
  /// - Returns: the number of added elements; nil if there is no such row.
  @discardableResult
  public func insert(_ elements: [Value], intoSet column: Int, ofRow key: UInt64) throws(StorageError) -> Int?
  {
    let writer = try usableWriter()
    return try writer.apply(.insertIntoSet(elements, writer.cell(column, key))).count
  }

  /// Removes the equal element of a set.
  ///
  /// - Returns: whether there was one; nil if there is no such row.
  @discardableResult
  public func remove(_ element: Value, fromSet column: Int, ofRow key: UInt64) throws(StorageError) -> Bool? {
    let writer = try usableWriter()
    return try writer.apply(.removeFromSet([element], writer.cell(column, key))).count.map { $0 == 1 }
  }

  /// Sets the value for a key of a map.
  ///
  /// - Returns: whether there is such a row.
  @discardableResult
  public func setValue(
    _ value: Value, forKey mapKey: String, ofMap column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.setValue(value, key: mapKey, writer.elements(column, key))).isDone
  }

  /// Removes a key of a map with its value.
  ///
  /// - Returns: whether the map had the key; nil if there is no such row.
  @discardableResult
  public func removeValue(
    forKey mapKey: String, ofMap column: Int, ofRow key: UInt64
  ) throws(StorageError) -> Bool? {
    let writer = try usableWriter()
    return try writer.apply(.removeValue(key: mapKey, writer.elements(column, key))).count.map { $0 == 1 }
  }
}

/// Changes of lists and maps that are parts of mixed values. Each is found by its id. The first change of such a list or map
/// takes time in proportion to the mixed value around it; the following ones take as long as on an array or a `ValueMap`, because
/// the mixed value is written once.
///
/// - Precondition: for all functions, the column of the place is one of mixed values, positions are those of elements, values may
///   be part of a mixed value with at most `Value.mostLevels` levels, and links lead to rows that exist.
/// - Throws: all functions throw `.corrupted` and `.limitExceeded`: then the transaction can't be committed.
extension WritableTable {
  /// The list or map, as changed so far; nil if there is no such row, or its cell does not have it any more.
  public func value(at place: NestedPlace) throws(StorageError) -> Value? {
    try usableWriter().nested(at: place)?.value
  }

  /// Inserts elements before the one at a position, or at the end.
  ///
  /// - Returns: whether there is such a list.
  @discardableResult
  public func insert(_ values: [Value], at position: Int, of place: NestedPlace) throws(StorageError) -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.insertElements(values, at: position, writer.elements(place))).isDone
  }

  /// Replaces the element at a position.
  ///
  /// - Returns: whether there is such a list.
  @discardableResult
  public func setElement(_ value: Value, at position: Int, of place: NestedPlace) throws(StorageError) -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.setElement(value, at: position, writer.elements(place))).isDone
  }

  /// Removes the elements of a range of positions.
  ///
  /// - Returns: whether there is such a list.
  @discardableResult
  public func removeElements(_ range: Range<Int>, of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.removeElements(range, writer.elements(place))).isDone
  }

  /// Moves an element to another position.
  ///
  /// - Parameters:
  ///   - old: the position of the element.
  ///   - new: its new position, counted without the element.
  /// - Returns: whether there is such a list.
  @discardableResult
  public func moveElement(from old: Int, to new: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.moveElement(from: old, to: new, writer.elements(place))).isDone
  }

  /// Swaps the elements at two positions.
  ///
  /// - Returns: whether there is such a list.
  @discardableResult
  public func swapElements(_ first: Int, _ second: Int, of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.swapElements(first, second, writer.elements(place))).isDone
  }

  /// Puts the elements into another order.
  ///
  /// - Parameter order: for each new position the old position of its element.
  /// - Returns: whether there is such a list.
  /// - Precondition: `order` has each position once.
  @discardableResult
  public func reorderElements(_ order: [Int], of place: NestedPlace) throws(StorageError) -> Bool {
    let writer = try usableWriter()
    return try writer.apply(.reorderElements(order, writer.elements(place))).isDone
  }

  /// Sets the value for a key of a map.
  ///
  /// - Returns: whether there is such a map.
  @discardableResult
  public func setValue(_ value: Value, forKey key: String, of place: NestedPlace) throws(StorageError) -> Bool
  {
    let writer = try usableWriter()
    return try writer.apply(.setValue(value, key: key, writer.elements(place))).isDone
  }

  /// Removes a key of a map with its value.
  ///
  /// - Returns: whether the map had the key; nil if there is no such map.
  @discardableResult
  public func removeValue(forKey key: String, of place: NestedPlace) throws(StorageError) -> Bool? {
    let writer = try usableWriter()
    return try writer.apply(.removeValue(key: key, writer.elements(place))).count.map { $0 == 1 }
  }
}
