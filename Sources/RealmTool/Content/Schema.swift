import ArgumentParser
import RealmInterchange
import RealmStorage

struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists what the file holds: tables with their columns, and named trees.",
    discussion: """
      With --json it is one object: "tables", each as `realm dump --json` writes it and with its count of rows, \
      and "trees", each with its name and count of entries.

      With --swift it is the source of the classes with which a program opens the file. Whole numbers are Int; an enumeration is what it is stored as.

      With --diff it is how the tables of two files, or of FILE@NAME for a version that a file keeps under a name, differ: lines as `realm diff` writes \
      them. Both files have the same key. It exits with 0 where they do not differ, and with 1 where they do.
      """)

  @OptionGroup var options: FileOptions

  @Argument(help: "With --diff: the newer file, or FILE@NAME.")
  var newer: String?

  @Flag(help: "One JSON object; with --diff JSON Lines.")
  var json = false

  @Flag(help: "The source of Swift classes.")
  var swift = false

  @Flag(help: "How the tables of a second file differ.")
  var diff = false

  func validate() throws {
    if diff != (newer != nil) { throw ValidationError("--diff takes two files, the older one first.") }
    if swift, diff || json { throw ValidationError("--swift goes with neither --diff nor --json.") }
  }

  func run() throws {
    if let newer { return try compare(with: newer) }
    if swift {
      for line in SwiftClasses(try options.open().snapshot().schemas()).lines { try Output.line(line) }
      return
    }
    let snapshot = try options.open().snapshot()
    let tables = try snapshot.tables()
    let names = TableNames(tables.map(\.schema))
    let trees = try snapshot.treeNames().map { (name: $0, entries: try snapshot.tree($0).count()) }
    if json {
      try Output.line(
        JSON.object([
          ("tables", JSON.array(tables.map { names.json($0.schema, rows: $0.count) })),
          (
            "trees",
            JSON.array(
              trees.map { JSON.object([("tree", JSON.string($0.name)), ("entries", "\($0.entries)")]) })
          ),
        ]))
      return
    }
    for table in tables {
      let kind = table.schema.isEmbedded ? "embedded table" : "table"
      try Output.line("\(kind) \(JSON.shown(table.schema.name)): \(Wording.count(table.count, "row"))")
      for line in names.lines(table.schema) { try Output.line("  \(line)") }
    }
    for tree in trees { try Output.line("tree \(JSON.shown(tree.name)): \(tree.entries) entries") }
  }
}

extension Schema {
  private func compare(with newer: String) throws {
    let key = try options.key()
    let older = try DiffSide(options.file).open(key: key)
    let newer = try DiffSide(newer).open(key: key)
    let names = (TableNames(try older.schemas()), TableNames(try newer.schemas()))
    let report = DiffReport(names.0, names.1, json: json, isBrief: false, isSilent: false)
    for difference in try DatabaseComparison(from: older, to: newer).schemaDifferences {
      try report.tell(difference)
    }
    if !report.isEqual { throw ExitCode(1) }
  }
}

extension TableNames {
  /// A line for each column of a table.
  func lines(_ schema: TableSchema) -> [String] {
    let titles = schema.properties.map { JSON.shown($0.name) }
    let width = titles.map(\.count).max() ?? 0
    return zip(titles, schema.properties).map { title, column in
      title + String(repeating: " ", count: width - title.count + 2) + words(column)
    }
  }

  /// A description of the values of a column.
  func words(_ column: Column) -> String {
    var words: [String] = []
    if column.isCollection { words.append("\(column.collection.name) of") }
    // Links and values of any type are not marked as optional: for them it follows from the type, and the word would
    // not help.
    if column.isOptional, column.type != .link, column.type != .mixed { words.append("optional") }
    words.append(column.type.name)
    if column.type == .link {
      words.append("to \(self[column.target].map(JSON.shown) ?? "a table that is not there")")
    }
    let index = column.index == .none ? "" : ", \(column.index.name)"
    let stored = column.storedDefault.map { ", default \($0.text)" } ?? ""
    return words.joined(separator: " ") + index + stored
  }
}
