package import RealmStorage

/// Writes the lines of a file's objects: everything that its tables and named trees hold. `WholeImport` makes an equal
/// file from them. docs/dump-format.md describes the lines.
package struct ObjectLines {
  /// The name of the format on the first line.
  package static let format = "realm-objects"
  package static let version = 1

  private let snapshot: Snapshot
  private let writer: ObjectWriter

  package init(_ snapshot: Snapshot) throws(StorageError) {
    self.snapshot = snapshot
    writer = try ObjectWriter(snapshot)
  }

  /// The lines before the first object: the format, and each table with its columns.
  package func head() throws(StorageError) -> [String] {
    let format = JSON.object([
      ("format", JSON.string(Self.format)), ("version", "\(Self.version)"),
      ("schemaVersion", JSON.integer(try snapshot.schemaVersion())),
    ])
    return [format] + (try snapshot.schemas().map { writer.names.json($0) })
  }

  /// Writes a line for each object of a table: `{"table": name, "object": {…}}`. If the table has no primary key, the
  /// line also has the `key` of the row.
  ///
  /// - Parameter put: takes a line, and returns whether it wants more lines.
  package func forEachObject(of table: Table, _ put: ([UInt8]) -> Bool) throws {
    let schema = table.schema
    let start = #"{"table":\#(JSON.string(schema.name)),"#
    let hasKey = schema.primaryKey != nil
    try forEachLine(table, put) { key, values, line in
      line.raw(start)
      if !hasKey {
        line.raw(#""key":"#)
        line.integer(key)
        line.raw(",")
      }
      line.raw(#""object":"#)
      try writer.write(values, of: schema, to: &line)
      line.raw("}")
    }
  }

  /// Writes a line for people for each object of a table: the table, the key of the row, and the object.
  ///
  /// - Parameter put: takes a line, and returns whether it wants more lines.
  package func forEachText(of table: Table, _ put: ([UInt8]) -> Bool) throws {
    try forEachLine(table, put) { key, values, line in
      line.raw("\(JSON.shown(table.schema.name))\t\(key)\t")
      try writer.write(values, of: table.schema, to: &line)
    }
  }

  /// Writes a line for each object of a table, with only the object.
  ///
  /// - Parameters:
  ///   - rows: the keys of the rows; nil for all rows.
  ///   - put: takes a line, and returns whether it wants more lines.
  package func forEachPlainObject(of table: Table, rows: [UInt64]? = nil, _ put: ([UInt8]) -> Bool) throws {
    guard let rows else {
      return try forEachLine(table, put) { _, values, line in
        try writer.write(values, of: table.schema, to: &line)
      }
    }
    var line = JSONWriter()
    for row in rows {
      line.clear()
      try writer.write(table.values(ofRow: row), of: table.schema, to: &line)
      guard put(line.bytes) else { return }
    }
  }

  private func forEachLine(
    _ table: Table, _ put: ([UInt8]) -> Bool,
    _ write: (UInt64, [Value], inout JSONWriter) throws -> Void
  ) throws {
    var line = JSONWriter()
    var failure: (any Error)?
    try table.forEach { key, values in
      line.clear()
      do { try write(key, values, &line) } catch {
        failure = error
        return false
      }
      return put(line.bytes)
    }
    if let failure { throw failure }
  }
}
