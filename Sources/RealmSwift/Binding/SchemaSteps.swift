import RealmStorage

/// Makes the tables of a file fit the classes of a program, in a transaction. `prepare()` makes the changes that a migration
/// block relies on. `finish(dropping:)` runs after the block and makes the changes that remove what the block reads, or check
/// what it sets.
struct SchemaSteps {
  let update: SchemaUpdate
  let transaction: WriteTransaction

  // MARK: - Before the block

  /// Makes missing tables and properties, and changes the types of properties.
  ///
  /// - Returns: the properties whose zero the class can't read. If objects still have zero there after the migration block,
  ///   they lack a value.
  func prepare() throws -> [Unreadable] {
    try create(update.missing)
    if update.isReadOnly { return [] }
    // This comes before links are removed because embedded objects are deleted with the last link to them.
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

  /// Checks the properties that `prepare()` returned.
  ///
  /// - Throws: `Realm.Error.schemaMismatch` if objects have a zero that the class can't read.
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

  /// Changes the type of a column to that of a property. Values that convert without loss are kept.
  ///
  /// - Returns: whether objects may have got zero in the column.
  @discardableResult
  func fit(
    _ table: WritableTable, _ position: Int, to property: ModelProperty, of model: ObjectModel
  ) throws -> Bool {
    let old = table.schema.columns[position]
    guard var new = property.schema.column else { return false }
    new.target = try targetID(of: property, in: model)
    guard old.type != new.type || old.collection != new.collection || old.target != new.target else {
      guard old.isOptional != new.isOptional else { return false }
      // Other devices may store null in it.
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
    // The initializer of the program's class is called only if there are objects that need the value.
    let isAsked =
      try property.cannotReadZero
      && table.reading().count(where: .compare(ColumnPath(position), .equal, .null)) > 0
    try loosen(table, position)
    try table.setOptional(
      false, ofColumn: position, nullsBecome: isAsked ? property.readableDefault(of: model) : nil)
    return isAsked
  }

  /// Tells the server, and through it the other devices, that a property may be null from now on.
  private func tellDefinition(of column: Column, in model: ObjectModel) throws {
    let definitions = try transaction.definitions().filter { definition in
      guard case .addProperty(let table, let property) = definition else { return false }
      return table == model.name && property.name == column.name
    }
    try transaction.record(definitions)
  }

  /// Removes the index of a column, so that a value may be there twice until the end.
  private func loosen(_ table: WritableTable, _ position: Int) throws {
    if table.schema.columns[position].index != .none { try table.setIndex(.none, ofColumn: position) }
  }

  /// Replaces a column by one that has another form of collection.
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

  /// Makes the tables of classes. Classes may link to one another in circles, so a link is added when the table to which it
  /// leads exists.
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
          // Columns are in the order of the properties, except for the primary key, which a table has from the start.
          late.append((model, property))
          continue
        }
        columns.append(column)
      }
      try transaction.createTable(TableSchema(model.name, isEmbedded: model.isEmbedded, columns: columns))
    }
    for (model, property) in late { try add(property, to: model) }
  }

  /// Adds a column for a property.
  ///
  /// - Returns: whether objects have zero in it.
  @discardableResult
  private func add(_ property: ModelProperty, to model: ObjectModel) throws -> Bool {
    guard var column = property.schema.column, let table = try transaction.table(model.name) else {
      return false
    }
    // The initializer of the program's class is called only if there are objects that need the value.
    let hasObjects = try table.reading().count > 0
    if column.collection == .none, !column.isOptional, hasObjects,
      let value = property.readableDefault(of: model)
    {
      column = Column(column.name, column.type, index: column.index, storedDefault: value)
    }
    // Indexes are made at the end, when the block has set the values. A table has one primary key at a time.
    if hasObjects || column.index == .unique { column.index = .none }
    column.target = try targetID(of: property, in: model)
    try table.addColumn(column)
    return hasObjects && column.storedDefault == nil
  }

  // MARK: - Behind the block

  /// Removes columns that the classes do not have, makes indexes, and makes classes embedded.
  ///
  /// - Parameter doomed: the names of tables to delete. A table is kept if a remaining table links to it.
  /// - Throws: `Realm.Error.schemaMismatch` if several objects have the same primary key, or a class can't become embedded.
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
    // A table is kept if a remaining table links to it.
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
    // The tables may link to one another, so their links are removed first.
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

  /// Gives columns the indexes of their properties.
  ///
  /// - Parameter unique: whether to make the unique index, or else all other indexes. The others are made first because a
  ///   table has at most one unique column.
  private func setIndexes(of table: WritableTable, _ model: ObjectModel, unique: Bool) throws {
    for property in model.properties where !property.isComputed {
      let index = property.schema.index
      guard (index == .unique) == unique, let position = table.position(of: property.columnName),
        table.schema.columns[position].index != index
      else { continue }
      // If an index can't be made, the transaction can't be read any more, but this table can.
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

  /// Throws if a set holds objects of a class that is to be embedded. The classes of the program are checked elsewhere;
  /// tables without a class are not.
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

  /// The value that the class declares for a property whose type can't read zero, such as an enumeration without a case for
  /// it, in stored form. It is nil for all other properties, whose older objects have zero, and if the class declares no
  /// value.
  fileprivate func readableDefault(of model: ObjectModel) -> Value? {
    guard type.form == .value, cannotReadZero else { return nil }
    return declaredValue(of: model)
  }

  /// Whether older objects may have a zero that the class can't read, and the class declares no value.
  fileprivate func lacksReadable(of model: ObjectModel) -> Bool {
    type.form == .value && !schema.isOptional && cannotReadZero && declaredValue(of: model) == nil
  }
}

extension WritableTable {
  /// The position of a property's column; nil if there is none.
  func position(of column: String) -> Int? {
    schema.columns.firstIndex { !$0.isCompanion && $0.name == column }
  }
}
