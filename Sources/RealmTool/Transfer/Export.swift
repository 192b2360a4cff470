import ArgumentParser
import Foundation
import RealmInterchange
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes objects as JSON Lines or CSV, or to a SQLite file.",
    discussion: """
      JSON Lines hold all that the file does, its tables and its named trees, so that `realm import` makes an equal file of them. Embedded objects stand \
      in their owner, and links are primary keys. With --table or --query each line is an object and nothing else.

      CSV has a line of names, and a line for each object. Without --table or --query TARGET is a folder that is made, with a file for each \
      table of objects. Null is empty and an empty text is two quotation marks; dates are ISO 8601, data is base64; lists, maps and embedded objects are \
      JSON.

      A SQLite file gets a table for each table, with the key of each row as "_key"; links are such keys, and each list, set and map has a table of its \
      own, "Table.property". SQLite's library is loaded for that; install it where it is missing (Debian, Ubuntu: libsqlite3-0).

      TARGET appears when it is complete, or not at all. docs/dump-format.md describes the lines.
        realm export app.realm app.jsonl
        realm export app.realm --format csv --table Person > people.csv
        realm export app.realm --format csv --query 'Person WHERE age > 30'
        realm export app.realm app.sqlite
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonLines = "json-lines"
    case csv
    case sqlite

    /// The format that the ending of a path stands for; nil if it stands for none.
    init?(path: String) {
      switch URL(filePath: path).pathExtension.lowercased() {
      case "jsonl", "ndjson", "json": self = .jsonLines
      case "csv", "tsv": self = .csv
      case "sqlite", "sqlite3", "db": self = .sqlite
      default: return nil
      }
    }
  }

  /// The trees with the state of device sync, which means nothing in another file.
  static let syncTrees: Set = [ClientPosition.tree, MergeRecords.treeName, ServerStore.name]

  @OptionGroup var options: FileOptions

  @Argument(
    help: "The file or folder to make; there must be none yet. Without it, standard output.",
    completion: .file())
  var target: String?

  @Option(
    help: "json-lines, csv or sqlite. Without it the ending of TARGET tells, and else it is json-lines.")
  var format: Format?

  @Option(help: "Only the objects of the table of this name.")
  var table: String?

  @Option(help: "Only the objects that a query finds, as `realm query` takes it.")
  var query: String?

  @Option(
    help:
      "What stands between the fields of CSV: one character, or tab. Without it a tab if TARGET ends in .tsv, else a comma."
  )
  var delimiter: Delimiter?

  func validate() throws {
    if table != nil, query != nil { throw ValidationError("--table and --query exclude each other.") }
    if chosenFormat == .sqlite {
      guard path != nil else { throw ValidationError("A SQLite file needs a TARGET to be written to.") }
      if table != nil || query != nil {
        throw ValidationError("A SQLite file gets all tables: leave out --table and --query.")
      }
    }
    if chosenFormat == .csv, path == nil, table == nil, query == nil {
      throw ValidationError(
        "CSV has one table: name it by --table, or give a folder that gets a file for each.")
    }
  }

  /// The path of the output; nil for standard output.
  private var path: String? { target == "-" ? nil : target }

  private var chosenFormat: Format { format ?? target.flatMap(Format.init(path:)) ?? .jsonLines }

  func run() throws {
    Interruption.note()
    let snapshot = try options.open().snapshot()
    let trees = try snapshot.treeNames().filter { !Self.syncTrees.contains($0) }
    switch chosenFormat {
    case .sqlite:
      try TargetFile.making(target ?? "") {
        try SQLiteExport.write(snapshot, trees: trees, to: $0, shownAs: target) { Interruption.isWanted }
      }
    case .jsonLines:
      try TargetFile.writing(path) { try writeJSONLines(snapshot, trees, $0) }
    case .csv:
      if let part = try chosenPart(snapshot) {
        try TargetFile.writing(path) { try writeCSV(part.table, part.rows, snapshot, $0) }
      } else {
        try TargetFile.makingFolder(target ?? "") { try writeFolder(snapshot, $0) }
      }
    }
  }

  /// The table that --table or --query chooses, with the rows to write. The result is nil if neither option is given,
  /// and the rows are nil if all rows are written.
  private func chosenPart(_ snapshot: Snapshot) throws -> (table: Table, rows: [UInt64]?)? {
    if let query {
      let (table, search) = try QueryRequest(query).search(snapshot.tables(), in: options.file)
      return (table, try search.rows())
    }
    guard let table else { return nil }
    return (try snapshot.tables().named(table, in: options.file), nil)
  }

  // MARK: - JSON Lines

  private func writeJSONLines(_ snapshot: Snapshot, _ trees: [String], _ output: LineOutput) throws {
    let lines = try ObjectLines(snapshot)
    if let (table, rows) = try chosenPart(snapshot) {
      try lines.forEachPlainObject(of: table, rows: rows) { output.put($0) }
      return try output.end()
    }
    for line in try lines.head() { _ = output.put(Array(line.utf8)) }
    for table in try snapshot.tables() where !table.schema.isEmbedded {
      try lines.forEachObject(of: table) { output.put($0) }
    }
    for tree in trees {
      let line = EntryLine(tree: tree, json: true)
      var text = JSONWriter()
      try snapshot.tree(tree).forEach { key, value in
        text.clear()
        line.write(key, value, to: &text)
        return output.put(text.bytes)
      }
    }
    try output.end()
  }

  // MARK: - CSV

  private func writeCSV(_ table: Table, _ rows: [UInt64]?, _ snapshot: Snapshot, _ output: LineOutput) throws
  {
    let columns = table.schema.columns.enumerated().filter { !$0.element.isCompanion }
    let mark = (delimiter ?? Delimiter(path: target ?? "")).byte
    let separator = String(decoding: [mark], as: UTF8.self)
    let head = columns.map { CSVField.quoted($0.element.name, delimiter: mark) }.joined(separator: separator)
    guard output.put(Array(head.utf8)) else { return try output.end() }
    let writer = try ObjectWriter(snapshot)
    func line(_ values: [Value]) throws -> [UInt8] {
      let fields = try columns.map { try writer.field(values[$0.offset], of: $0.element, delimiter: mark) }
      return Array(fields.joined(separator: separator).utf8)
    }
    if let rows {
      for row in rows {
        guard output.put(try line(table.values(ofRow: row))) else { break }
      }
      return try output.end()
    }
    var failure: (any Error)?
    try table.forEach { _, values in
      do { return output.put(try line(values)) } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    try output.end()
  }

  private func writeFolder(_ snapshot: Snapshot, _ folder: String) throws {
    var taken: Set<String> = []
    for table in try snapshot.tables() where !table.schema.isEmbedded {
      let name = TargetFile.safeName(table.schema.name, &taken)
      try TargetFile.writing("\(folder)/\(name).csv") { try writeCSV(table, nil, snapshot, $0) }
    }
  }
}

/// The character between the fields of CSV.
struct Delimiter: ExpressibleByArgument {
  let byte: UInt8

  /// The delimiter that the ending of a path stands for: a tab for `.tsv`, otherwise a comma.
  init(path: String) {
    byte = URL(filePath: path).pathExtension.lowercased() == "tsv" ? 0x09 : UInt8(ascii: ",")
  }

  init?(argument: String) {
    if argument == "tab" || argument == "\\t" {
      byte = 0x09
      return
    }
    let bytes = Array(argument.utf8)
    guard bytes.count == 1, bytes[0] < 0x80, ![0x22, 0x0a, 0x0d].contains(bytes[0]) else { return nil }
    byte = bytes[0]
  }
}
