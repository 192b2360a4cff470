/// Changes of companions, which follow from changes of the cells of their owners. Few columns have companions, and most
/// tables have none.
///
/// Each change of a companion is made and recorded as a change of its own that derives from the change of the owner's
/// cell. If recorded changes are applied, the changes of companions are among them, so nothing is derived then.
extension TableWriter {
  /// A column and its companions. The columns are named by their positions in the schema.
  struct Companions {
    var owner: Int
    var ids: Int?
    var places: Int?
    var absentLinks: Int?
  }

  /// The companions of the column at a position; nil if changes of the column change no companions.
  @inline(__always)
  func companions(of position: Int) -> Companions? {
    guard hasCompanions else { return nil }
    return findCompanions(of: position)
  }

  /// The companions of a column of lists, after checking that they fit the list of a row.
  ///
  /// - Throws: `.corrupted` if they do not fit. Each change would leave them so, or use positions out of bounds.
  @inline(__always)
  func companions(of position: Int, _ row: UInt64) throws(StorageError) -> Companions? {
    guard hasCompanions, let found = findCompanions(of: position) else { return nil }
    try checkCounts(found, row)
    return found
  }

  private func checkCounts(_ companions: Companions, _ row: UInt64) throws(StorageError) {
    guard let ids = companions.ids else { return }
    let count = try listCount(companions.owner, ofRow: row)
    let places = try companions.places.flatMap { (position) throws(StorageError) in
      try listCount(position, ofRow: row)
    }
    guard try listCount(ids, ofRow: row) == count, places == nil || places == 0 || places == count else {
      throw editor.store.corrupted(.structure, root.clusters)
    }
  }

  /// Makes changes that derive from another one. If one of them is interrupted, the transaction can't be committed.
  func following(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    do throws(StorageError) {
      try tables.deriving(body)
    } catch {
      throw tables.fail(error)
    }
  }

  @inline(never)
  private func findCompanions(of position: Int) -> Companions? {
    guard !isReplaying, !areCompanionsKept else { return nil }
    let id = schema.columns[position].id
    let found = Companions(
      owner: position, ids: schema.position(of: .elementIDs(of: id)),
      places: schema.position(of: .elementPlaces(of: id)),
      absentLinks: schema.position(of: .absentLinks(of: id)))
    return found.ids == nil && found.absentLinks == nil ? nil : found
  }

  /// The position of a companion in the schema. The companion is added if the table lacks it.
  ///
  /// - Parameter role: a role whose owner the table has.
  /// - Throws: `.limitExceeded` if the table can have no more columns.
  func companion(_ role: ColumnRole) throws(StorageError) -> Int {
    if let position = schema.position(of: role) { return position }
    guard schema.columns.count < TableSchema.maximumColumns else {
      throw .limitExceeded(
        .columns(schema.columns.count + 1, maximum: TableSchema.maximumColumns),
        path: editor.store.storage.path)
    }
    try add(Column(role))
    return schema.columns.count - 1
  }

  // MARK: - Ids

  /// Asks the recorder for ids of elements that are about to be inserted.
  ///
  /// - Returns: the first id; nil if the elements of the list have no ids, or if `count` is 0.
  /// - Throws: `.elementIDsMissing`, and the errors of the recorder.
  func newElementIDs(_ count: Int, _ companions: Companions?) throws(StorageError) -> UInt64? {
    guard let companions, companions.ids != nil, count > 0 else { return nil }
    return try newElementIDs(count, in: schema.columns[companions.owner])
  }

  func newElementIDs(_ count: Int, in column: Column) throws(StorageError) -> UInt64 {
    guard let first = try tables.recording?.elementIDs(UInt64(count)) else {
      throw .elementIDsMissing(table: schema.name, column: column.name, path: editor.store.storage.path)
    }
    let (last, isTooLarge) = first.addingReportingOverflow(UInt64(count) - 1)
    precondition(
      first >= AbsentLink.elementIDs.lowerBound && !isTooLarge && last <= AbsentLink.elementIDs.upperBound,
      "\(schema.name).\(column.name): the ids of elements are 1 to 2^63 - 1; the recorder gave \(count) from \(first) on"
    )
    return first
  }

  /// Gives ids to the elements of the lists of a new row, except to lists whose ids the row has already.
  @inline(never)
  func giveElementIDs(_ buffer: AppendBuffer) throws(StorageError) {
    guard !isReplaying else { return }
    for (position, column) in schema.columns.enumerated() where !buffer.hasValue(position) {
      guard case .elementIDs(let owner) = column.role,
        let list = schema.columns.firstIndex(where: { $0.id == owner }),
        let count = buffer.listCount(list), count > 0
      else { continue }
      let first = try newElementIDs(count, in: schema.columns[list])
      try buffer.set(position, .list(Self.values(first..<first + UInt64(count))))
    }
  }

  private static func values(_ ids: Range<UInt64>) -> [Value] { ids.map { .int(Int64(bitPattern: $0)) } }

  /// Changes the companions after elements were inserted.
  ///
  /// - Parameter first: see `newElementIDs`.
  func follow(
    _ companions: Companions, insertionOf count: Int, at index: Int, ids first: UInt64?, ofRow row: UInt64
  ) throws(StorageError) {
    guard count > 0 else { return }
    try following { () throws(StorageError) in
      if let ids = companions.ids, let first {
        _ = try insert(Self.values(first..<first + UInt64(count)), at: index, ofList: ids, ofRow: row)
        if let places = try usedPlaces(companions, row) {
          _ = try insert(Array(repeating: .null, count: count), at: index, ofList: places, ofRow: row)
        }
      }
      try changeAbsentLinks(companions, row) { $0.shift(by: count, behind: index) }
    }
  }

  /// Changes the companions after elements were removed.
  func follow(
    _ companions: Companions, removalOf range: Range<Int>, ofRow row: UInt64
  ) throws(StorageError) {
    guard !range.isEmpty else { return }
    try following { () throws(StorageError) in
      if let ids = companions.ids {
        _ = try removeElements(range, ofList: ids, ofRow: row)
        if let places = try usedPlaces(companions, row) {
          _ = try removeElements(range, ofList: places, ofRow: row)
        }
      }
      try changeAbsentLinks(companions, row) { $0.shift(without: range) }
    }
  }

  /// The position of the companion with the places, if the list of a row has places; else nil.
  private func usedPlaces(_ companions: Companions, _ row: UInt64) throws(StorageError) -> Int? {
    guard let places = companions.places, try listCount(places, ofRow: row) ?? 0 > 0 else { return nil }
    return places
  }

  /// Prepares the companions for elements that are about to be moved: adds the companion with the places, and a null
  /// for each element, if they are missing.
  ///
  /// - Returns: the first of `count` new ids of places; nil if the elements of the list have no ids.
  func newElementPlaces(_ count: Int, _ companions: inout Companions?, _ row: UInt64) throws(StorageError)
    -> UInt64?
  {
    guard let found = companions, let ids = found.ids else { return nil }
    let first = try newElementIDs(count, in: schema.columns[found.owner])
    try following { () throws(StorageError) in
      let places = try companion(.elementPlaces(of: schema.columns[found.owner].id))
      companions?.places = places
      if try listCount(places, ofRow: row) == 0, let count = try listCount(ids, ofRow: row), count > 0 {
        _ = try insert(Array(repeating: .null, count: count), at: 0, ofList: places, ofRow: row)
      }
    }
    return first
  }

  /// Changes the companions after an element was moved.
  ///
  /// - Parameter place: see `newElementPlaces`.
  func follow(
    _ companions: Companions, moveFrom old: Int, to new: Int, place: UInt64?, ofRow row: UInt64
  ) throws(StorageError) {
    try following { () throws(StorageError) in
      if let ids = companions.ids, let places = companions.places, let place {
        _ = try moveElement(from: old, to: new, ofList: ids, ofRow: row)
        _ = try moveElement(from: old, to: new, ofList: places, ofRow: row)
        _ = try setElement(.int(Int64(bitPattern: place)), at: new, ofList: places, ofRow: row)
      }
      try changeAbsentLinks(companions, row) {
        $0.shift(without: old..<old + 1)
        $0.shift(by: 1, behind: new)
      }
    }
  }

  /// Changes the companions after elements were put into another order.
  ///
  /// - Parameters:
  ///   - moved: the new positions of the elements that count as moved.
  ///   - place: the first of as many ids of places; see `newElementPlaces`.
  func follow(
    _ companions: Companions, order: [Int], moved: [Int], place: UInt64?, ofRow row: UInt64
  ) throws(StorageError) {
    guard let ids = companions.ids, let places = companions.places, let place else { return }
    try following { () throws(StorageError) in
      _ = try reorderElements(order, ofList: ids, ofRow: row)
      _ = try reorderElements(order, ofList: places, ofRow: row)
      for (offset, index) in moved.enumerated() {
        let id = Int64(bitPattern: place + UInt64(offset))
        _ = try setElement(.int(id), at: index, ofList: places, ofRow: row)
      }
    }
  }

  /// Changes the companions after an element was replaced by a new element, which gets an id of its own.
  func follow(
    _ companions: Companions, replacementAt index: Int, id: UInt64?, ofRow row: UInt64
  ) throws(StorageError) {
    guard let ids = companions.ids, let id else { return }
    try following { () throws(StorageError) in
      _ = try setElement(.int(Int64(bitPattern: id)), at: index, ofList: ids, ofRow: row)
      guard let places = try usedPlaces(companions, row) else { return }
      _ = try setElement(.null, at: index, ofList: places, ofRow: row)
    }
  }

  /// Whether a column links to embedded rows. If such a link is set, it counts as a new element.
  func linksToEmbedded(_ column: Column) throws(StorageError) -> Bool {
    guard column.type == .link else { return false }
    return try tables.writer(id: column.target)?.schema.isEmbedded ?? false
  }

  // MARK: - Whole values

  /// Sets a cell that has companions.
  ///
  /// If a list has absent links, the elements that both values have at their beginning and at their end stay, with
  /// their ids. Otherwise all elements are new ones. The absent links are removed if the cell has a single value or
  /// gets an empty collection; in a map, those are removed whose keys the new value has.
  func set(
    _ value: Value, ofRow row: UInt64, _ companions: Companions
  ) throws(StorageError) -> Bool {
    let column = schema.columns[companions.owner]
    guard let old = try self.value(column, ofRow: row) else { return false }
    if column.collection == .list { try checkCounts(companions, row) }
    let absent = try absentLinks(companions, row)
    let (before, after) = (old.elements ?? [], value.elements ?? [])
    let isCleared = !column.isCollection || after.isEmpty
    if old == value, absent.isEmpty || !isCleared { return true }
    var (start, end) = (0, 0)
    if column.collection == .list, !absent.isEmpty {
      let most = min(before.count, after.count)
      start = zip(before, after).prefix { $0 == $1 }.count
      end = zip(before.reversed(), after.reversed()).prefix { $0 == $1 }.count
      end = min(end, most - start)
    }
    let added = after.count - start - end
    let removed = start..<before.count - end
    let first = column.collection == .list ? try newElementIDs(added, companions) : nil
    _ = try setOne(value, at: companions.owner, ofRow: row)
    guard column.collection == .list else {
      try following { () throws(StorageError) in
        try changeAbsentLinks(companions, row) { links in
          links.removeAll { link in
            guard !isCleared, case .key(let key) = link.place, case .map(let map, _) = value else {
              return isCleared
            }
            return map[key] != nil
          }
        }
      }
      return true
    }
    try follow(companions, removalOf: removed, ofRow: row)
    try follow(companions, insertionOf: added, at: start, ids: first, ofRow: row)
    if isCleared {
      try following { () throws(StorageError) in
        try changeAbsentLinks(companions, row) { $0.removeAll() }
      }
    }
    return true
  }

  /// The new positions of the elements that an order moves. They are as few as possible: all other elements keep their
  /// order among themselves.
  static func moved(by order: [Int]) -> [Int] {
    // This finds the longest ascending subsequence. For each length, `ends` has the position of the least last element.
    // For each position, `previous` has the position that comes before it in the sequence.
    var (ends, previous): ([Int], [Int?]) = ([], [])
    for place in order.indices {
      let length = ends.partitioningIndex { order[$0] >= order[place] }
      previous.append(length > 0 ? ends[length - 1] : nil)
      if length == ends.count { ends.append(place) } else { ends[length] = place }
    }
    var stays = Set<Int>()
    var next = ends.last
    while let place = next {
      stays.insert(place)
      next = previous[place]
    }
    return order.indices.filter { !stays.contains($0) }
  }
}

extension AppendBuffer {
  /// Whether a column has a value of the row that was begun last.
  fileprivate func hasValue(_ index: Int) -> Bool { columns[index].rows == rows }

  /// The number of elements that this row has in a watched column of lists.
  fileprivate func listCount(_ index: Int) -> Int? {
    columns[index].watched.flatMap { watched[$0].value.elements?.count }
  }
}
