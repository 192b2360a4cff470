import ArgumentParser
import Foundation
import RealmInterchange
import RealmStorage

/// A file that the shell reads, and that it changes in transactions.
final class ShellSession {
  private static let commands = [
    "begin", "cancel", "commit", "count", "create", "delete", "explain", "help", "quit", "refresh", "schema",
    "set",
    "show", "tables",
  ]
  private let path: String
  private let key: [UInt8]?
  private var database: Database
  private var current: Snapshot?
  private var canWrite = false
  private var transaction: WriteTransaction?

  init(_ path: String, key: [UInt8]?) throws {
    (self.path, self.key) = (path, key)
    database = try FileOptions.open(path, key: key)
  }

  func close() {
    transaction?.cancel()
    // A snapshot that is held keeps the file open.
    (transaction, current) = (nil, nil)
    database.close()
  }

  /// Ends a run. If a transaction is open, it is cancelled, and the exit code is 2.
  func end() throws {
    guard let transaction else { return }
    transaction.cancel()
    self.transaction = nil
    Output.complain("The open transaction was cancelled: end it by `commit` to keep it.")
    throw ExitCode(2)
  }

  /// The words that the tab key completes.
  func words() throws -> [String] {
    Self.commands + (try tables().flatMap { [$0.schema.name] + $0.schema.properties.map(\.name) })
  }

  /// Runs a command.
  ///
  /// - Returns: whether more commands are wanted.
  func run(_ line: String) throws -> Bool {
    var parts = ShellLine(line)
    guard !parts.isEmpty, parts.rest.first != "#" else { return true }
    let whole = String(parts.rest)
    let command = parts.word()
    // If a table has the name of a command, its name must be in quotation marks in a query.
    switch command {
    case "quit", "exit", "help", "tables", "refresh", "begin", "commit", "cancel":
      try parts.end()
      return try runWord(command)
    case "schema": try showSchema(parts.isEmpty ? nil : parts.name("The name of a table"))
    case "count": try Output.line("\(search(String(parts.rest)).1.count())")
    case "explain": try Output.line(Wording.shown(search(String(parts.rest)).1.explain()))
    case "show": try show(&parts)
    case "create": try create(&parts)
    case "set": try set(&parts)
    case "delete": try delete(&parts)
    default:
      let (table, found) = try search(whole)
      try QueryTable(table.schema).print(try found.rows(), of: table)
    }
    return true
  }

  /// Runs a command of one word.
  ///
  /// - Returns: whether more commands are wanted.
  private func runWord(_ command: String) throws -> Bool {
    switch command {
    case "help": try Output.line(ShellHelp.text)
    case "tables": try showTables()
    case "refresh": try refresh()
    case "begin": try begin()
    case "commit": try commit()
    case "cancel": try cancel()
    default: return false
    }
    return true
  }

  // MARK: - Reading

  /// The tables of the open transaction, or of the version that is read.
  private func tables() throws -> [Table] {
    guard let transaction else { return try snapshot().tables() }
    return try transaction.schemas().compactMap { try transaction.table($0.name)?.reading() }
  }

  /// The snapshot of the version that is read.
  private func snapshot() throws -> Snapshot {
    if let current { return current }
    let newest = try database.snapshot()
    current = newest
    return newest
  }

  private func search(_ query: String) throws -> (Table, RowSearch) {
    try QueryRequest(query).search(tables(), in: path)
  }

  private func showTables() throws {
    for table in try tables() {
      let kind = table.schema.isEmbedded ? "embedded table" : "table"
      try Output.line("\(kind) \(JSON.shown(table.schema.name)): \(Wording.count(table.count, "row"))")
    }
  }

  private func showSchema(_ name: String?) throws {
    let all = try tables()
    let names = TableNames(all.map(\.schema))
    for table in try name.map({ [try all.named($0, in: path)] }) ?? all {
      try Output.line(JSON.shown(table.schema.name))
      for line in names.lines(table.schema) { try Output.line("  \(line)") }
    }
  }

  private func refresh() throws {
    guard transaction == nil else { throw ShellProblem("A transaction is open: commit or cancel it first.") }
    current = nil
    try Output.line("version \(snapshot().version)")
  }

  private func show(_ parts: inout ShellLine) throws {
    let all = try tables()
    let table = try all.named(parts.name("The name of a table"), in: path)
    let row = try row(&parts, of: table.schema) {
      try table.row(withPrimaryKey: $0)
    } contains: {
      try table.contains($0)
    }
    try parts.end()
    var line = JSONWriter()
    try ObjectWriter(all).write(table.values(ofRow: row), of: table.schema, to: &line)
    try Output.line(line.bytes)
  }

  /// The key of the row that a primary key in JSON or a row key behind `#` names.
  private func row(
    _ parts: inout ShellLine, of schema: TableSchema, find: (Value) throws -> UInt64?,
    contains: (UInt64) throws -> Bool
  ) throws -> UInt64 {
    if let key = try parts.rowKey() {
      guard try contains(key) else { throw ShellProblem("There is no row #\(key) in \(schema.name).") }
      return key
    }
    guard let column = schema.primaryKey else {
      throw ShellProblem(
        "\(schema.name) has no primary key: name the row by its key, as #5. A query shows it.")
    }
    let node = try parts.json("The primary key")
    let value: Value
    do throws(ValueReader.Problem) {
      value = node.isNull ? .null : try ValueReader.plain(node, column.type)
    } catch {
      throw ShellProblem("The primary key \(error.value) \(error.reason)")
    }
    guard let row = try find(value) else { throw ShellProblem("There is no \(schema.name) \(node.shown).") }
    return row
  }

  // MARK: - Writing

  private func begin() throws {
    guard transaction == nil else { throw ShellProblem("A transaction is open already.") }
    if !canWrite {
      // The reading database is closed before the file is opened for writing. A database that has made files beside the
      // realm file removes them when it is closed, and the last database that is closed marks the file as cleanly
      // closed.
      current = nil
      database.close()
      do {
        database = try FileOptions.openToWrite(path, key: key, for: "the shell")
      } catch {
        database = try FileOptions.open(path, key: key)
        throw error
      }
      canWrite = true
    }
    transaction = try database.beginWrite()
  }

  private func opened() throws(ShellProblem) -> WriteTransaction {
    guard let transaction else { throw ShellProblem("No transaction is open: begin one first.") }
    return transaction
  }

  private func commit() throws {
    let open = try opened()
    defer { transaction = nil }
    let version = try open.commit()
    current = nil
    try Output.telling("The transaction is committed.") { try Output.line("version \(version)") }
  }

  private func cancel() throws {
    try opened().cancel()
    transaction = nil
  }

  private func table(_ name: String, _ transaction: WriteTransaction) throws -> WritableTable {
    guard let table = try transaction.table(name) else {
      let names = try transaction.schemas().map(\.name)
      throw ShellProblem(
        "There is no table '\(name)'. The tables there are: \(names.isEmpty ? "none" : names.joined(separator: ", "))."
      )
    }
    return table
  }

  private func create(_ parts: inout ShellLine) throws {
    let transaction = try opened()
    let schema = try table(parts.name("The name of a table"), transaction).schema
    guard !schema.isEmbedded else {
      throw ShellProblem(
        "\(schema.name) is of embedded objects: write one as a part of the object that it belongs to.")
    }
    let (draft, inserter) = try draft(&parts, of: schema, transaction)
    do { try inserter.insert(draft) } catch let problem as InputProblem { throw Self.problem(problem) }
  }

  private func set(_ parts: inout ShellLine) throws {
    let transaction = try opened()
    let table = try table(parts.name("The name of a table"), transaction)
    let row = try row(&parts, of: table.schema) {
      try table.row(withPrimaryKey: $0)
    } contains: {
      try table.contains($0)
    }
    let (draft, inserter) = try draft(&parts, of: table.schema, transaction)
    do throws(StorageError) {
      // Only a primary key can be refused, if another object has it. It is set first, so that nothing else is changed
      // then.
      for cell in draft.cells where table.schema.columns[cell.column].index == .unique {
        if case .value(let value) = cell.value { try table.set(value, cell.column, ofRow: row) }
      }
    } catch {
      guard case .duplicateKey = error else { throw error }
      throw ShellProblem("Another object of \(table.schema.name) has that primary key.")
    }
    try inserter.change(row, with: draft)
  }

  /// Reads an object from the rest of the line. Returns its draft, and the inserter that writes it.
  private func draft(
    _ parts: inout ShellLine, of schema: TableSchema, _ transaction: WriteTransaction
  ) throws -> (ObjectDraft, ObjectInserter) {
    let node = try parts.json("The object")
    try parts.end()
    let tables = ImportTables(try transaction.schemas())
    let inserter = ObjectInserter(transaction, tables, duplicates: .areProblems, keysAreRows: true)
    let cells: [ObjectDraft.Cell]
    do throws(ValueReader.Problem) {
      cells = try ValueReader(tables, knowsKeys: true).cells(of: node, schema) {
        InputPlace(line: 1, column: $0 + 1)
      }
    } catch {
      throw ShellProblem(
        [error.property, error.value, error.reason].compactMap { $0 }.joined(separator: " "))
    }
    let draft = ObjectDraft(
      table: schema.id, cells: cells, place: InputPlace(line: 1, column: 1))
    if let link = try inserter.missingLink(in: draft) { throw ShellProblem("\(link.shown) is not there.") }
    return (draft, inserter)
  }

  private static func problem(_ problem: InputProblem) -> ShellProblem {
    ShellProblem([problem.property, problem.value, problem.reason].compactMap { $0 }.joined(separator: " "))
  }

  /// Deletes an object by its key, or all objects that a query finds.
  private func delete(_ parts: inout ShellLine) throws {
    let transaction = try opened()
    let query = String(parts.rest)
    let name = try parts.name("The name of a table")
    let table = try table(name, transaction)
    guard !parts.isEmpty else {
      throw ShellProblem("It would delete all objects: `delete \(name) WHERE TRUEPREDICATE` does.")
    }
    var word = parts
    if ["where", "sort", "distinct", "limit"].contains(Self.letters(word.word())) {
      let rows = try search(query).1.rows()
      try Output.line("\(try table.remove(rows)) deleted")
      return
    }
    let row = try row(&parts, of: table.schema) {
      try table.row(withPrimaryKey: $0)
    } contains: {
      try table.contains($0)
    }
    try parts.end()
    try table.remove(row)
  }

  private static func letters(_ word: String) -> String { word.prefix { $0.isLetter }.lowercased() }
}
