/// Objects that arrive in several transactions and become visible in one.
///
/// The objects of a class without visible objects are made in a hidden table; those that arrive together are made in
/// one transaction. When all objects are there, each index is made in a transaction of its own. The last transaction
/// gives the trees of the hidden table to the class. It writes only a few nodes, however many objects there are. So
/// another writer never waits for long for one of these transactions.
package struct PreparedObjects {
  private let transaction: WriteTransaction
  private let tables: OpenTables

  /// - Throws: `.corrupted`.
  package init(_ transaction: WriteTransaction) throws(StorageError) {
    self.transaction = transaction
    tables = try transaction.tables()
  }

  /// The classes with prepared objects, in the order of the hidden tables.
  package var classes: [String] {
    let shown = Set(tables.allSchemas.filter { !$0.isHidden }.map { Array($0.name.utf8) })
    return tables.allSchemas.filter { $0.isHidden && !$0.isDropped && shown.contains(Array($0.name.utf8)) }
      .sorted { $0.id < $1.id }.map(\.name)
  }

  /// Prepares the objects of creations.
  ///
  /// - Returns: The indexes of the creations that can't be prepared, because their class has objects, collections or
  ///   links, or because they do not fit their class.
  /// - Throws: `.limitExceeded`, `.corrupted`. After an error the transaction can't be committed.
  package func add(_ created: CreatedObjects) throws(StorageError) -> [Int] {
    var inserter = CreationInserter(created, tables, prepares: true)
    var left: [Int] = []
    while let place = try inserter.next() { left.append(place) }
    return left
  }

  /// Makes one of the indexes of prepared objects. Takes time in proportion to the objects of its class.
  ///
  /// - Returns: False, without any change, if all indexes are made.
  /// - Throws: `.duplicateKey` if two objects have the same key. They can't be shown then, but they can be made one by
  ///   one (`forEach`). `.corrupted`. After an error the transaction can't be committed.
  package func makeIndex() throws(StorageError) -> Bool {
    for name in classes {
      if let prepared = try tables.writer(name, isHidden: true), try tables.indexPrepared(prepared) {
        return true
      }
    }
    return false
  }

  /// Makes the prepared objects of a class visible.
  ///
  /// - Returns: False, without any change, if the class has objects by now or was changed, if an index was not made, or
  ///   if the transaction has a recorder. The objects must be made one by one then (`forEach`).
  /// - Throws: `.corrupted`. After an error the transaction can't be committed.
  package func show(_ name: String) throws(StorageError) -> Bool {
    guard let prepared = try tables.writer(name, isHidden: true) else { return true }
    return try tables.showPrepared(prepared)
  }

  /// Removes the prepared objects of a class. Takes time in proportion to the nodes that they take.
  ///
  /// - Throws: `.corrupted`. After an error the transaction can't be committed.
  package func forget(_ name: String) throws(StorageError) {
    guard let prepared = try tables.writer(name, isHidden: true) else { return }
    try prepared.removeAll()
    tables.drop(prepared)
  }

  /// Calls `created` with the prepared objects of a class, some at a time, and `single` with each object that has long
  /// values.
  ///
  /// - Throws: `.corrupted`; the errors of the closures.
  package func forEach(
    of name: String, created: (CreatedObjects) throws(StorageError) -> Void,
    single: (ObjectInstructions) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard let table = try transaction.hiddenTable(name)?.reading(),
      let id = try transaction.table(name)?.schema.primaryKey?.id,
      let key = table.schema.columns.firstIndex(where: { $0.id == id })
    else { return }
    guard var writer = CreationWriter(table, key: key) else {
      throw transaction.access().corrupted(.structure, table.clusters)
    }
    var position = 0
    while position < table.count {
      let (looked, apart) = try writer.add(
        from: position, most: ClusterNode.maximumRows, fields: [], where: nil)
      try created(writer.finish())
      if !apart.isEmpty {
        try forEach(of: Set(apart), among: position..<position + looked, of: table, key, single)
      }
      position += looked
    }
  }

  private func forEach(
    of keys: Set<Value>, among positions: Range<Int>, of table: Table, _ key: Int,
    _ body: (ObjectInstructions) throws(StorageError) -> Void
  ) throws(StorageError) {
    for position in positions {
      let row = try table.key(at: position)
      guard let value = try table.value(table.schema.columns[key], ofRow: row), keys.contains(value) else {
        continue
      }
      var instructions: [Instruction] = [.create]
      for (position, column) in table.schema.columns.enumerated() where position != key {
        let value = try table.value(column, ofRow: row) ?? .null
        instructions.append(.set(InstructionPath(column.name), .value(value), isDefault: false))
      }
      try body(ObjectInstructions(ObjectName(table.schema.name, value), instructions))
    }
  }
}
