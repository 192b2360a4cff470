import RealmStorage

/// Makes the tables of a file fit the classes of a program, in a transaction: first what a migration block is to find done, and behind it
/// what would take away what the block reads, or check what it sets.
struct SchemaSteps {
  let update: SchemaUpdate
  let transaction: WriteTransaction

  // MARK: - Before the block

  /// Makes tables and properties that are missing, and gives properties their types. Answers properties whose zero the class can't read: where
  /// objects have it still behind the block, they lack a value.
  func prepare() throws -> [Unreadable] {
    try create(update.missing)
    if update.isReadOnly { return [] }
    // This comes before links go: objects that belong to others go with the last link to them.
    for model in update.models where !model.isEmbedded {
      guard let table = try transaction.table(model.name), table.schema.isEmbedded else { continue }
      try table.setEmbedded(false)
    }
    var unreadable: [Unreadable] = []
    for model in update.models {
      guard let table = try transaction.table(model.name) else { continue }
      for property in model.properties where !property.isComputed {
        let mayBeZero: Bool
        if let position = table.position(of: property.columnName) {
          mayBeZero = try fit(table, position, to: property, of: model)
        } else {
          mayBeZero = try add(property, to: model)
        }
        if mayBeZero, property.lacksReadable(of: model) {
          unreadable.append(Unreadable(model: model, property: property))
        }
      }
    }
    return unreadable
  }

  struct Unreadable {
    let model: ObjectModel
    let property: ModelProperty
  }

  /// - Throws: `Realm.Error.schemaMismatch` where objects have what the class can't read, which this made.
  func checkReadable(_ properties: [Unreadable]) throws {
    var lacking: [String] = []
    for found in properties {
      let property = found.property
      guard let table = try transaction.table(found.model.name)?.reading(),
        let column = table.schema.column(property.columnName)
      else { continue }
      var isLacking = false
      try Self.forEachRow(of: { table }) { row in
        guard !isLacking, let value = try table.value(column, ofRow: row) else { return }
        isLacking = value == column.type.zero && property.field.isUnknown(value)
      }
      if isLacking { lacking.append("\(found.model.name).\(property.name)") }
    }
    if !lacking.isEmpty { throw update.mismatch(Self.words(ofLacking: lacking)) }
  }

  private static func words(ofLacking properties: [String]) -> String {
    properties.count == 1
      ? "property \(properties[0]) has no value for the objects that are in the file already: its type can't be made of zero. "
        + "Declare a value for it in the class, or make it optional."
      : "properties \(properties.joined(separator: ", ")) have no value for the objects that are in the file already: their types "
        + "can't be made of zero. Declare values for them in their classes, or make them optional."
  }

  /// Gives a column the type of a property. Values that convert to it without loss stay. Answers whether objects may have come to have zero in it.
  @discardableResult
  func fit(
    _ table: WritableTable, _ position: Int, to property: ModelProperty, of model: ObjectModel
  ) throws -> Bool {
    let old = table.schema.columns[position]
    guard var new = property.schema.column else { return false }
    new.target = try targetID(of: property, in: model)
    guard old.type != new.type || old.collection != new.collection || old.target != new.target else {
      guard old.isOptional != new.isOptional else { return false }
      // Other devices may have null in it.
      if update.isSynced, !new.isOptional { return false }
      return try makeOptional(new.isOptional, table, position, property, model)
    }
    try loosen(table, position)
    // A value that can't be converted becomes zero, and so does null.
    let zero = new.isOptional ? .null : property.readableDefault(of: model) ?? new.type.zero
    let owner = try transaction.schemas().first { $0.id == old.target && old.type == .link }
    let isPart = update.models.first { $0.name == owner?.name }?.isEmbedded ?? owner?.isEmbedded ?? false
    let isOne = new.collection == .none
    let conversion = ValueConversion(
      old: old, new: new, zero: zero, linksToParts: isPart,
      isUnknown: { isOne && property.field.isUnknown($0) })
    if old.collection == new.collection {
      try table.changeType(
        ofColumn: position, to: new.type, isOptional: new.isOptional, target: new.target
      ) { conversion($0) }
    } else {
      try replace(table, position, by: new, conversion)
    }
    return !new.isOptional
  }

  private func makeOptional(
    _ isOptional: Bool, _ table: WritableTable, _ position: Int, _ property: ModelProperty,
    _ model: ObjectModel
  ) throws -> Bool {
    let column = table.schema.columns[position]
    if column.collection != .none {
      let zero = isOptional ? .null : property.readableDefault(of: model) ?? column.type.zero
      var new = column
      new.isOptional = isOptional
      let conversion = ValueConversion(old: column, new: new, zero: zero)
      try table.changeType(
        ofColumn: position, to: column.type, isOptional: isOptional, target: column.target
      ) { conversion($0) }
      return false
    }
    if isOptional {
      try table.setOptional(true, ofColumn: position)
      if update.isSynced { try tellDefinition(of: column, in: model) }
      return false
    }
    // An initializer of the program is called only where there are objects that the value is for.
    let isAsked =
      try property.cannotReadZero
      && table.reading().count(where: .compare(ColumnPath(position), .equal, .null)) > 0
    try loosen(table, position)
    try table.setOptional(
      false, ofColumn: position, nullsBecome: isAsked ? property.readableDefault(of: model) : nil)
    return isAsked
  }

  /// Tells the server, and by it the other devices, that a property may be null from now on.
  private func tellDefinition(of column: Column, in model: ObjectModel) throws {
    let definitions = try transaction.definitions().filter { definition in
      guard case .addProperty(let table, let property) = definition else { return false }
      return table == model.name && property.name == column.name
    }
    try transaction.record(definitions)
  }

  /// A unique column may have the same value twice, until the end.
  private func loosen(_ table: WritableTable, _ position: Int) throws {
    if table.schema.columns[position].index != .none { try table.setIndex(.none, ofColumn: position) }
  }

  /// Puts another column, of other collections, into the place of one.
  private func replace(
    _ table: WritableTable, _ position: Int, by new: Column, _ conversion: ValueConversion
  ) throws {
    let old = table.schema.columns[position]
    var aside = ":"
    while table.position(of: aside) != nil { aside += ":" }
    try table.renameColumn(position, to: aside)
    var added = new
    added.index = .none
    try table.addColumn(added)
    guard let from = table.schema.columns.firstIndex(where: { $0.id == old.id }),
      let to = table.position(of: new.name)
    else { return }
    try Self.forEachRow(of: { try table.reading() }) { row in
      guard let value = try table.value(from, ofRow: row) else { return }
      try table.set(conversion(value), to, ofRow: row)
    }
    try table.dropColumn(from)
  }

  private static func forEachRow(of table: () throws -> Table, _ body: (UInt64) throws -> Void) throws {
    var next: UInt64? = 0
    while let from = next {
      let page = try table().keys(from: from)
      for row in page.keys { try body(row) }
      next = page.next
    }
  }

  private func targetID(of property: ModelProperty, in model: ObjectModel) throws -> UInt32 {
    guard property.type.column == .link, let target = property.type.target else { return 0 }
    return try transaction.table(ObjectModel.of(target).name)?.schema.id ?? 0
  }

  /// Classes may link to one another in circles, so links are added when all tables are there that they point to.
  private func create(_ models: [ObjectModel]) throws {
    var late: [(ObjectModel, ModelProperty)] = []
    for model in models {
      var columns: [Column] = []
      for property in model.properties {
        guard var column = property.schema.column else { continue }
        if let target = property.type.target, target != model.type {
          guard late.allSatisfy({ $0.0 !== model }),
            let table = try transaction.table(ObjectModel.of(target).name)
          else {
            late.append((model, property))
            continue
          }
          column.target = table.schema.id
        } else if property.role != .primaryKey, late.contains(where: { $0.0 === model }) {
          // Columns stay in the order of the properties, but for the key, which a table has from the start.
          late.append((model, property))
          continue
        }
        columns.append(column)
      }
      try transaction.createTable(TableSchema(model.name, isEmbedded: model.isEmbedded, columns: columns))
    }
    for (model, property) in late { try add(property, to: model) }
  }

  /// Answers whether objects have zero in it.
  @discardableResult
  private func add(_ property: ModelProperty, to model: ObjectModel) throws -> Bool {
    guard var column = property.schema.column, let table = try transaction.table(model.name) else {
      return false
    }
    // An initializer of the program is called only where there are objects that the value is for.
    let hasObjects = try table.reading().count > 0
    if column.collection == .none, !column.isOptional, hasObjects,
      let value = property.readableDefault(of: model)
    {
      column = Column(column.name, column.type, index: column.index, storedDefault: value)
    }
    // Indexes are made at the end, of what the block sets; a table has one key at a time.
    if hasObjects || column.index == .unique { column.index = .none }
    column.target = try targetID(of: property, in: model)
    try table.addColumn(column)
    return hasObjects && column.storedDefault == nil
  }

  // MARK: - Behind the block

  /// Takes away what the classes do not have, makes indexes, and lets objects belong to their owners.
  ///
  /// - Parameter doomed: tables that go, too, where no table that stays links to them.
  /// - Throws: `Realm.Error.schemaMismatch` where several objects have one primary key, and where a class can't be embedded.
  func finish(dropping doomed: Set<String>) throws {
    if update.isReadOnly { return }
    for model in update.models {
      guard let table = try transaction.table(model.name) else { continue }
      if !update.isSynced { try dropRemoved(table, model) }
      for isUnique in [false, true] { try setIndexes(of: table, model, unique: isUnique) }
    }
    try drop(doomed)
    for model in update.models where model.isEmbedded {
      guard let table = try transaction.table(model.name), !table.schema.isEmbedded else { continue }
      try checkSets(linkingTo: table.schema)
      try table.setEmbedded(true)
    }
  }

  private func drop(_ doomed: Set<String>) throws {
    let tables = try transaction.schemas()
    var going = doomed
    // A table stays if another table that stays links to it.
    while true {
      let kept = tables.filter { !going.contains($0.name) }.flatMap { $0.properties }.filter {
        $0.type == .link
      }
      let linked = tables.filter { table in
        going.contains(table.name) && kept.contains { $0.target == table.id }
      }
      if linked.isEmpty { break }
      going.subtract(linked.map(\.name))
    }
    // They may link to one another.
    for name in going {
      guard let table = try transaction.table(name) else { continue }
      while let position = table.schema.columns.firstIndex(where: { $0.type == .link }) {
        try table.dropColumn(position)
      }
    }
    for name in going { try transaction.dropTable(name) }
  }

  private func dropRemoved(_ table: WritableTable, _ model: ObjectModel) throws {
    let kept = Set(model.schema.stored.map(\.columnName))
    while let position = table.schema.columns.firstIndex(where: { !$0.isCompanion && !kept.contains($0.name) }
    ) {
      try table.dropColumn(position)
    }
  }

  /// - Parameter unique: for what is to be unique; else for all other columns, first, as one column of a table is unique at most.
  private func setIndexes(of table: WritableTable, _ model: ObjectModel, unique: Bool) throws {
    for property in model.properties where !property.isComputed {
      let index = property.schema.index
      guard (index == .unique) == unique, let position = table.position(of: property.columnName),
        table.schema.columns[position].index != index
      else { continue }
      // When no index could be made, the transaction can't be read any more, and this table can.
      let before = try table.reading()
      do throws(StorageError) {
        try table.setIndex(index, ofColumn: position)
      } catch {
        guard case .duplicateKey = error else { throw error }
        let samples = (try? Self.duplicates(in: before, position)) ?? []
        throw update.mismatch(
          "property \(model.name).\(property.name) is the primary key, and several objects have the same value in it"
            + (samples.isEmpty ? "" : ": \(samples.map(\.quoted).joined(separator: ", "))")
            + ". Let the migrationBlock give each object a value of its own, or delete all but one of them.")
      }
    }
  }

  /// Values that several rows have, three at most.
  private static func duplicates(in table: Table, _ position: Int) throws -> [Value] {
    var (seen, found): (Set<Value>, [Value]) = ([], [])
    let column = table.schema.columns[position]
    try forEachRow(of: { table }) { row in
      guard found.count < 3, let value = try table.value(column, ofRow: row) else { return }
      if !seen.insert(value).inserted, !found.contains(value) { found.append(value) }
    }
    return found
  }

  /// A set can't hold what belongs to one object: classes of the program are checked, tables without a class are not.
  private func checkSets(linkingTo schema: TableSchema) throws {
    for table in try transaction.schemas() {
      guard
        let column = table.properties.first(where: {
          $0.collection == .set && $0.type == .link && $0.target == schema.id
        })
      else { continue }
      throw update.mismatch(
        "class \(schema.name) can't become embedded: objects of it stand in the set \(table.name).\(column.name) of a class that "
          + "the program does not have. Delete that class by migration.deleteData(forType:), or give the embedded class another name."
      )
    }
  }
}

extension ModelProperty {
  fileprivate var cannotReadZero: Bool { field.isUnknown(type.column.zero) }

  /// The value that the class declares, as it is stored, for a property whose type can't read zero, as an enumeration without such a case. It is nil
  /// for all other properties, whose older objects have zero, and if the class declares none.
  fileprivate func readableDefault(of model: ObjectModel) -> Value? {
    guard type.form == .value, cannotReadZero else { return nil }
    return declaredValue(of: model)
  }

  /// Older objects may have zero, which the class can't read.
  fileprivate func lacksReadable(of model: ObjectModel) -> Bool {
    type.form == .value && !schema.isOptional && cannotReadZero && declaredValue(of: model) == nil
  }
}

extension WritableTable {
  /// The place of a property's column; nil where there is none.
  func position(of column: String) -> Int? {
    schema.columns.firstIndex { !$0.isCompanion && $0.name == column }
  }
}
