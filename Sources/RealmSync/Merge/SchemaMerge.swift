import RealmStorage

/// Merges additions to the schema. A definition never changes: a definition of a table or property that differs from
/// the present one is refused.
package struct SchemaMerge {
  private let transaction: WriteTransaction

  package init(_ transaction: WriteTransaction) { self.transaction = transaction }

  /// - Returns: true if the file has the definition now.
  package func merge(_ instruction: SchemaInstruction) throws(StorageError) -> Bool {
    switch instruction {
    case .addTable(let name, let key): try add(name, key)
    case .addProperty(let table, let property): try add(property, to: table)
    }
  }

  private func isName(_ name: String, _ maximum: Int) -> Bool { (1...maximum).contains(name.utf8.count) }

  private func add(_ name: String, _ key: PropertyDefinition?) throws(StorageError) -> Bool {
    if let schema = try transaction.table(name)?.schema {
      guard let key else { return schema.isEmbedded }
      guard let column = schema.primaryKey else { return false }
      return column.name.utf8.elementsEqual(key.name.utf8) && column.type == key.type
    }
    guard isName(name, TableSchema.maximumNameLength) else { return false }
    guard let key else {
      _ = try transaction.createTable(TableSchema(name, isEmbedded: true, hasElementIDs: true, columns: []))
      return true
    }
    guard [.int64, .string, .uuid, .objectID].contains(key.type), key.collection == nil, key.target == nil,
      isName(key.name, TableSchema.maximumNameLength)
    else { return false }
    let column = Column(key.name, key.type, isOptional: key.isOptional, index: .unique)
    _ = try transaction.createTable(TableSchema(name, hasElementIDs: true, columns: [column]))
    return true
  }

  private func add(_ property: PropertyDefinition, to name: String) throws(StorageError) -> Bool {
    guard let table = try transaction.table(name) else { return false }
    var target: TableSchema?
    if let name = property.target {
      target = try transaction.table(name)?.schema
      guard target != nil else { return false }
    }
    let position = table.schema.columns.firstIndex { column in
      !column.isCompanion && column.name.utf8.elementsEqual(property.name.utf8)
    }
    if let position {
      let column = table.schema.columns[position]
      let linked = column.target == 0 ? table.schema.id : column.target
      guard column.type == property.type, column.collection == ColumnCollection(property.collection),
        column.index != .unique, column.type != .link || linked == target?.id
      else { return false }
      // A property becomes optional as soon as one definition says so.
      if property.isOptional, !column.isOptional, column.collection == .none, column.type != .link {
        try table.setOptional(true, ofColumn: position)
      }
      return true
    }
    guard isName(property.name, TableSchema.maximumNameLength), (property.type == .link) == (target != nil),
      table.schema.columnsInUse + property.mostColumns <= TableSchema.maximumColumns
    else { return false }
    var column = Column(
      property.name, property.type, isOptional: property.isOptional,
      collection: ColumnCollection(property.collection))
    if let target { column.target = target.id }
    _ = try table.addColumn(column)
    return true
  }
}

extension ColumnCollection {
  init(_ kind: CollectionKind?) {
    self =
      switch kind {
      case nil: .none
      case .list: .list
      case .set: .set
      case .map: .map
      }
  }
}

extension PropertyDefinition {
  /// The greatest number of columns that the property may need: its own column, and the companions that the engine
  /// keeps beside it.
  fileprivate var mostColumns: Int {
    1 + (collection == .list ? 2 : 0) + (type == .link || type == .mixed ? 1 : 0)
  }
}

extension TableSchema {
  /// The greatest number of columns that the present properties may need.
  fileprivate var columnsInUse: Int {
    properties.reduce(0) { count, column in
      count + PropertyDefinition(column.name, column.type, collection: column.collection.kind).mostColumns
    }
  }
}
