/// Finds the rows that lead to some others by links. It goes from these upwards, by the index of who links to them, so that it takes time in proportion to the rows that lead there.
package struct LinkReach {
  private let version: Snapshot
  private let schemas: [TableSchema]
  private var roots: [UInt32: TableRoot] = [:]

  package init(_ version: Snapshot, _ schemas: [TableSchema]) {
    (self.version, self.schemas) = (version, schemas)
  }

  /// The rows of some tables that lead to some rows over so many links or fewer; with these rows themselves.
  ///
  /// A row is not found by a link that it has no more: the row that had the link has changed itself.
  package mutating func rows(
    leadingTo base: [UInt32: [UInt64]], over most: Int, of wanted: Set<UInt32>
  ) throws(StorageError) -> [UInt32: RowSet] {
    let distance = distances(to: wanted)
    var found: [UInt32: RowSet] = [:]
    var level = base.filter { distance[$0.key] ?? .max <= most }
    for step in 0...most {
      var next: [UInt32: [UInt64]] = [:]
      for (table, rows) in level {
        let end = try root(table).nextKey
        var known = found.removeValue(forKey: table) ?? RowSet(below: end)
        let fresh = rows.filter { known.insert($0) }.sorted()
        found[table] = known
        // The next step would be one too many for every table that is wanted.
        guard step < most, !fresh.isEmpty else { continue }
        let sources = Set(distance.compactMap { step + 1 + $0.value <= most ? $0.key : nil })
        try forEachLink(to: fresh, of: table) { entry in
          if sources.contains(entry.table) { next[entry.table, default: []].append(entry.source) }
        }
      }
      level = next
      if level.isEmpty { break }
    }
    return found.filter { wanted.contains($0.key) }
  }

  /// The rows of a table that link by a column to one of some rows of another.
  ///
  /// - Parameter column: by its id.
  package mutating func rows(
    of source: UInt32, linkingBy column: UInt16, to rows: Set<UInt64>, of table: UInt32
  ) throws(StorageError) -> Set<UInt64> {
    var found: Set<UInt64> = []
    try forEachLink(to: rows.sorted(), of: table) { entry in
      if entry.table == source, entry.column == column { found.insert(entry.source) }
    }
    return found
  }

  private mutating func root(_ table: UInt32) throws(StorageError) -> TableRoot {
    if let known = roots[table] { return known }
    let root = try version.form(ofTable: table).root
    roots[table] = root
    return root
  }

  /// - Parameter rows: growing.
  private mutating func forEachLink(
    to rows: [UInt64], of table: UInt32, _ body: (LinkIndex.Entry) -> Void
  ) throws(StorageError) {
    let links = try root(table).links
    if links.isNull { return }
    let access = version.access()
    for row in rows { try LinkIndex.forEachSource(of: row, in: links, access, body) }
  }

  /// Over how many links a row of a table may be reached at least from a row of one of some tables: 0 of these.
  private func distances(to wanted: Set<UInt32>) -> [UInt32: Int] {
    var distance = Dictionary(uniqueKeysWithValues: wanted.map { ($0, 0) })
    var level = wanted
    while !level.isEmpty {
      var next: Set<UInt32> = []
      for schema in schemas where level.contains(schema.id) {
        let targets = schema.columns.flatMap { column -> [UInt32] in
          switch column.type {
          case .link: [column.target]
          case .mixed: schemas.map(\.id)
          default: []
          }
        }
        for target in targets where distance[target] == nil {
          distance[target] = (distance[schema.id] ?? 0) + 1
          next.insert(target)
        }
      }
      level = next
    }
    return distance
  }
}
