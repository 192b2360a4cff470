import RealmStorage

/// Lists that are a property of their own. The engine reads and changes their elements, so that the time grows with the
/// length of the list only if it must.
extension _CollectionCell {
  var column: Int { owner.context.binding.columns[position] }

  /// The list in the version that the realm reads.
  ///
  /// - Precondition: no transaction is open.
  mutating func storedList() -> StoredList {
    let session = owner.session
    session.check()
    if let knownList, knownList.generation == session.generation, !owner.isInvalid,
      let table = reading({ () throws(StorageError) in try owner.context.currentTable() })
    {
      return table.list(knownList.found)
    }
    let list = owner.context.collection(position, owner.row, birth: owner.birth) {
      (table, column, row) throws(StorageError) in
      try table.list(column, ofRow: row)
    } orEmpty: { (table, column) in
      table.emptyList(column)
    }
    knownList = (list.found, session.generation)
    return list
  }

  /// Reads the collection in the open transaction.
  ///
  /// - Parameter empty: the result for the collection of a deleted object whose values are kept.
  func read<Result>(
    orEmpty empty: Result? = nil, _ body: (WritableTable) throws(StorageError) -> Result?
  ) -> Result {
    let (context, session) = (owner.context, owner.session)
    session.check()
    let isNew = context.isNew(birth: owner.birth)
    let found = reading { () throws(StorageError) -> Result? in
      if owner.isInvalid { return nil }
      guard let table = try session.writable(context.binding) else { return nil }
      if let found = try body(table) { return found }
      return context.notesHandles ? empty : nil
    }
    guard let found else { context.stopMissing(position, isNew: isNew) }
    return found
  }

  /// The number of elements of a list or set.
  mutating func count() -> Int {
    if isSorted { return sortedCount() }
    guard isList else { return elements().count }
    guard owner.session.isWriting else {
      owner.session.check()
      if let knownList, knownList.generation == owner.session.generation, !owner.isInvalid {
        return knownList.found.count
      }
      return storedList().count
    }
    let (column, row) = (column, owner.row)
    return read(orEmpty: 0) { (table) throws(StorageError) in try table.listCount(column, ofRow: row) }
  }

  /// An element of a list or set.
  ///
  /// - Precondition: the index is in range.
  mutating func element(at index: Int) -> Value {
    if isSorted { return sortedElement(at: index) }
    guard isList else { return elements()[index] }
    let (column, row) = (column, owner.row)
    if owner.session.isWriting {
      return read { (table) throws(StorageError) in try table.element(at: index, ofList: column, ofRow: row) }
    }
    let list = storedList()
    return reading { () throws(StorageError) in try list.element(at: index) }
  }

  /// The index of the first element of a list or set for which a condition holds.
  mutating func firstIndex(where condition: (Value) -> Bool) -> Int? {
    guard isList else { return elements().firstIndex(where: condition) }
    guard owner.session.isWriting else {
      let list = storedList()
      return reading { () throws(StorageError) in
        try withoutActuallyEscaping(condition) { (condition) throws(StorageError) in
          try list.firstIndex(where: condition)
        }
      }
    }
    let (column, row) = (column, owner.row)
    var index = 0
    while true {
      let start = index
      let values = read(orEmpty: []) { (table) throws(StorageError) -> [Value]? in
        try table.listCount(column, ofRow: row) == nil
          ? nil : table.elements(from: start, ofList: column, ofRow: row)
      }
      if values.isEmpty { return nil }
      if let found = values.firstIndex(where: condition) { return start + found }
      index += values.count
    }
  }

  /// Adds a value at the end of a list that the engine changes, and that holds no objects.
  func append(_ value: Value) {
    change { (table, column, row) throws(StorageError) in
      try table.append(CollectionOfOne(value), toList: column, ofRow: row)
    }
  }

  func change(list change: ListChange, _ added: [Value]) {
    self.change { (table, column, row) throws(StorageError) in
      try WritableList(table, column, row, nestedPlace).change(change, added)
    }
  }
}

extension ObjectContext {
  /// A collection in the version that the session reads.
  ///
  /// - Parameter empty: the collection of a deleted object whose values are kept.
  /// - Precondition: no transaction is open.
  func collection<Found>(
    _ position: Int, _ row: UInt64, birth: UInt64,
    _ find: (Table, _ column: Int, _ row: UInt64) throws(StorageError) -> Found?,
    orEmpty empty: (Table, _ column: Int) -> Found?
  ) -> Found {
    let isInvalid = session.isInvalid(row, birth: birth, binding)
    let found = reading { () throws(StorageError) -> Found? in
      guard !isInvalid, let table = try currentTable() else { return nil }
      if let found = try find(table, binding.columns[position], row) { return found }
      return notesHandles ? empty(table, binding.columns[position]) : nil
    }
    guard let found else { stopMissing(position, isNew: isNew(birth: birth)) }
    return found
  }
}
