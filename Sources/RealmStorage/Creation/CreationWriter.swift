/// Writes the creation of objects into changesets, from the rows of a version. Values of columns are encoded directly,
/// without a `Value` for each.
///
/// It supports only classes whose properties have one value each and are no links.
package struct CreationWriter {
  private let table: Table
  /// The position of the primary key.
  private let key: Int
  private var stream = ChangesetStream()
  /// The places in the stream of the names of the class and of its columns.
  private var places: (table: Int, columns: [Int]) = (0, [])
  /// The number of objects in the changeset that is being made.
  package private(set) var count = 0

  /// The greatest number of bytes that one call adds.
  private static let mostAtOnce = 8 << 20

  /// Nil for a class with links or collections, or without a primary key.
  package init?(_ table: Table) {
    guard let key = table.schema.columns.firstIndex(where: { $0.index == .unique }) else { return nil }
    self.init(table, key: key)
  }

  /// - Parameter key: The position of the primary key, which may have no index.
  init?(_ table: Table, key: Int) {
    guard table.schema.columns.allSatisfy({ $0.isCompanion || (!$0.isCollection && !$0.canLink) })
    else { return nil }
    (self.table, self.key) = (table, key)
  }

  /// The approximate number of bytes of the changeset so far.
  package var bytes: Int { stream.count }

  /// Adds the objects of adjacent rows.
  ///
  /// - Parameters:
  ///   - position: The position of the first row in the table.
  ///   - most: The greatest number of rows to look at.
  ///   - fields: The positions of the columns whose values `isTold` gets. It gets null for nil.
  ///   - isTold: Returns whether an object is added, from its primary key and the values of the fields. If it is nil,
  ///   all objects are added.
  /// - Returns: The number of rows that were looked at, and the keys of objects with long values. These objects were
  ///   not added; the caller has to write them in another way.
  /// - Throws: `.corrupted`.
  package mutating func add(
    from position: Int, most: Int, fields: [Int?], where isTold: ((Value, [Value]) -> Bool)?
  ) throws(StorageError) -> (looked: Int, apart: [Value]) {
    let (table, key) = (table, key)
    var (looked, apart): (Int, [Value]) = (0, [])
    var found: CreatedRows?
    // The caller looks at the number of bytes only after this call, and rows with many columns may have many bytes.
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

  /// Ends the changeset. Returns the objects that were added since the last call.
  package mutating func finish() -> CreatedObjects {
    defer { count = 0 }
    return CreatedObjects(stream.finish(), count: count)
  }
}

extension CreatedRows {
  /// True if a value of the row is not stored with its creation.
  fileprivate func hasApart(_ row: Int) -> Bool { columns.contains { $0.forms[row] == .apart } }
}
