import ArgumentParser
import Foundation
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

      What JSON can't hold exactly is an object of one member:
        {"$int": "9007199254740993"}    an integer beyond 2^53
        {"$double": "-0.0"}, "$float"   -0.0, Infinity, -Infinity,
                                        NaN: and its bits
        {"$data": "AP8="}               bytes in base64; those of trees
                                        only where they are no text
        {"$date": [seconds, nanos]}     since 1970
        {"$objectID": "…"}, {"$decimal128": "…"}  bytes, hexadecimal
        {"$uuid": "…"}, {"$link": key}
        {"$map": [[key, value]]}        in columns of mixed values
      docs/dump-format.md says it in full, and how to build a file from it.
      """)

  @OptionGroup var options: FileOptions

  @Option(help: "Only the table of this name.")
  var table: String?

  @Option(help: "Only the tree of this name.")
  var tree: String?

  @Flag(help: "JSON Lines.")
  var json = false

  @Option(help: "At most so many rows of each table, and entries of each tree.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit takes a number from 0 on, not \(limit).") }
  }

  func run() throws {
    let snapshot = try options.open().snapshot()
    let all = try snapshot.tables()
    let (tables, trees) = try chosen(all, snapshot.treeNames())
    var work = Work(bar: ProgressBar(prints: true), limit: limit ?? .max)
    for table in tables { work.total += UInt64(min(table.count, work.limit)) }
    for tree in trees { work.total += UInt64(min(try snapshot.tree(tree).count(), work.limit)) }
    // Also where reading ends in an error, which is said on the same terminal.
    defer { work.bar.finish() }
    let names = TableNames(all.map(\.schema))
    if json { for table in tables { print(names.json(table.schema)) } }
    for table in tables { try dump(table, names, &work) }
    for tree in trees { try dump(snapshot.tree(tree), named: tree, &work) }
  }

  /// How far it is.
  private struct Work {
    let bar: ProgressBar
    let limit: Int
    var done: UInt64 = 0
    var total: UInt64 = 0

    mutating func advance() {
      done += 1
      if done % 256 == 0 { bar.show(Double(done) / Double(max(total, 1))) }
    }
  }

  /// What is asked for: all, unless a table or a tree is named.
  private func chosen(_ tables: [Table], _ trees: [String]) throws -> (tables: [Table], trees: [String]) {
    guard table != nil || tree != nil else { return (tables, trees) }
    // Names differ when their bytes do, also where the texts are equivalent.
    let chosenTables = tables.filter { table?.utf8.elementsEqual($0.schema.name.utf8) ?? false }
    if let table, chosenTables.isEmpty {
      throw Self.missing("table", table, of: tables.map(\.schema.name), in: options.file)
    }
    let chosenTrees = trees.filter { tree?.utf8.elementsEqual($0.utf8) ?? false }
    if let tree, chosenTrees.isEmpty { throw Self.missing("tree", tree, of: trees, in: options.file) }
    return (chosenTables, chosenTrees)
  }

  private static func missing(_ what: String, _ name: String, of names: [String], in file: String)
    -> ValidationError
  {
    let found = names.isEmpty ? "none" : names.joined(separator: ", ")
    return ValidationError("There is no \(what) '\(name)' in \(file). The \(what)s there are: \(found).")
  }

  // MARK: - Lines

  private func dump(_ table: Table, _ names: TableNames, _ work: inout Work) throws {
    guard work.limit > 0 else { return }
    let (name, columns) = (table.schema.name, table.schema.columns)
    let quoted = JSON.string(name)
    var left = work.limit
    try table.forEach { key, values in
      if json {
        let list = JSON.array(zip(columns, values).map { $1.json(of: $0, names) })
        print(JSON.object([("table", quoted), ("key", JSON.integer(key)), ("values", list)]))
      } else {
        let cells = zip(columns, values).map { "\($0.name)=\($1.text)" }
        print((["\(name)", "\(key)"] + cells).joined(separator: "\t"))
      }
      work.advance()
      left -= 1
      return left > 0
    }
  }

  private func dump(_ tree: Tree, named name: String, _ work: inout Work) throws {
    guard work.limit > 0 else { return }
    var left = work.limit
    try tree.forEach { key, value in
      print(json ? Self.jsonLine(name, key, value) : "\(name)\t\(Self.text(key))\t\(Self.text(value))")
      work.advance()
      left -= 1
      return left > 0
    }
  }

  private static func jsonLine(_ tree: String, _ key: [UInt8], _ value: [UInt8]) -> String {
    JSON.object([("tree", JSON.string(tree)), ("key", json(key)), ("value", json(value))])
  }

  private static func json(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return JSON.string(text) }
    return JSON.tagged("$data", Data(bytes).base64EncodedString())
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self)?.replacingOccurrences(of: "\n", with: "\\n")
      ?? "base64:\(Data(bytes).base64EncodedString())"
  }
}
