/// Which rows lead to some others by links: found from these upwards, by who links to them, so that it takes time in proportion to what leads there.
package struct LinkReach {
  private let version: Snapshot
  private let schemas: [TableSchema]
  private var roots: [UInt32: TableRoot] = [:]
  /// Rows by their tables.
  package typealias Rows = [UInt32: Set<UInt64>]

  package init(_ version: Snapshot, _ schemas: [TableSchema]) {
    (self.version, self.schemas) = (version, schemas)
  }

  /// The rows of some tables that lead to some rows over so many links or fewer; with these rows themselves.
  ///
  /// What leads to a row by a link that is not there any more is not found: who had the link has changed itself.
  package mutating func rows(
    leadingTo base: Rows, over most: Int, of wanted: Set<UInt32>
  ) throws(StorageError) -> Rows {
    let distance = distances(to: wanted)
    var found: Rows = [:]
    var level = base.filter { distance[$0.key] ?? .max <= most }
    for step in 0...most {
      var next: Rows = [:]
      for (table, rows) in level {
        let fresh = rows.subtracting(found[table] ?? [])
        found[table, default: []].formUnion(fresh)
        // The next step would be one too many for every table that is wanted.
        guard step < most, !fresh.isEmpty else { continue }
        for row in fresh {
          try forEachLink(to: row, of: table) { source, _, linking in
            if step + 1 + (distance[source] ?? most) <= most, found[source]?.contains(linking) != true {
              next[source, default: []].insert(linking)
            }
          }
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
    for row in rows {
      try forEachLink(to: row, of: table, LinkIndex.head(target: row, table: source, column: column)) {
        found.insert($2)
      }
    }
    return found
  }

  private mutating func forEachLink(
    to row: UInt64, of table: UInt32, _ head: [UInt8]? = nil,
    _ body: (_ table: UInt32, _ column: UInt16, _ row: UInt64) -> Void
  ) throws(StorageError) {
    let root: TableRoot
    if let known = roots[table] {
      root = known
    } else {
      root = try version.form(ofTable: table).root
      roots[table] = root
    }
    try LinkIndex.forEach(head ?? LinkIndex.targetHead(row), in: root.links, version.access()) { entry in
      body(entry.table, entry.column, entry.source)
      return true
    }
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
