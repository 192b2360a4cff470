/// Turns what a transaction does to the rows of a synced file into instructions, which name objects by their primary
/// keys, properties by their names, and elements by their ids.
///
/// A change of an embedded object is recorded as a change of the object that owns it, at the path that leads there. A
/// row that nothing owns yet is no part of any object. When it gets an owner, its whole content is recorded.
final class ChangelogRecorder: ObjectTeller, Changelog {
  let maker: ChangesetMaker
  /// The objects that were deleted while their embedded objects are still in the file.
  private var gone: Set<LinkTarget> = []
  /// The last change of a list. The change of its ids follows it.
  var list: ListChange?
  /// The collection that was assigned as a whole last.
  var assigned: (table: UInt32, cell: CellPlace)?

  init(_ changelog: StoredChangelog, _ editor: NodeEditor) {
    maker = ChangesetMaker(changelog, editor)
  }

  func elementIDs(_ count: UInt64) throws(StorageError) -> UInt64 { try maker.elementIDs(count) }

  func record(_ change: RecordedChange, of table: TableWriter) throws(StorageError) {
    if !change.isDerived { assigned = nil }
    if !isOfCompanion(change, table) { maker.isWhole = false }
    switch change.change.kind {
    case .createTable(let schema): try add(schema, table)
    case .addColumn(let column): try add(column, to: table)
    case .create(let row, let values):
      let columns = values.map { RowBatch.Values.values([$0]) }
      try create(RowBatch.Part(keys: [row], columns: columns), table)
    case .createMany(let batch): for part in batch.parts { try create(part, table) }
    case .delete, .deleteMany, .deleteAll:
      guard case .rows(let batch) = change.before, !table.schema.isEmbedded else { return }
      try batch.forEach { (row) throws(StorageError) in try delete(row, table) }
    case .set(let value, let cell):
      try set(value, before: change.before.value, at: cell, table)
    case .setMany(let column, let rows, let values):
      guard case .values(let before) = change.before else { return }
      for (place, row) in rows.enumerated() {
        try set(
          values[place], before: before[place], at: CellPlace(row: row, column: column), table)
      }
    case .add(let amount, let cell): try add(amount, at: cell, before: change.before.value, table)
    case .insertIntoSet(let elements, let cell): try changeSet(elements, at: cell, areRemoved: false, table)
    case .removeFromSet(let elements, let cell): try changeSet(elements, at: cell, areRemoved: true, table)
    default: try recordElements(change, of: table)
    }
  }

  private func isOfCompanion(_ change: RecordedChange, _ table: TableWriter) -> Bool {
    guard let cell = change.change.cell else { return false }
    return table.schema.columns[table.position(of: cell.column)].isCompanion
  }

  // MARK: - Schema

  private func add(_ schema: TableSchema, _ table: TableWriter) throws(StorageError) {
    guard let key = schema.primaryKey else {
      guard schema.isEmbedded else { throw table.notSyncable(.noPrimaryKey) }
      try maker.add(.addTable(schema.name, key: nil))
      for column in schema.properties { try add(column, to: table) }
      return
    }
    try maker.add(.addTable(schema.name, key: try definition(key, table)))
    for column in schema.properties where column.id != key.id { try add(column, to: table) }
  }

  private func add(_ column: Column, to table: TableWriter) throws(StorageError) {
    guard !column.isCompanion else { return }
    guard column.index != .unique else { throw table.notSyncable(.schemaNotAdded, column: column.name) }
    try maker.add(
      .addProperty(table: table.schema.name, try definition(column, table)))
  }

  private func definition(
    _ column: Column, _ table: TableWriter
  ) throws(StorageError) -> PropertyDefinition {
    var target: String?
    if column.type == .link {
      let id = column.target == 0 ? table.schema.id : column.target
      target = try table.tables.writer(id: id)?.schema.name
    }
    return PropertyDefinition(
      column.name, column.type, collection: column.collection.kind, target: target,
      isOptional: column.isOptional)
  }

  // MARK: - Objects

  /// The place of the properties of a row; nil for an embedded row without an owner.
  ///
  /// - Parameter depth: the number of embedded objects, one in another, that lie below the row.
  func place(
    _ row: UInt64, _ table: TableWriter, depth: Int = 0
  ) throws(StorageError) -> Place? {
    guard depth <= InstructionPath.mostSteps else { throw table.notSyncable(.tooDeep) }
    let target = LinkTarget(table: table.schema.id, row: row)
    guard table.schema.isEmbedded else {
      return Place(
        object: ChangesetMaker.SyncedObject(row: target, name: try name(target, table.tables)), path: nil)
    }
    if let known = owned[target] { return gone.contains(known.object.row) ? nil : known }
    guard let link = try table.links.links(to: row).first,
      let owner = try table.tables.writer(id: link.table),
      let position = owner.schema.columns.firstIndex(where: { $0.id == link.column }),
      var place = try place(link.source, owner, depth: depth + 1)
    else { return nil }
    var path = place.property(owner.schema.columns[position].name)
    guard let step = try owner.step(toLink: row, position, link.source) else { return nil }
    path.steps += step
    place.path = path
    keep(place, of: target)
    return place
  }

  private func create(_ part: RowBatch.Part, _ table: TableWriter) throws(StorageError) {
    let schema = table.schema
    guard !schema.isEmbedded else { return }
    guard let key = schema.columns.firstIndex(where: { $0.index == .unique }) else {
      throw table.notSyncable(.noPrimaryKey)
    }
    let rows = CreatedRows(part, schema, key: key)
    let apart = rows.columns.filter { $0.forms.contains(.apart) }.map(\.position)
    guard !rows.others.isEmpty || !apart.isEmpty else { return try maker.create(rows, schema, more: nil) }
    try maker.create(rows, schema) { (place) throws(StorageError) in
      let row = part.row(place)
      for position in rows.others + apart where row.values[position] != schema.columns[position].defaultValue
      {
        if apart.contains(position), row.values[position].length <= ChangesetMaker.mostWithCreation {
          continue
        }
        try self.fill(position, ToldRow(key: row.key, values: row.values, table: table), row.values[key])
      }
    }
  }

  /// Adds the instructions that give a property of a new object its content.
  private func fill(_ position: Int, _ row: ToldRow, _ key: Value) throws(StorageError) {
    let schema = row.table.schema
    let object = ChangesetMaker.SyncedObject(
      row: LinkTarget(table: schema.id, row: row.key), name: ObjectName(schema.name, key))
    let path = InstructionPath(schema.columns[position].name)
    for instruction in try content(row.values?[position] ?? .null, position, row, at: path, object) {
      try maker.add(instruction, to: object, undo: instruction.inverseOfAddition)
    }
  }

  private func delete(_ row: RowBatch.Row, _ table: TableWriter) throws(StorageError) {
    guard let place = try place(row.key, table) else { return }
    let content = try contents(row, table, at: place)
    if !owned.isEmpty { gone.insert(place.object.row) }
    try maker.add(.delete, to: place.object, undo: [.create] + content)
  }

  // MARK: - Values

  private func set(
    _ value: Value, before: Value?, at cell: CellPlace, _ table: TableWriter
  ) throws(StorageError) {
    let position = table.position(of: cell.column)
    let column = table.schema.columns[position]
    if column.isCompanion { return try recordCompanion(value, before, column, cell.row, table) }
    guard column.index != .unique else {
      throw table.notSyncable(.primaryKeyChanged, column: column.name)
    }
    guard let place = try place(cell.row, table) else { return }
    let path = place.property(column.name)
    if column.isCollection {
      return try assign(value, before: before ?? .list([]), position, cell.row, table, place, path)
    }
    if try table.linksToEmbedded(column) {
      return try setEmbedded(value, before: before ?? .null, column, at: path, place.object, table)
    }
    var old = try instructionValue(before ?? .null, column, table.tables)
    if before == .null, let link = try table.absentLinks(of: position, cell.row).first {
      old = .link(try name(of: link, table.tables))
    }
    try maker.add(
      .set(path, try instructionValue(value, column, table.tables), isDefault: false), to: place.object,
      undo: [.set(path, old, isDefault: false)])
  }

  /// Records that an embedded object replaces another one or null, or that null replaces an embedded object.
  ///
  /// - Parameter before: the value before; nil if a map had no such key.
  func setEmbedded(
    _ value: Value, before: Value?, _ column: Column, at path: InstructionPath,
    _ object: ChangesetMaker.SyncedObject, _ table: TableWriter
  ) throws(StorageError) {
    let nothing = before == nil ? Instruction.set(path, .absent, isDefault: false) : .killEmbedded(path)
    if case .link(let old)? = before {
      let content = try embeddedContents(of: old, column, at: path, object, table)
      try maker.add(.killEmbedded(path), to: object, undo: [.newEmbedded(path)] + content)
    } else if value == .null {
      return try maker.add(.killEmbedded(path), to: object, undo: before == nil ? [nothing] : [])
    }
    guard case .link(let new) = value else { return }
    try maker.add(.newEmbedded(path), to: object, undo: [nothing])
    for instruction in try embeddedContents(of: new, column, at: path, object, table) {
      try maker.add(instruction, to: object, undo: instruction.inverseOfAddition)
    }
  }

  private func add(
    _ amount: Int64, at cell: CellPlace, before: Value?, _ table: TableWriter
  ) throws(StorageError) {
    guard let place = try place(cell.row, table) else { return }
    let path = place.property(table.schema.columns[table.position(of: cell.column)].name)
    let inverse: Instruction =
      amount == .min ? .set(path, .value(before ?? .null), isDefault: false) : .add(path, -amount)
    try maker.add(.add(path, amount), to: place.object, undo: [inverse])
  }

  /// Records that elements were inserted into a set or removed from it.
  private func changeSet(
    _ elements: [Value], at cell: CellPlace, areRemoved: Bool, _ table: TableWriter
  ) throws(StorageError) {
    guard let place = try place(cell.row, table) else { return }
    let column = table.schema.columns[table.position(of: cell.column)]
    let path = place.property(column.name)
    for element in elements {
      let value = try instructionValue(element, column, table.tables)
      let (inserted, erased) = (Instruction.setInsert(path, value), Instruction.setErase(path, value))
      try maker.add(
        areRemoved ? erased : inserted, to: place.object, undo: [areRemoved ? inserted : erased])
    }
  }
}

extension RecordedChange.Before {
  var value: Value? { if case .value(let value) = self { value } else { nil } }
  var values: [Value] { if case .values(let values) = self { values } else { [] } }
}

extension ColumnCollection {
  package var kind: CollectionKind? {
    switch self {
    case .none: nil
    case .list: .list
    case .set: .set
    case .map: .map
    }
  }
}
