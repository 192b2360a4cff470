/// Objects that come in several transactions, and are shown by one.
///
/// The objects of a class that shows none yet are made in a hidden table, as many in one transaction as came together. When all are there, each index is made by a transaction of its own. The last transaction gives the trees of the hidden table to the class: it writes a few nodes, however many objects there are. So a program that writes meanwhile waits for none of these transactions for long.
package struct PreparedObjects {
  private let transaction: WriteTransaction
  private let tables: OpenTables

  /// - Throws: `.corrupted`.
  package init(_ transaction: WriteTransaction) throws(StorageError) {
    self.transaction = transaction
    tables = try transaction.tables()
  }

  /// The classes that objects are prepared of, in the order of their tables.
  package var classes: [String] {
    let shown = Set(tables.allSchemas.filter { !$0.isHidden }.map { Array($0.name.utf8) })
    return tables.allSchemas.filter { $0.isHidden && !$0.isDropped && shown.contains(Array($0.name.utf8)) }
      .sorted { $0.id < $1.id }.map(\.name)
  }

  /// Prepares the objects of creations.
  ///
  /// - Returns: the places of those that can't be prepared: of a class that has objects, collections or links, or that do not fit their class.
  /// - Throws: `.limitExceeded`, `.corrupted`. Then the transaction can't be committed.
  package func add(_ created: CreatedObjects) throws(StorageError) -> [Int] {
    var inserter = CreationInserter(created, tables, prepares: true)
    var left: [Int] = []
    while let place = try inserter.next() { left.append(place) }
    return left
  }

  /// Makes one of the indexes of prepared objects. Takes time in proportion to the objects of its class.
  ///
  /// - Returns: false, with nothing done, where none is left to be made.
  /// - Throws: `.duplicateKey` where two objects have one key: they can't be shown, but made one by one (`forEach`). `.corrupted`. Then the transaction can't be committed.
  package func makeIndex() throws(StorageError) -> Bool {
    for name in classes {
      if let prepared = try tables.writer(name, isHidden: true), try tables.indexPrepared(prepared) {
        return true
      }
    }
    return false
  }

  /// Shows the prepared objects of a class.
  ///
  /// - Returns: false, with nothing done, where the class has objects meanwhile, or was changed, or an index was not made, or the transaction has a recorder; they are to be made one by one then (`forEach`).
  /// - Throws: `.corrupted`. Then the transaction can't be committed.
  package func show(_ name: String) throws(StorageError) -> Bool {
    guard let prepared = try tables.writer(name, isHidden: true) else { return true }
    return try tables.showPrepared(prepared)
  }

  /// Forgets the prepared objects of a class. Takes time in proportion to the nodes that they take.
  ///
  /// - Throws: `.corrupted`. Then the transaction can't be committed.
  package func forget(_ name: String) throws(StorageError) {
    guard let prepared = try tables.writer(name, isHidden: true) else { return }
    try prepared.removeAll()
    tables.drop(prepared)
  }

  /// Calls `created` with the prepared objects of a class, some at a time, and `single` with each object that has long values.
  ///
  /// - Throws: `.corrupted`; what they throw.
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
