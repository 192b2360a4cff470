/// Writes the creation of objects into changesets, as the rows of a version hold them. What stands in columns is encoded without making values of it.
///
/// Only for classes whose properties have one value each and link nowhere.
package struct CreationWriter {
  private let table: Table
  /// The position of the primary key.
  private let key: Int
  private var stream = ChangesetStream()
  /// The places in the stream of the names of the class and of its columns.
  private var places: (table: Int, columns: [Int]) = (0, [])
  /// So many objects stand in the changeset that is being made.
  package private(set) var count = 0

  /// Bytes that are added at once, at most.
  private static let mostAtOnce = 8 << 20

  /// Nil of a class with links or collections.
  package init?(_ table: Table) {
    guard let key = table.schema.columns.firstIndex(where: { $0.index == .unique }) else { return nil }
    self.init(table, key: key)
  }

  /// - Parameter key: the position of the primary key, which may have no index.
  init?(_ table: Table, key: Int) {
    guard table.schema.columns.allSatisfy({ $0.isCompanion || (!$0.isCollection && !$0.canLink) })
    else { return nil }
    (self.table, self.key) = (table, key)
  }

  /// The bytes of the changeset so far, about.
  package var bytes: Int { stream.count }

  /// Adds objects of rows that stand together.
  ///
  /// - Parameters:
  ///   - position: of the first row among those of the table.
  ///   - most: so many rows at most are looked at.
  ///   - isTold: whether an object is added, by its key and what it has in the fields; nil where all are.
  ///   - fields: the columns whose values `isTold` is given, by their positions; null stands for nil.
  /// - Returns: how many rows were looked at, and the keys of objects that have long values: these are to be told otherwise.
  /// - Throws: `.corrupted`.
  package mutating func add(
    from position: Int, most: Int, fields: [Int?], where isTold: ((Value, [Value]) -> Bool)?
  ) throws(StorageError) -> (looked: Int, apart: [Value]) {
    let (table, key) = (table, key)
    var (looked, apart): (Int, [Value]) = (0, [])
    var found: CreatedRows?
    // Whoever calls looks at the bytes only behind this: rows of many columns may have much.
    let longest = table.schema.columns.count * ChangesetMaker.mostWithCreation
    let most = min(most, max(1, Self.mostAtOnce / longest))
    try table.forEachRow([try table.key(at: position)]) { (_, group, first) throws(StorageError) in
      let end = first + min(group.count - first, max(1, most))
      looked = end - first
      var rows = Array(first..<end)
      if let isTold {
        rows.removeAll()
        var values: [Value] = []
        for row in first..<end {
          values.removeAll(keepingCapacity: true)
          for field in fields {
            if let field { values.append(try group.value(field, row)) } else { values.append(.null) }
          }
          if isTold(try group.value(key, row), values) { rows.append(row) }
        }
      }
      let created = try CreatedRows(group, rows, table.schema, key: key)
      for place in rows.indices where created.hasApart(place) {
        apart.append(try group.value(key, rows[place]))
      }
      found = created
    }
    guard let created = found, looked > 0 else {
      let access = table.beginReading()
      throw access.corrupted(.rows, table.clusters)
    }
    if stream.isEmpty { beginNames() }
    for place in created.keys.indices where apart.isEmpty || !created.hasApart(place) {
      stream.create(created, place, table: places.table, places: places.columns)
      count += 1
    }
    return (looked, apart)
  }

  private mutating func beginNames() {
    places = (stream.place(of: table.schema.name), [])
    for column in table.schema.columns {
      places.columns.append(column.isCompanion ? -1 : stream.place(of: column.name))
    }
  }

  /// What was added since the last time.
  package mutating func finish() -> CreatedObjects {
    defer { count = 0 }
    return CreatedObjects(stream.finish(), count: count)
  }
}

extension CreatedRows {
  /// Whether a value of the row does not stand with its creation.
  fileprivate func hasApart(_ row: Int) -> Bool { columns.contains { $0.forms[row] == .apart } }
}
