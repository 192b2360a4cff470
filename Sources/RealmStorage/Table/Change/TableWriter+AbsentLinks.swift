/// Absent links: links by primary key to rows that do not exist. Cells of this table may have such links, and the table
/// knows which cells have absent links to its own rows.
extension TableWriter {
  /// The absent links of a cell.
  func absentLinks(_ companions: Companions, _ row: UInt64) throws(StorageError) -> [AbsentLink] {
    guard let position = companions.absentLinks,
      let value = try value(schema.columns[position], ofRow: row)
    else { return [] }
    return try absentLinks(in: value, schema.columns[companions.owner])
  }

  private func absentLinks(in value: Value, _ owner: Column) throws(StorageError) -> [AbsentLink] {
    guard let links = AbsentLink.decode(value, in: owner) else {
      throw editor.store.corrupted(.structure, root.clusters)
    }
    return links
  }

  /// Changes the absent links of a cell, if it has any.
  func changeAbsentLinks(
    _ companions: Companions, _ row: UInt64, _ change: (inout [AbsentLink]) -> Void
  ) throws(StorageError) {
    guard let position = companions.absentLinks else { return }
    let old = try absentLinks(companions, row)
    guard !old.isEmpty else { return }
    var links = old
    change(&links)
    guard links != old else { return }
    let owner = schema.columns[companions.owner]
    _ = try setOne(AbsentLink.encode(links, in: owner), at: position, ofRow: row)
  }

  /// Removes the absent link for a key of a map, because the key gets another value or is removed.
  func forgetAbsentLink(_ key: String, _ companions: Companions, _ row: UInt64) throws(StorageError) {
    try following { () throws(StorageError) in
      try changeAbsentLinks(companions, row) { links in links.removeAll { $0.place == .key(key) } }
    }
  }

  /// The place and the new value of the companion, if a cell of the column at a position is to have these absent links.
  /// Nil if there are no links and the column has no such companion.
  ///
  /// - Precondition: the links fit the column, and the rows to which they lead do not exist.
  func absentCell(
    _ links: [AbsentLink], _ position: Int, _ row: UInt64
  ) throws(StorageError) -> (cell: CellPlace, value: Value)? {
    let owner = schema.columns[position]
    for link in links { try check(link, owner, row) }
    let value = AbsentLink.encode(links, in: owner)
    precondition(
      AbsentLink.decode(value, in: owner) == links,
      "\(schema.name).\(owner.name): the links to rows that are not there do not fit the column; of a list give them in order, of a set or map each once"
    )
    let hasOwnIDs = try haveOwnIDs(links, position, row)
    precondition(
      hasOwnIDs,
      "\(schema.name).\(owner.name): two elements of the list would have one id, or one place; give each link ids of its own"
    )
    if links.isEmpty, schema.position(of: .absentLinks(of: owner.id)) == nil { return nil }
    return (cell(try companion(.absentLinks(of: owner.id)), row), value)
  }

  /// Whether each element of a list, and each absent link of it, has an id and a place of its own.
  func haveOwnIDs(_ links: [AbsentLink], _ owner: Int, _ row: UInt64) throws(StorageError) -> Bool {
    let id = schema.columns[owner].id
    guard let ids = schema.position(of: .elementIDs(of: id)) else { return true }
    var places: Value?
    if let position = schema.position(of: .elementPlaces(of: id)) {
      places = try value(schema.columns[position], ofRow: row)
    }
    let elements = try value(schema.columns[ids], ofRow: row)?.elements ?? []
    return AbsentLink.haveOwnIDs(elements, places: places?.elements ?? [], links)
  }

  private func check(_ link: AbsentLink, _ owner: Column, _ row: UInt64) throws(StorageError) {
    let name = "\(schema.name).\(owner.name)"
    let target = try tables.writer(id: link.table)
    precondition(
      owner.canLink && (owner.type == .mixed || link.table == owner.target),
      "\(name): its values can't link to the table \(link.table)")
    guard let target, let key = target.schema.primaryKey, key.accepts(link.primaryKey) else {
      preconditionFailure(
        "\(name): the table \(link.table) has no primary key of that type to link to a row by")
    }
    let isThere = try target.row(withPrimaryKey: link.primaryKey) != nil
    precondition(!isThere, "\(name): the row is there; link to it by its key")
    let position = try isFitting(link, owner, row)
    precondition(position, "\(name): a link to a row that is not there has another place in such a column")
  }

  /// Whether the absent links of a cell fit it, and the rows to which they lead do not exist.
  func areAbsent(_ companions: Companions, _ row: UInt64) throws(StorageError) -> Bool {
    let owner = schema.columns[companions.owner]
    for link in try absentLinks(companions, row) {
      // The table may have lost its primary key since the link was set.
      guard try isFitting(link, owner, row), let target = try tables.writer(id: link.table),
        try target.row(withPrimaryKey: link.primaryKey) == nil
      else { return false }
      switch link.place {
      case .value: guard try value(owner, ofRow: row) == .null else { return false }
      case .key(let key):
        guard try value(forKey: key, ofMap: companions.owner, ofRow: row) == nil else { return false }
      case .before, .member: break
      }
    }
    return true
  }

  /// Whether a cell has an absent link to the row of this table with a primary key.
  func waits(forPrimaryKey key: Value) throws(StorageError) -> Bool {
    for source in try absentLinks.sources(of: key) {
      if try waitingKeys(of: source).contains(key) { return true }
    }
    return false
  }

  /// The primary keys of the absent links that a cell has to rows of this table.
  private func waitingKeys(of source: AbsentLinkIndex.Source) throws(StorageError) -> [Value] {
    guard let table = try tables.writer(id: source.table),
      let owner = table.schema.columns.firstIndex(where: { $0.id == source.column }),
      let position = table.schema.position(of: .absentLinks(of: source.column))
    else { throw editor.store.corrupted(.structure, absentLinks.root) }
    return try table.absentLinks(Companions(owner: owner, absentLinks: position), source.row)
      .filter { $0.table == schema.id }.map(\.primaryKey)
  }

  private func isFitting(
    _ link: AbsentLink, _ owner: Column, _ row: UInt64
  ) throws(StorageError) -> Bool {
    switch (owner.collection, link.place) {
    case (.none, .value), (.map, .key), (.set, .member): return link.elementID == 0 && link.elementPlace == 0
    case (.list, .before(let index)):
      let hasIDs = schema.position(of: .elementIDs(of: owner.id)) != nil
      let count = try listCount(position(of: owner.id), ofRow: row) ?? 0
      return index >= 0 && index <= count && (link.elementID != 0) == hasIDs
        && (hasIDs || link.elementPlace == 0)
    default: return false
    }
  }

  // MARK: - The index

  /// Changes the indexes of the tables to which the absent links of a cell lead, when the companion gets another value.
  func changeAbsentLinks(
    from old: Value, to new: Value, _ companion: Column, row: UInt64
  ) throws(StorageError) {
    guard let id = companion.role.owner, let owner = schema.columns.first(where: { $0.id == id }) else {
      return
    }
    let source = AbsentLinkIndex.Source(table: schema.id, column: id, row: row)
    let before = keys(try absentLinks(in: old, owner), source)
    let after = keys(try absentLinks(in: new, owner), source)
    for (table, key) in before.subtracting(after).inOrder {
      guard let target = try tables.writer(id: table) else {
        throw editor.store.corrupted(.structure, root.clusters)
      }
      try target.absentLinks.remove(key)
    }
    for (table, key) in after.subtracting(before).inOrder {
      guard let target = try tables.writer(id: table) else {
        guard isReplaying else { throw editor.store.corrupted(.structure, root.clusters) }
        throw mismatch(.noTarget, column: id, row: row)
      }
      try target.absentLinks.add(key)
    }
  }

  fileprivate struct Entry: Hashable {
    var table: UInt32
    var key: [UInt8]
  }

  private func keys(_ links: [AbsentLink], _ source: AbsentLinkIndex.Source) -> Set<Entry> {
    Set(links.map { Entry(table: $0.table, key: AbsentLinkIndex.key($0.primaryKey, source)) })
  }

  // MARK: - Rows that come

  /// Keeps the primary key of the row that was made last in `madeKey`, while the buffer has it.
  @inline(never)
  func noteMadeKey(_ buffer: AppendBuffer) {
    guard !isReplaying else { return }
    madeKey = buffer.watched.indices.first { buffer.watched[$0].isUnique }.map { buffer.watched[$0].value }
  }

  /// Resolves the absent links to a new row.
  @inline(never)
  func resolveAbsentLinks(to row: UInt64) throws(StorageError) {
    guard !isReplaying, let primaryKey = schema.primaryKey else { return }
    do throws(StorageError) {
      // The key was kept because reading the row would put the rows into the tree one by one.
      var key = madeKey
      madeKey = nil
      if key == nil { key = try value(primaryKey, ofRow: row) }
      guard let key else { return }
      try resolveAbsentLinks(to: row, withPrimaryKey: key)
    } catch {
      throw tables.fail(error)
    }
  }

  /// Resolves the absent links whose rows exist, after rows may have got other primary keys. Takes time in proportion
  /// to the absent links, and not to the rows.
  func resolveAllAbsentLinks() throws(StorageError) {
    guard !isReplaying, !absentLinks.isEmpty else { return }
    var known: Set<Value> = []
    // The order does not depend on hashes, so that the same is written each time.
    for source in try absentLinks.sources() {
      for key in try waitingKeys(of: source) where known.insert(key).inserted {
        guard let row = try row(withPrimaryKey: key) else { continue }
        tables.rowsToResolve.append((self, row, key))
      }
    }
    if !tables.rowsToResolve.isEmpty { try tables.resolveRows() }
  }

  /// Resolves the absent links to a row that is new or has got another primary key: they become ordinary links. If
  /// links are waiting (`OpenTables.areLinksWaiting`), this is done later.
  func resolveAbsentLinks(to row: UInt64, withPrimaryKey key: Value) throws(StorageError) {
    guard !isReplaying else { return }
    let sources = try absentLinks.sources(of: key)
    guard !sources.isEmpty else { return }
    guard !tables.areLinksWaiting else {
      tables.rowsToResolve.append((self, row, key))
      return
    }
    try tables.closeCells()
    for source in sources {
      try tables.resolveLinks(of: source, to: [RowName(table: schema.id, key: key): row])
    }
  }

  /// Resolves the absent links of a cell to some rows.
  ///
  /// - Parameter targets: the keys of these rows.
  fileprivate func resolve(
    _ companions: Companions, _ row: UInt64, _ targets: [RowName: UInt64]
  ) throws(StorageError) {
    let old = try absentLinks(companions, row)
    tables.elementSteps += old.count
    let column = schema.columns[companions.owner]
    func found(_ link: AbsentLink) -> LinkTarget? {
      targets[RowName(table: link.table, key: link.primaryKey)].map { LinkTarget(table: link.table, row: $0) }
    }
    // The cell may only have links to other primary keys with the same encoding.
    guard old.contains(where: { found($0) != nil }) else { return }
    if column.collection == .list { try checkPositions(old, companions, row) }
    let wereKept = areCompanionsKept
    areCompanionsKept = true
    defer { areCompanionsKept = wereKept }
    var (left, shown): ([AbsentLink], Int) = ([], 0)
    for var link in old {
      if case .before(let index) = link.place { link.place = .before(index + shown) }
      guard let target = found(link) else {
        left.append(link)
        continue
      }
      let value: Value =
        column.type == .link ? .link(target.row) : .typedLink(table: target.table, row: target.row)
      switch link.place {
      case .value: _ = try setOne(value, at: companions.owner, ofRow: row)
      case .key(let key): _ = try setValue(value, forKey: key, ofMap: companions.owner, ofRow: row)
      case .member: _ = try insert([value], intoSet: companions.owner, ofRow: row)
      case .before(let index):
        _ = try insert(value, at: index, ofList: companions.owner, ofRow: row)
        if companions.ids != nil { try show(link, at: index, companions, row) }
        shown += 1
      }
    }
    guard let position = companions.absentLinks else { return }
    _ = try setOne(AbsentLink.encode(left, in: column), at: position, ofRow: row)
  }

  /// Throws `.corrupted` if absent links have positions behind the end of their list, or if a list and its ids differ
  /// in length.
  private func checkPositions(
    _ links: [AbsentLink], _ companions: Companions, _ row: UInt64
  ) throws(StorageError) {
    let count = try listCount(companions.owner, ofRow: row) ?? 0
    for link in links {
      guard case .before(let index) = link.place, index <= count else {
        throw editor.store.corrupted(.structure, root.clusters)
      }
    }
    let ids = try companions.ids.flatMap { (ids) throws(StorageError) in try listCount(ids, ofRow: row) }
    guard ids == nil || ids == count else { throw editor.store.corrupted(.structure, root.clusters) }
  }

  /// Gives an element of a list, which was an absent link, the id and the place that the link had.
  private func show(
    _ link: AbsentLink, at index: Int, _ companions: Companions, _ row: UInt64
  ) throws(StorageError) {
    guard let ids = companions.ids else { return }
    _ = try insert(.int(Int64(bitPattern: link.elementID)), at: index, ofList: ids, ofRow: row)
    let place: Value = link.elementPlace == 0 ? .null : .int(Int64(bitPattern: link.elementPlace))
    // The companion may have been added for an element that was shown before.
    let role = ColumnRole.elementPlaces(of: schema.columns[companions.owner].id)
    if let places = schema.position(of: role), try listCount(places, ofRow: row) ?? 0 > 0 {
      _ = try insert(place, at: index, ofList: places, ofRow: row)
    } else if place != .null {
      let places = try companion(role)
      let count = try listCount(ids, ofRow: row) ?? 0
      _ = try insert(Array(repeating: .null, count: count), at: 0, ofList: places, ofRow: row)
      _ = try setElement(place, at: index, ofList: places, ofRow: row)
    }
  }
}

extension Set<TableWriter.Entry> {
  fileprivate var inOrder: [(table: UInt32, key: [UInt8])] {
    sorted { ($0.table, $0.key) < ($1.table, $1.key) }.map { ($0.table, $0.key) }
  }
}

private func < (left: (UInt32, [UInt8]), right: (UInt32, [UInt8])) -> Bool {
  left.0 == right.0 ? left.1.lexicographicallyPrecedes(right.1) : left.0 < right.0
}

/// A row by the id of its table and its primary key.
struct RowName: Hashable {
  var table: UInt32
  var key: Value
}

extension OpenTables {
  /// Resolves the absent links of a cell to some rows: they become ordinary links.
  func resolveLinks(
    of cell: AbsentLinkIndex.Source, to targets: [RowName: UInt64]
  ) throws(StorageError) {
    guard let table = try writer(id: cell.table),
      let position = table.schema.columns.firstIndex(where: { $0.id == cell.column }),
      let companion = table.schema.position(of: .absentLinks(of: cell.column))
    else { throw editor.store.corrupted(.structure, .null) }
    var companions = TableWriter.Companions(owner: position, absentLinks: companion)
    companions.ids = table.schema.position(of: .elementIDs(of: cell.column))
    companions.places = table.schema.position(of: .elementPlaces(of: cell.column))
    try deriving { () throws(StorageError) in
      try knowing { () throws(StorageError) in try table.resolve(companions, cell.row, targets) }
    }
  }
}
