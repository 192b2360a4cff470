/// Carries out instructions on the objects of a synced file, without asking whether they should take effect. These are
/// the instructions that others have decided, and those that undo the changes of this file. None of these changes is
/// recorded.
///
/// A link to an object that is not in the file waits for it. When an object is deleted, the links to it wait.
struct ObjectEditor {
  let tables: OpenTables
  /// The large collections of the object that is being edited.
  let collections = EditedCollections()

  /// Applies the instructions of an object in their order.
  ///
  /// - Throws: `.instructionDoesNotFit`, `.limitExceeded`, `.corrupted`. The transaction can't be committed after an
  ///   error.
  func apply(_ object: ObjectInstructions) throws(StorageError) {
    do throws(StorageError) {
      try tables.knowing { () throws(StorageError) in
        try tables.deriving { () throws(StorageError) in
          let table = try table(object.id.table)
          for instruction in object.instructions {
            // The place to which an element is moved back is free.
            let isFree = if case .move = instruction { true } else { false }
            try apply(instruction, to: object.id, table, try row(of: object.id, table), isNew: isFree)
          }
          try tables.closeCells()
        }
      }
    } catch {
      throw tables.fail(error)
    }
  }

  /// - Parameter isNew: true if no list has an element or a place with the id that an inserted or moved element gets.
  func apply(
    _ instruction: Instruction, to object: ObjectName, _ table: TableWriter, _ row: UInt64?,
    isNew: Bool = false
  ) throws(StorageError) {
    switch instruction {
    case .create:
      if row == nil { try create(object, table) }
      return
    case .delete:
      try tables.closeCells()
      if let row { try table.removeLeavingLinks(row) }
      return
    case .ingest: throw table.doesNotFit(.wrongKind, nil)
    default: break
    }
    guard let row else { throw table.doesNotFit(.noObject, nil) }
    try apply(instruction, table, row, isNew: isNew)
  }

  private func apply(
    _ instruction: Instruction, _ table: TableWriter, _ row: UInt64, isNew: Bool
  ) throws(StorageError) {
    switch instruction {
    case .create, .delete, .ingest: break
    case .set(let path, let value, _):
      let place = try place(path, table, row)
      try keeping(place) { () throws(StorageError) in try set(value, place) }
    case .add(let path, let delta): try add(delta, try place(path, table, row))
    case .newEmbedded(let path):
      let place = try place(path, table, row)
      try keeping(place) { () throws(StorageError) in
        try write(.value(.link(try makeEmbedded(place))), place)
      }
    case .killEmbedded(let path):
      let place = try place(path, table, row)
      guard try place.table.linksToEmbedded(place.column), place.column.isOptional else {
        throw place.table.doesNotFit(.wrongKind, place.column)
      }
      try keeping(place) { () throws(StorageError) in try write(.value(.null), place) }
    case .insert(let path, let id, let left, _, let value):
      let list = try list(path, table, row)
      try keeping(list.place) { () throws(StorageError) in
        let content: Content =
          if case .embedded = value { .value(.link(try makeEmbedded(list.place))) } else {
            try content(of: value, list.place)
          }
        try list.insert(content, id: id, behind: left, isNew: isNew)
      }
    case .move(let path, let element, let id, let left, _):
      let list = try list(path, table, row)
      try keeping(list.place) { () throws(StorageError) in
        try list.move(element, place: id, behind: left, isNew: isNew)
      }
    case .erase(let path, let id):
      let list = try list(path, table, row)
      try keeping(list.place) { () throws(StorageError) in try list.remove(id) }
    case .setInsert(let path, let value): try change(try place(path, table, row), inserting: value)
    case .setErase(let path, let value): try change(try place(path, table, row), removing: value)
    case .clear(let path, let kind):
      let place = try place(path, table, row)
      guard place.isWhole, place.column.collection.kind == kind else {
        throw place.table.doesNotFit(.wrongKind, place.column)
      }
      try keeping(place) { () throws(StorageError) in try clear(place) }
    }
  }

  // MARK: - Objects

  func table(_ name: String) throws(StorageError) -> TableWriter {
    guard let table = try tables.writer(name) else {
      throw .instructionDoesNotFit(.noTable, table: name, column: nil, path: tables.editor.store.storage.path)
    }
    return table
  }

  func row(of object: ObjectName, _ table: TableWriter) throws(StorageError) -> UInt64? {
    guard let column = table.schema.primaryKey, column.accepts(object.key) else {
      throw table.doesNotFit(.wrongValue, table.schema.primaryKey)
    }
    return try table.row(withPrimaryKey: object.key)
  }

  func create(_ object: ObjectName, _ table: TableWriter) throws(StorageError) {
    guard let key = table.schema.columns.firstIndex(where: { $0.index == .unique }) else { return }
    _ = try table.insert { (row: inout NewRow) throws(StorageError) in try row.set(key, object.key) }
  }

  private func makeEmbedded(_ place: Place) throws(StorageError) -> UInt64 {
    guard try place.table.linksToEmbedded(place.column),
      let target = try tables.writer(id: place.column.target)
    else { throw place.table.doesNotFit(.wrongKind, place.column) }
    return try target.insert { _ in }
  }

  // MARK: - Places

  /// The place that an instruction changes: a cell, a key of its map, or an element of its list.
  struct Place {
    var table: TableWriter
    var position: Int
    var row: UInt64
    var part: InstructionPath.Step?

    var column: Column { table.schema.columns[position] }
    var isWhole: Bool { part == nil }
  }

  /// The content that a value gives to a place: a value that stands there, or a link to an object that is not in the
  /// file.
  enum Content {
    case value(Value)
    case absent(table: UInt32, key: Value)
  }

  func place(
    _ path: InstructionPath, _ table: TableWriter, _ row: UInt64
  ) throws(StorageError) -> Place {
    var place = Place(table: table, position: try table.property(path.property), row: row)
    for step in path.steps {
      switch (step, place.part, place.column.collection) {
      case (.key, nil, .map), (.element, nil, .list): place.part = step
      case (.property(let name), _, _):
        guard try place.table.linksToEmbedded(place.column), case .link(let row)? = try value(place),
          let target = try tables.writer(id: place.column.target)
        else { throw place.table.doesNotFit(.noEmbedded, place.column) }
        place = Place(table: target, position: try target.property(name), row: row)
      default: throw place.table.doesNotFit(.wrongKind, place.column)
      }
    }
    return place
  }

  func list(
    _ path: InstructionPath, _ table: TableWriter, _ row: UInt64
  ) throws(StorageError) -> SyncedList {
    let place = try place(path, table, row)
    guard place.isWhole, place.column.collection == .list else {
      throw place.table.doesNotFit(.wrongKind, place.column)
    }
    return try SyncedList(place: place, collections)
  }

  /// The value in a place; nil if the place shows nothing.
  func value(_ place: Place) throws(StorageError) -> Value? {
    switch place.part {
    case .key(let key)?:
      return try place.table.value(forKey: key, ofMap: place.position, ofRow: place.row)
    case .element(let id)?:
      guard case .shown(let index)? = try SyncedList(place: place, collections).find(id) else { return nil }
      return try place.table.element(at: index, ofList: place.position, ofRow: place.row)
    default: return try place.table.value(place.column, ofRow: place.row)
    }
  }

  /// Runs `body` with `areCompanionsKept` set, because `body` changes the companions of the cell explicitly.
  private func keeping(_ place: Place, _ body: () throws(StorageError) -> Void) throws(StorageError) {
    let were = place.table.areCompanionsKept
    place.table.areCompanionsKept = true
    defer { place.table.areCompanionsKept = were }
    try body()
    try tables.removeOrphans()
  }

  // MARK: - Values

  private func set(_ value: InstructionValue, _ place: Place) throws(StorageError) {
    guard !place.isWhole || place.column.index != .unique else {
      throw place.table.doesNotFit(.wrongKind, place.column)
    }
    if case .absent = value {
      switch place.part {
      case .key(let key)?:
        try removeWaiting(AbsentLink(key: key), in: place)
        _ = try place.table.removeValue(forKey: key, ofMap: place.position, ofRow: place.row)
      case nil where !place.column.isCollection: try write(.value(place.column.defaultValue), place)
      default: throw place.table.doesNotFit(.wrongValue, place.column)
      }
      return
    }
    guard !place.isWhole || !place.column.isCollection else {
      throw place.table.doesNotFit(.wrongKind, place.column)
    }
    try write(try content(of: value, place), place)
  }

  /// - Precondition: the place holds one value.
  private func write(_ content: Content, _ place: Place) throws(StorageError) {
    let (table, position, row) = (place.table, place.position, place.row)
    switch place.part {
    case .key(let key)?:
      try removeWaiting(AbsentLink(key: key), in: place)
      if case .absent(let target, let name) = content {
        try addWaiting(AbsentLink(table: target, primaryKey: name, place: .key(key)), in: place)
      }
      if case .value(let value) = content {
        _ = try table.setValue(value, forKey: key, ofMap: position, ofRow: row)
      } else {
        _ = try table.removeValue(forKey: key, ofMap: position, ofRow: row)
      }
    case .element(let id)?: try SyncedList(place: place, collections).set(content, id: id)
    default:
      guard place.isWhole, !place.column.isCollection else {
        throw table.doesNotFit(.wrongKind, place.column)
      }
      try place.changeLinks { links in
        links.removeAll()
        if case .absent(let target, let name) = content {
          links.append(AbsentLink(table: target, primaryKey: name))
        }
      }
      if case .value(let value) = content {
        _ = try table.set(value, at: position, ofRow: row)
      } else {
        _ = try table.set(.null, at: position, ofRow: row)
      }
    }
  }

  private func add(_ delta: Int64, _ place: Place) throws(StorageError) {
    guard place.column.index != .unique else { throw place.table.doesNotFit(.wrongKind, place.column) }
    guard place.column.type == .int64 || place.column.type == .mixed,
      case .int(let number)? = try value(place)
    else { return }
    try keeping(place) { () throws(StorageError) in try write(.value(.int(number &+ delta)), place) }
  }

  func content(of value: InstructionValue, _ place: Place) throws(StorageError) -> Content {
    let column = place.column
    if case .link(let object) = value {
      let target = try table(object.table)
      guard column.type == .mixed || column.type == .link && column.target == target.schema.id,
        !target.schema.isEmbedded, let key = target.schema.primaryKey, key.accepts(object.key)
      else { throw place.table.doesNotFit(.wrongValue, column) }
      guard let row = try target.row(withPrimaryKey: object.key) else {
        return .absent(table: target.schema.id, key: object.key)
      }
      return .value(column.type == .link ? .link(row) : .typedLink(table: target.schema.id, row: row))
    }
    guard let value = try plain(value), column.acceptsElement(value), column.type != .link || value == .null,
      column.collection != .set || !value.isNested
    else { throw place.table.doesNotFit(.wrongValue, column) }
    return .value(value)
  }

  /// The value as it stands in a cell; nil for a value that can't stand in a cell. In a list or map that is one value,
  /// a link to an object that is not in the file becomes null.
  private func plain(_ value: InstructionValue) throws(StorageError) -> Value? {
    switch value {
    case .value(let value): return value
    case .link(let object):
      let target = try table(object.table)
      guard let row = try row(of: object, target) else { return .null }
      return .typedLink(table: target.schema.id, row: row)
    case .list(let elements):
      var made: [Value] = []
      for element in elements {
        guard let value = try plain(element) else { return nil }
        made.append(value)
      }
      return .list(made)
    case .map(let keys, let values):
      var made: [Value] = []
      for value in values {
        guard let value = try plain(value) else { return nil }
        made.append(value)
      }
      return ValueMap(ascending: keys, made).map { .map($0) }
    case .absent, .collection, .chunked, .embedded: return nil
    }
  }

  // MARK: - Collections

  private func change(_ place: Place, inserting value: InstructionValue) throws(StorageError) {
    try checkSet(place)
    try keeping(place) { () throws(StorageError) in
      switch try content(of: value, place) {
      case .value(let content):
        _ = try place.table.insert([content], intoSet: place.position, ofRow: place.row)
        try removeWaiting(of: value, in: place)
      case .absent(let target, let key): try addWaiting(AbsentLink(memberOf: target, key), in: place)
      }
    }
  }

  private func change(_ place: Place, removing value: InstructionValue) throws(StorageError) {
    try checkSet(place)
    try keeping(place) { () throws(StorageError) in
      switch try content(of: value, place) {
      case .value(let content):
        _ = try place.table.remove([content], fromSet: place.position, ofRow: place.row)
        try removeWaiting(of: value, in: place)
      case .absent(let target, let key): try removeWaiting(AbsentLink(memberOf: target, key), in: place)
      }
    }
  }

  private func checkSet(_ place: Place) throws(StorageError) {
    guard place.isWhole, place.column.collection == .set else {
      throw place.table.doesNotFit(.wrongKind, place.column)
    }
  }

  /// Gives an object the values of a new object.
  func reset(_ table: TableWriter, _ row: UInt64) throws(StorageError) {
    for (position, column) in table.schema.columns.enumerated()
    where !column.isCompanion && column.index != .unique {
      let place = Place(table: table, position: position, row: row)
      try keeping(place) { () throws(StorageError) in try clear(place) }
    }
  }

  private func clear(_ place: Place) throws(StorageError) {
    collections.forget(place)
    let (table, row) = (place.table, place.row)
    _ = try table.set(place.column.defaultValue, at: place.position, ofRow: row)
    try place.changeLinks { $0.removeAll() }
    guard place.column.collection == .list else { return }
    for role in [ColumnRole.elementIDs(of: place.column.id), .elementPlaces(of: place.column.id)] {
      if let position = table.schema.position(of: role) {
        _ = try table.set(.list([]), at: position, ofRow: row)
      }
    }
  }
}

extension ObjectEditor.Place {
  /// The links of the cell to objects that are not in the file. The links of a list are in the order of the list.
  func links() throws(StorageError) -> [AbsentLink] { try table.absentLinks(of: position, row) }

  /// Changes the waiting links of the cell. If the table has no column for such links, this method adds one.
  func changeLinks(_ change: (inout [AbsentLink]) -> Void) throws(StorageError) {
    guard column.canLink else { return }
    let old = try links()
    var new = old
    change(&new)
    guard new != old else { return }
    let owner = column
    let companion = try table.companion(.absentLinks(of: owner.id))
    _ = try table.setOne(AbsentLink.encode(new, in: owner), at: companion, ofRow: row)
  }
}

extension TableWriter {
  func property(_ name: String) throws(StorageError) -> Int {
    guard
      let position = schema.columns.firstIndex(where: {
        !$0.isCompanion && $0.name.utf8.elementsEqual(name.utf8)
      })
    else {
      throw .instructionDoesNotFit(
        .noProperty, table: schema.name, column: name, path: editor.store.storage.path)
    }
    return position
  }

  func doesNotFit(_ problem: InstructionProblem, _ column: Column?) -> StorageError {
    .instructionDoesNotFit(
      problem, table: schema.name, column: column?.name, path: editor.store.storage.path)
  }
}
