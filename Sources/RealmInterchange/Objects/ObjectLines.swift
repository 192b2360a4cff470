package import RealmStorage

/// The lines of a file's objects: all that its tables and named trees hold, from which `WholeImport` makes the file anew.
/// docs/dump-format.md describes them.
package struct ObjectLines {
  /// What the first line calls itself.
  package static let format = "realm-objects"
  package static let version = 1

  private let snapshot: Snapshot
  private let writer: ObjectWriter

  package init(_ snapshot: Snapshot) throws(StorageError) {
    self.snapshot = snapshot
    writer = try ObjectWriter(snapshot)
  }

  /// The lines before the first object: the form, and each table with its columns.
  package func head() throws(StorageError) -> [String] {
    let format = JSON.object([
      ("format", JSON.string(Self.format)), ("version", "\(Self.version)"),
      ("schemaVersion", JSON.integer(try snapshot.schemaVersion())),
    ])
    return [format] + (try snapshot.schemas().map { writer.names.json($0) })
  }

  /// A line for each object of a table: `{"table": name, "object": {…}}`, with the `key` of its row if the table has no primary key.
  ///
  /// - Parameter put: takes a line, and answers whether more are wanted.
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

  /// A line for people for each object of a table: the table, the key of the row, and the object.
  ///
  /// - Parameter put: takes a line, and answers whether more are wanted.
  package func forEachText(of table: Table, _ put: ([UInt8]) -> Bool) throws {
    try forEachLine(table, put) { key, values, line in
      line.raw("\(JSON.shown(table.schema.name))\t\(key)\t")
      try writer.write(values, of: table.schema, to: &line)
    }
  }

  /// A line for each object of a table: the object, and nothing else.
  ///
  /// - Parameters:
  ///   - rows: the keys of the rows; nil for all of them.
  ///   - put: takes a line, and answers whether more are wanted.
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
