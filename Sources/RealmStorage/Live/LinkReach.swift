/// Finds the rows that lead to given rows over links. It starts at the given rows and follows links backwards, by the
/// indexes of links. So it takes time in proportion to the rows that lead there.
package struct LinkReach {
  private let version: Snapshot
  private let schemas: [TableSchema]
  private var roots: [UInt32: TableRoot] = [:]

  package init(_ version: Snapshot, _ schemas: [TableSchema]) {
    (self.version, self.schemas) = (version, schemas)
  }

  /// The rows of the wanted tables that lead to a row of `base` over at most `most` links, and the rows of `base` that
  /// are in wanted tables.
  ///
  /// The links are those of the version that this reads. A row that only had a link in an older version is not found by
  /// that link, but such a row has changed itself.
  ///
  /// - Parameters:
  ///   - base: the keys of the rows to which the links lead, by the id of their table.
  ///   - most: the greatest number of links between a found row and a row of `base`.
  ///   - wanted: the ids of the tables whose rows are to be found.
  /// - Returns: the found rows, by the id of their table.
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
        // After the last step, no more links may be followed.
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

  /// The rows of the table `source` that link by a column to one of `rows`, which are rows of `table`.
  ///
  /// - Parameter column: the id of the column of links.
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

  /// Calls `body` with each link to one of the given rows of a table.
  ///
  /// - Parameter rows: the keys of the rows, in ascending order.
  private mutating func forEachLink(
    to rows: [UInt64], of table: UInt32, _ body: (LinkIndex.Entry) -> Void
  ) throws(StorageError) {
    let links = try root(table).links
    if links.isNull { return }
    let access = version.access()
    for row in rows { try LinkIndex.forEachSource(of: row, in: links, access, body) }
  }

  /// For each table the least number of links by which the schemas allow a row of a wanted table to lead to a row of
  /// this table. It is 0 for the wanted tables. Tables that no wanted table can reach have no entry.
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
