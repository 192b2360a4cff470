import RealmStorage

/// Sets and maps that are a property of their own. The engine reads and changes their entries, so that the time grows
/// with the size of the set or map only if it must.
extension _CollectionCell {
  /// The set or map in the version that the realm reads.
  ///
  /// - Precondition: no transaction is open.
  mutating func storedSorted() -> StoredSorted {
    let session = owner.session
    session.check()
    if let knownSorted, knownSorted.generation == session.generation, !owner.isInvalid,
      let table = reading({ () throws(StorageError) in try owner.context.currentTable() })
    {
      return table.sorted(knownSorted.found)
    }
    let sorted = owner.context.collection(position, owner.row, birth: owner.birth) {
      (table, column, row) throws(StorageError) in
      try table.sorted(column, ofRow: row)
    } orEmpty: { (table, column) in
      table.emptySorted(column)
    }
    knownSorted = (sorted.found, session.generation)
    return sorted
  }

  mutating func sortedCount() -> Int {
    guard owner.session.isWriting else { return storedSorted().count }
    let (column, row) = (column, owner.row)
    return read(orEmpty: 0) { (table) throws(StorageError) in try table.sortedCount(column, ofRow: row) }
  }

  /// The element of a set, or the value of a map, at a position.
  ///
  /// - Precondition: the position is in range.
  mutating func sortedElement(at index: Int) -> Value {
    let (column, row) = (column, owner.row)
    if owner.session.isWriting {
      return read { (table) throws(StorageError) in try table.element(at: index, ofSorted: column, ofRow: row)
      }
    }
    let sorted = storedSorted()
    return reading { () throws(StorageError) in try sorted.element(at: index) }
  }

  /// Whether a set has an equal element.
  mutating func contains(_ element: Value) -> Bool {
    guard isSorted else { return SetPlace(of: element, in: elements()).isThere }
    let (column, row) = (column, owner.row)
    if owner.session.isWriting {
      return read(orEmpty: false) { (table) throws(StorageError) in
        try table.contains(element, inSet: column, ofRow: row)
      }
    }
    let sorted = storedSorted()
    return reading { () throws(StorageError) in try sorted.contains(element) }
  }

  /// The position of an element of a set; nil if no element is equal.
  mutating func position(of element: Value) -> Int? {
    guard isSorted else {
      let place = SetPlace(of: element, in: elements())
      return place.isThere ? place.index : nil
    }
    let (column, row) = (column, owner.row)
    if owner.session.isWriting {
      return read(orEmpty: .some(nil)) { (table) throws(StorageError) -> Int?? in
        guard try table.contains(row) else { return nil }
        return .some(try table.position(of: element, inSet: column, ofRow: row))
      }
    }
    let sorted = storedSorted()
    return reading { () throws(StorageError) in try sorted.position(of: element) }
  }

  /// The value of a key of a map; nil if the map does not have the key.
  mutating func value(forKey key: String) -> Value? {
    guard isSorted else { return map()[key] }
    let (column, row) = (column, owner.row)
    if owner.session.isWriting {
      return read(orEmpty: .some(nil)) { (table) throws(StorageError) -> Value?? in
        guard try table.contains(row) else { return nil }
        return .some(try table.value(forKey: key, ofMap: column, ofRow: row))
      }
    }
    let sorted = storedSorted()
    return reading { () throws(StorageError) in try sorted.value(forKey: key) }
  }

  // MARK: - Changing

  /// Sets the values of keys of a map.
  func set(_ entries: [(key: String, value: Value)]) {
    let nestedPlace = nestedPlace
    change { (table, column, row) throws(StorageError) in
      for (key, value) in entries {
        let isThere =
          if let nestedPlace {
            try table.setValue(value, forKey: key, of: nestedPlace)
          } else {
            try table.setValue(value, forKey: key, ofMap: column, ofRow: row)
          }
        if !isThere { return false }
      }
      return try table.contains(row)
    }
  }

  /// Removes a key of a map.
  func remove(_ key: String) {
    let nestedPlace = nestedPlace
    change { (table, column, row) throws(StorageError) in
      if let nestedPlace { return try table.removeValue(forKey: key, of: nestedPlace) != nil }
      return try table.removeValue(forKey: key, ofMap: column, ofRow: row) != nil
    }
  }

  /// Replaces all entries of a map.
  mutating func replace(by map: ValueMap) {
    guard nestedPlace != nil else {
      return change { (table, column, row) throws(StorageError) in
        try table.set(.map(map), column, ofRow: row)
      }
    }
    checkOpen()
    for key in self.map().keys where map[key] == nil { remove(key) }
    set(zip(map.keys, map.values).map { ($0, $1) })
  }

  /// Changes a collection. `body` returns false if there is no such row, or the collection is not in it any more.
  func change(_ body: (WritableTable, _ column: Int, _ row: UInt64) throws(StorageError) -> Bool) {
    let context = owner.context
    checkOpen()
    if owner.isInvalid { context.stopInvalidated(position) }
    let (column, row) = (column, owner.row)
    let isThere = context.session.writing(context.binding) { (table) throws(StorageError) in
      try body(table, column, row)
    }
    if isThere { return }
    if nestedPlace != nil, owner.isThere { stopGone() }
    context.stopInvalidated(position)
  }
}
