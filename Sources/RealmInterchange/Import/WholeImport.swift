package import RealmStorage

/// Imports all lines that `ObjectLines` writes for a file, including the entries of its named trees.
package final class WholeImport {
  private let lines: JSONLinesImport
  private let transaction: WriteTransaction
  private let isNew: Bool
  private var schemas = SchemaReader()
  private var reader: ValueReader?
  private var inserter: ObjectInserter?
  private let duplicates: ObjectInserter.Duplicates
  private let reservedTrees: Set<String>
  package private(set) var entries = 0
  package var objects: Int { inserter?.count ?? 0 }

  /// Makes an import of a whole file.
  ///
  /// - Parameters:
  ///   - isNew: whether the file is new. It then gets the schema version of the input, and rows keep their keys.
  ///   - duplicates: what to do with an object if another one has its primary key.
  ///   - reservedTrees: the names of trees that an input must not write.
  package init(
    _ lines: JSONLinesImport, _ transaction: WriteTransaction, isNew: Bool,
    duplicates: ObjectInserter.Duplicates, reservedTrees: Set<String> = []
  ) {
    (self.lines, self.transaction, self.isNew, self.duplicates) = (lines, transaction, isNew, duplicates)
    self.reservedTrees = reservedTrees
  }

  /// Whether a line is the first of the lines that `ObjectLines` writes.
  package static func isHead(_ node: JSONNode) -> Bool { node["format"]?.string == ObjectLines.format }

  /// Imports all lines after the first one.
  ///
  /// - Parameters:
  ///   - head: the first line.
  ///   - leaveOut: is called with each wrong line, and with each link whose object does not exist. Unless it throws,
  ///     the line or the link is left out.
  /// - Throws: what `leaveOut` throws; `InterchangeError`; `StorageError`.
  package func run(_ head: JSONNode, _ leaveOut: (InputProblem) throws -> Void) throws {
    guard case .number("\(ObjectLines.version)")? = head["version"]?.content else {
      throw InterchangeError(
        "The input has a later form than this tool reads, \(ObjectLines.version): use a newer tool.")
    }
    while true {
      do {
        guard let (node, line) = try lines.next() else { break }
        try take(node, line)
      } catch let problem as InputProblem {
        try leaveOut(problem)
      }
    }
    try makeTables()
    try inserter?.finish(checkInterruption: lines.checkInterruption, leaveOut)
    guard isNew, let number = head["schemaVersion"] else { return }
    guard let version = try? ValueReader.unsigned(number) else {
      throw InterchangeError("The first line has a schema version that is none: \(number.shown).")
    }
    try transaction.setSchemaVersion(version)
  }

  private func take(_ node: JSONNode, _ line: Int) throws {
    if node["columns"] != nil {
      guard inserter == nil else {
        throw InputProblem(
          line: line, column: 1, "A table is described behind objects; all tables come first.")
      }
      guard try schemas.take(node, line: line) else {
        throw InputProblem(line: line, column: 1, "The line describes no table.")
      }
    } else if let object = node["object"] {
      try makeTables()
      let name = node["table"]?.string ?? ""
      guard let reader, let schema = reader.tables.schema(named: name), !schema.isEmbedded else {
        throw InputProblem(line: line, column: 1, "There is no table of objects \"\(name)\".")
      }
      var oldKey: UInt64?
      if let key = node["key"] {
        do throws(ValueReader.Problem) { oldKey = try ValueReader.unsigned(key) } catch {
          throw InputProblem(
            line: line, column: key.offset + 1, property: "key", value: error.value, error.reason)
        }
      }
      try inserter?.insert(lines.draft(object, line: line, of: schema, oldKey: oldKey, reader))
    } else if let tree = node["tree"]?.string {
      try insertEntry(of: tree, node, line)
    } else {
      throw InputProblem(
        line: line, column: 1, "The line is neither a table, an object nor an entry of a tree.")
    }
  }

  private func makeTables() throws {
    guard inserter == nil else { return }
    let made: [TableSchema]
    do {
      made = try schemas.make(in: transaction)
    } catch let problem as InputProblem {
      // Objects need their table, so the import can't go on without it.
      throw InterchangeError("\(problem)")
    }
    let tables = ImportTables(made)
    reader = ValueReader(tables, knowsKeys: true, skipsUnknown: lines.skipsUnknown)
    inserter = ObjectInserter(transaction, tables, duplicates: duplicates, keepsKeys: isNew)
  }

  private func insertEntry(of tree: String, _ node: JSONNode, _ line: Int) throws {
    func bytes(_ member: String) throws -> [UInt8] {
      let part = node[member]
      if let text = part?.string { return Array(text.utf8) }
      guard let found = part?.tagged("$data")?.string.flatMap(Base64.bytes) else {
        throw InputProblem(
          line: line, column: (part?.offset ?? 0) + 1, property: member, value: part?.shown,
          "is neither a text nor data in base64.")
      }
      return found
    }
    let (key, value) = (try bytes("key"), try bytes("value"))
    guard (1...TableSchema.maximumNameLength).contains(tree.utf8.count) else {
      throw InputProblem(
        line: line, column: 1, "A tree has a name of 1 to \(TableSchema.maximumNameLength) bytes.")
    }
    guard !reservedTrees.contains(tree) else {
      throw InputProblem(line: line, column: 1, "The tree \(tree) is kept for device sync.")
    }
    do throws(StorageError) {
      try transaction.tree(tree).set(value, for: key)
    } catch {
      guard case .limitExceeded = error else { throw error }
      throw InputProblem(line: line, column: 1, property: "key", value: nil, "can't be stored: \(error)")
    }
    entries += 1
  }
}
