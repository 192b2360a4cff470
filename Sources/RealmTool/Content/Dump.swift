import ArgumentParser
import Foundation
import RealmInterchange
import RealmStorage

struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the content: a line for each row of each table, and for each entry of each named tree.",
    discussion: """
      Without --json the lines are for people: names and values, data cut short.

      With --json each line is a JSON object, and nothing is lost: the lines are enough to build the content anew. \
      First a line for each table,
        {"table": name, "embedded": bool,
         "columns": [{"name", "type", "optional", "collection",
                      "index", "target"}]},
      then one for each row, its values in the order of the columns,
        {"table": name, "key": number, "values": [...]},
      then one for each entry of a named tree,
        {"tree": name, "key": bytes, "value": bytes}.

      A value that JSON can't hold exactly is written as an object with one member:
        {"$int": "9007199254740993"}    an integer beyond 2^53
        {"$double": "-0.0"}, "$float"   -0.0, Infinity, -Infinity,
                                        NaN: and its bits
        {"$data": "AP8="}               bytes in base64; those of trees
                                        only where they are no text
        {"$date": [seconds, nanos]}     since 1970
        {"$objectID": "…"}, {"$decimal128": "…"}  bytes, hexadecimal
        {"$uuid": "…"}, {"$link": key}
        {"$map": [[key, value]]}        in columns of mixed values
        {"$lost": true}                 a value that can't be read,
                                        with --keep-going only

      At damage a dump stops with exit code 1, after the lines it has written. With --keep-going it leaves out what can't \
      be read and goes on behind it; the exit code is 1 where anything was left out. Standard error tells what that is: of \
      which table or tree, how much, and the node that is damaged. With --json so does a last line, which is there in any \
      case:
        {"lost": [{"what", "count", "table", "tree", "column",
                   "from", "below", "node", "offset", "length",
                   "birth", "finding"}]}
      docs/dump-format.md says it in full, and how to build a file from it.
      """)

  @OptionGroup var options: FileOptions

  @Option(help: "Only the table of this name.")
  var table: String?

  @Option(help: "Only the tree of this name.")
  var tree: String?

  @Flag(help: "JSON Lines.")
  var json = false

  @Flag(
    help:
      "What a synced file has recorded and no server has acknowledged, a line for each instruction; for people."
  )
  var changelog = false

  @Option(help: "At most so many rows of each table, and entries of each tree.")
  var limit: Int?

  @Flag(help: "Goes on behind damage, and tells at the end what was left out.")
  var keepGoing = false

  @Flag(
    help:
      "Objects instead of rows: embedded objects stand in their owner, links are primary keys. With --json it is what `realm export` writes."
  )
  var nested = false

  func validate() throws {
    if nested, keepGoing || changelog {
      throw ValidationError("--nested goes with neither --keep-going nor --changelog.")
    }
    if let limit, limit < 0 { throw ValidationError("--limit takes a number from 0 on, not \(limit).") }
    if changelog, json || keepGoing || table != nil || tree != nil {
      throw ValidationError("--changelog goes with --limit only.")
    }
  }

  func run() throws {
    if keepGoing { return try dumpWhatIsWhole() }
    let snapshot = try options.open().snapshot()
    if changelog { return try dumpChangelog(snapshot) }
    let all = try snapshot.tables()
    let tables = try chosen(all, table, "table") { $0.schema.name }
    let trees = try chosen(snapshot.treeNames(), tree, "tree") { $0 }
    let work = DumpWork(limit: limit)
    for table in tables { work.add(UInt64(table.count)) }
    for tree in trees { work.add(UInt64(try snapshot.tree(tree).count())) }
    // The bar is also removed if reading fails, because the message about the error goes to the same terminal.
    defer { work.finish() }
    if nested { return try dumpObjects(snapshot, tables, trees, work) }
    let names = TableNames(all.map(\.schema))
    if json { for table in tables { try Output.line(names.json(table.schema)) } }
    for table in tables { try dump(table, names, work) }
    for tree in trees { try dump(snapshot.tree(tree), named: tree, work) }
  }

  /// The parts that the options choose: all parts, unless a table or a tree is named.
  ///
  /// - Parameter isComplete: whether `all` has all parts of the file. If damage may hide some of them, a name that is
  ///   missing is not an error.
  func chosen<Part>(
    _ all: [Part], _ name: String?, _ what: String, isComplete: Bool = true, _ nameOf: (Part) -> String
  ) throws -> [Part] {
    guard table != nil || tree != nil else { return all }
    guard let name else { return [] }
    // Names differ if their bytes differ, even if the texts are equivalent.
    let chosen = all.filter { name.utf8.elementsEqual(nameOf($0).utf8) }
    guard chosen.isEmpty, isComplete else { return chosen }
    let found = all.isEmpty ? "none" : all.map(nameOf).joined(separator: ", ")
    throw ValidationError(
      "There is no \(what) '\(name)' in \(options.file). The \(what)s there are: \(found).")
  }

  private func dumpObjects(_ snapshot: Snapshot, _ tables: [Table], _ trees: [String], _ work: DumpWork)
    throws
  {
    let lines = try ObjectLines(snapshot)
    if json { for line in try lines.head() { try Output.line(line) } }
    if table != nil, let named = tables.first, named.schema.isEmbedded {
      throw ValidationError(
        "\(named.schema.name) has embedded objects, which stand in the objects that they belong to: leave out --nested."
      )
    }
    for table in tables where !table.schema.isEmbedded && work.begin() {
      if json {
        try lines.forEachObject(of: table) { work.put($0) }
      } else {
        try lines.forEachText(of: table) { work.put($0) }
      }
      try work.end()
    }
    for tree in trees where !Export.syncTrees.contains(tree) {
      try dump(snapshot.tree(tree), named: tree, work)
    }
  }

  private func dump(_ table: Table, _ names: TableNames, _ work: DumpWork) throws {
    guard work.begin() else { return }
    let line = RowLine(table.schema, names, json: json)
    try table.forEach { key, values in work.put { line.write(key, values, to: &$0) } }
    try work.end()
  }

  private func dump(_ tree: Tree, named name: String, _ work: DumpWork) throws {
    guard work.begin() else { return }
    let line = EntryLine(tree: name, json: json)
    try tree.forEach { key, value in work.put { line.write(key, value, to: &$0) } }
    try work.end()
  }
}

/// Writes the lines of a dump, and shows the progress.
final class DumpWork {
  private let bar = ProgressBar(prints: true)
  private let limit: Int
  private var done: UInt64 = 0
  private var total: UInt64 = 0
  /// The number of lines that the current table or tree may still have.
  private var left = 0
  /// The error of the line that could not be written.
  private var failure: OutputError?
  private var line = JSONWriter()

  init(limit: Int?) { self.limit = limit ?? .max }

  /// Adds the number of lines of a table or tree to the total. The table or tree may have fewer lines if it is damaged.
  func add(_ count: UInt64) {
    let (sum, overflow) = total.addingReportingOverflow(min(count, UInt64(limit)))
    total = overflow ? .max : sum
  }

  /// Begins a table or tree.
  ///
  /// - Returns: whether it may have any lines.
  func begin() -> Bool {
    left = limit
    return left > 0
  }

  /// Writes the line that `write` appends.
  ///
  /// - Returns: whether more lines of the table or tree are wanted.
  func put(_ write: (inout JSONWriter) -> Void) -> Bool {
    line.clear()
    write(&line)
    return put(line.bytes)
  }

  /// Writes a line.
  ///
  /// - Returns: whether more lines of the table or tree are wanted.
  func put(_ line: [UInt8]) -> Bool {
    do { try Output.line(line) } catch {
      failure = error
      return false
    }
    done += 1
    if done % 256 == 0 { bar.show(Double(done) / Double(max(total, 1))) }
    left -= 1
    return left > 0
  }

  func end() throws(OutputError) {
    if let failure { throw failure }
  }

  func finish() { bar.finish() }
}
