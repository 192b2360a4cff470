/// Values in the form of instructions, and the instructions that tell the whole content of an object.
extension ObjectTeller {
  /// A row whose content is turned into instructions.
  struct ToldRow {
    var key: UInt64
    /// The values of all columns; nil if they can be read from the table. A row that was just made can't be read there.
    var values: [Value]?
    var table: TableWriter

    /// The links of a cell to rows that are not in the file.
    fileprivate func absentLinks(of position: Int) throws(StorageError) -> [AbsentLink] {
      guard let values else { return try table.absentLinks(of: position, key) }
      let owner = table.schema.columns[position]
      guard let companion = table.schema.position(of: .absentLinks(of: owner.id)), companion < values.count
      else { return [] }
      guard let links = AbsentLink.decode(values[companion], in: owner) else {
        throw table.editor.store.corrupted(.structure, table.root.clusters)
      }
      return links
    }

    fileprivate func elementIDs(
      at index: Int, ofList position: Int
    ) throws(StorageError) -> (id: ElementID, place: ElementID) {
      guard let values else { return try table.elementIDs(at: index, ofList: position, key) }
      let owner = table.schema.columns[position].id
      func id(_ role: ColumnRole) -> ElementID? {
        guard let companion = table.schema.position(of: role), companion < values.count,
          let ids = values[companion].elements, ids.indices.contains(index)
        else { return nil }
        return ElementID(ids[index])
      }
      guard let found = id(.elementIDs(of: owner)) else {
        throw table.editor.store.corrupted(.structure, table.root.clusters)
      }
      return (found, id(.elementPlaces(of: owner)) ?? .none)
    }
  }

  /// The instruction value for a value of a cell or an element. Links name their objects.
  ///
  /// - Precondition: the column does not link to embedded rows.
  func instructionValue(
    _ value: Value, _ column: Column, _ tables: OpenTables
  ) throws(StorageError) -> InstructionValue {
    switch value {
    case .link(let row): return .link(try name(LinkTarget(table: column.target, row: row), tables))
    case .typedLink(let table, let row): return .link(try name(LinkTarget(table: table, row: row), tables))
    case .list(let elements, _):
      return .list(
        try elements.map { (element) throws(StorageError) in try instructionValue(element, column, tables) })
    case .map(let map, _):
      return .map(
        Array(map.keys),
        try map.values.map { (value) throws(StorageError) in try instructionValue(value, column, tables) })
    default: return .value(value)
    }
  }

  func name(of link: AbsentLink, _ tables: OpenTables) throws(StorageError) -> ObjectName {
    guard let table = try tables.writer(id: link.table) else {
      throw tables.editor.store.corrupted(.link, .null)
    }
    return ObjectName(table.schema.name, link.primaryKey)
  }

  /// The instructions that give a new object the content of a row.
  func contents(
    _ row: RowBatch.Row, _ table: TableWriter, at place: Place
  ) throws(StorageError) -> [Instruction] {
    var made: [Instruction] = []
    for (position, column) in table.schema.columns.enumerated()
    where !column.isCompanion && column.index != .unique {
      made += try content(
        row.values[position], position, ToldRow(key: row.key, values: row.values, table: table),
        at: place.property(column.name), place.object)
    }
    return made
  }

  /// The instructions that give a new embedded object the content of the row to which an element or a value links.
  func embeddedContents(
    of row: UInt64, _ column: Column, at path: InstructionPath, _ object: ChangesetMaker.SyncedObject,
    _ table: TableWriter
  ) throws(StorageError) -> [Instruction] {
    guard path.steps.count < InstructionPath.mostSteps else {
      throw table.notSyncable(.tooDeep, column: column.name)
    }
    guard let target = try table.tables.writer(id: column.target), let found = try target.row(row) else {
      throw table.editor.store.corrupted(.link, table.root.clusters)
    }
    let place = Place(object: object, path: path)
    keep(place, of: LinkTarget(table: column.target, row: row))
    return try contents(found, target, at: place)
  }

  /// The instructions that fill a property of a new object.
  func content(
    _ value: Value, _ position: Int, _ row: ToldRow, at path: InstructionPath,
    _ object: ChangesetMaker.SyncedObject
  ) throws(StorageError) -> [Instruction] {
    let table = row.table
    let column = table.schema.columns[position]
    let absent = try row.absentLinks(of: position)
    if value == column.defaultValue, absent.isEmpty {
      // The default is told, because elsewhere the property may be null in a new object.
      return column.isCollection || value == .null ? [] : [.set(path, .value(value), isDefault: true)]
    }
    switch (column.collection, value) {
    case (.none, _):
      if let link = absent.first, value == .null {
        return [.set(path, .link(try name(of: link, table.tables)), isDefault: false)]
      }
      return try placed(value, column, at: path, object, table)
    case (.list, _):
      return try listContent(value.elements ?? [], absent, position, row, at: path, object)
    case (.set, _):
      var made: [Instruction] = []
      for element in value.elements ?? [] {
        made.append(.setInsert(path, try instructionValue(element, column, table.tables)))
      }
      for link in absent { made.append(.setInsert(path, .link(try name(of: link, table.tables)))) }
      return made
    case (.map, .map(let map, _)):
      var made: [Instruction] = []
      for (key, value) in zip(map.keys, map.values) {
        made += try placed(value, column, at: path.appending(.key(key)), object, table)
      }
      for link in absent {
        guard case .key(let key) = link.place else { continue }
        let value = InstructionValue.link(try name(of: link, table.tables))
        made.append(.set(path.appending(.key(key)), value, isDefault: false))
      }
      return made
    case (.map, _): return []
    }
  }

  /// The instructions that put a value into a property or under a key.
  func placed(
    _ value: Value, _ column: Column, at path: InstructionPath, _ object: ChangesetMaker.SyncedObject,
    _ table: TableWriter
  ) throws(StorageError) -> [Instruction] {
    if case .link(let row) = value, try table.linksToEmbedded(column) {
      return [.newEmbedded(path)] + (try embeddedContents(of: row, column, at: path, object, table))
    }
    return [.set(path, try instructionValue(value, column, table.tables), isDefault: false)]
  }

  private func listContent(
    _ elements: [Value], _ absent: [AbsentLink], _ position: Int, _ row: ToldRow, at path: InstructionPath,
    _ object: ChangesetMaker.SyncedObject
  ) throws(StorageError) -> [Instruction] {
    let table = row.table
    let column = table.schema.columns[position]
    let isEmbedded = try table.linksToEmbedded(column)
    var (made, left) = ([Instruction](), ElementID.none)
    var moved: [Instruction] = []
    var links = absent[...]
    func add(_ id: ElementID, _ place: ElementID, _ value: InstructionValue) {
      made.append(.insert(path, id, left: left, right: .none, value))
      if place != .none { moved.append(.move(path, id, id: place, left: left, right: .none)) }
      left = id
    }
    func addLinks(before index: Int) throws(StorageError) {
      while let link = links.first, case .before(let place) = link.place, place <= index {
        links = links.dropFirst()
        add(
          ElementID(stored: link.elementID), ElementID(stored: link.elementPlace),
          .link(try name(of: link, table.tables)))
      }
    }
    for (index, element) in elements.enumerated() {
      try addLinks(before: index)
      let ids = try row.elementIDs(at: index, ofList: position)
      if isEmbedded, case .link(let target) = element {
        add(ids.id, ids.place, .embedded)
        made += try embeddedContents(of: target, column, at: path.appending(.element(ids.id)), object, table)
      } else {
        add(ids.id, ids.place, try instructionValue(element, column, table.tables))
      }
    }
    try addLinks(before: .max)
    return made + moved
  }
}

extension InstructionPath {
  func appending(_ step: Step) -> InstructionPath { InstructionPath(property, steps + [step]) }
}

extension Instruction {
  /// The inverse of an instruction that fills a new object, in which nothing stood before.
  var inverseOfAddition: [Instruction] {
    switch self {
    case .set(let path, _, _): [.set(path, .absent, isDefault: false)]
    case .insert(let path, let id, _, _, _): [.erase(path, id)]
    case .setInsert(let path, let value): [.setErase(path, value)]
    case .newEmbedded(let path):
      if case .key? = path.steps.last {
        [.set(path, .absent, isDefault: false)]
      } else {
        [.killEmbedded(path)]
      }
    default: []
    }
  }
}

extension TableWriter {
  /// The primary key of a row. It can be read while a row of the table is being made, when `value` can't be called.
  func primaryKey(ofRow row: UInt64) throws(StorageError) -> Value? {
    guard let column = schema.primaryKey else { return nil }
    if let buffer, let first = buffer.keys.first, row >= first {
      return try buffer.single(column, ofRow: row)
    }
    if let first = full.first?.leastKey, row >= first { try appendFull() }
    if column.storage == .varying { root.dictionaries = try dictionaries.flushed() }
    let dictionary = column.storage == .varying ? root.dictionaries[column.id] : .null
    return try TableReading.value(
      column, ofRow: row, in: root.clusters, dictionary: dictionary, editor.access())
  }

  /// The links of a cell to rows that are not in the file.
  func absentLinks(of position: Int, _ row: UInt64) throws(StorageError) -> [AbsentLink] {
    guard hasCompanions,
      let links = schema.position(of: .absentLinks(of: schema.columns[position].id))
    else { return [] }
    return try absentLinks(Companions(owner: position, absentLinks: links), row)
  }

  /// The id of a list element, and the place to which it was moved, which is `.none` if it was never moved.
  func elementIDs(
    at index: Int, ofList position: Int, _ row: UInt64
  ) throws(StorageError) -> (id: ElementID, place: ElementID) {
    let owner = schema.columns[position].id
    guard let ids = schema.position(of: .elementIDs(of: owner)),
      try listCount(ids, ofRow: row) ?? 0 > index,
      case .int(let id)? = try element(at: index, ofList: ids, ofRow: row)
    else { throw editor.store.corrupted(.structure, root.clusters) }
    var place = ElementID.none
    if let places = schema.position(of: .elementPlaces(of: owner)),
      try listCount(places, ofRow: row) ?? 0 > index,
      case .int(let found)? = try element(at: index, ofList: places, ofRow: row)
    {
      place = ElementID(stored: UInt64(bitPattern: found))
    }
    return (ElementID(stored: UInt64(bitPattern: id)), place)
  }

  /// The steps from a cell to its link to an embedded row; nil if it has no such link. Takes time in proportion to the
  /// number of elements before the link.
  func step(
    toLink target: UInt64, _ position: Int, _ row: UInt64
  ) throws(StorageError) -> [InstructionPath.Step]? {
    switch schema.columns[position].collection {
    case .none: return []
    case .list:
      guard let list = try list(position, ofRow: row) else { return nil }
      var start = 0
      while start < list.count {
        let values = try list.values(from: start)
        if let found = values.firstIndex(of: .link(target)) {
          return [.element(try elementIDs(at: start + found, ofList: position, row).id)]
        }
        start += values.count
      }
    case .map:
      guard let map = try sorted(position, ofRow: row) else { return nil }
      for index in 0..<(try map.count()) {
        let entry = try map.entry(at: index)
        if entry.value == .link(target), let key = entry.key { return [.key(key)] }
      }
    case .set: break
    }
    return nil
  }
}
