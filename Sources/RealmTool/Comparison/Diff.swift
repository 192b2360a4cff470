import ArgumentParser
import RealmInterchange
import RealmStorage

struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Tells how the objects of two files differ. Exits with 0 when they are equal, with 1 when they are not.",
    discussion: """
      OLD and NEW are files, or FILE@NAME for a version that a file keeps under a name.

      Tables are paired by their names, and columns by theirs. Objects of two files are paired by the primary key, where the \
      table has the same one in both. Without one they are paired by their rows where the files have one file id, since then one \
      is a copy or an earlier state of the other; else an object is what it holds, and one that was changed is told as removed \
      and added. Of two versions of one file an object is the same as long as its row is, or one that was made again with its \
      primary key. Links are compared by the primary key that they lead to, or by the row where there is none. Embedded \
      objects are compared as part of the object that they belong to. Indexes count only as primary keys.

      The lines for people: how the schemas differ, then + for objects that were added, - for those that were removed, ~ for those \
      that were changed, with what was, an arrow and what is; of collections how many elements came, went, and of maps changed. \
      A line for each table ends it.

      With --json each line is a JSON object; values are as `realm dump --json` writes them:
        {"schema": change, "table": name, "column": name,
         "old": column, "new": column}
        {"table": name, "change": "added" | "removed" | "changed",
         "primaryKey": value,      or "key": number of the row
         "values": [{"column", "old", "new"}]}
        {"tree": name, "change", "key": bytes, "old", "new"}
        {"equal": bool, "tables": [{"table", "added", "removed",
                                    "changed"}], "trees": [...]}
      Links are {"$object": [table, primary key]} or {"$link": [table, key]}, embedded objects {"$embedded": [[column, value]]}.

      Exit codes: 0 equal, 1 different, 2 wrong usage, 3 a file can't be opened, 4 the output can't be written, 5 damage kept it \
      from comparing all; what was found before that is told.
      """)

  @Argument(help: "The older file, or FILE@NAME.")
  var old: String

  @Argument(help: "The newer file, or FILE@NAME.")
  var new: String

  @Option(
    help:
      "A file with the key of both files: 64 raw bytes or 128 hexadecimal digits. Or set REALM_KEY to the digits."
  )
  var keyFile: String?

  @Option(help: "A file with the key of the older file, where it has another one.")
  var oldKeyFile: String?

  @Option(help: "A file with the key of the newer file, where it has another one.")
  var newKeyFile: String?

  @Option(help: "Only the table of this name; may be given several times. Named trees are left out then.")
  var table: [String] = []

  @Flag(help: "JSON Lines.")
  var json = false

  @Flag(help: "Only how many objects differ in each table.")
  var summary = false

  @Flag(name: .shortAndLong, help: "No output: the exit code tells. Stops at the first difference.")
  var quiet = false

  func validate() throws {
    if quiet, json || summary { throw ValidationError("--quiet goes with neither --json nor --summary.") }
  }

  func run() throws {
    do {
      guard try compare() else { throw ExitCode(1) }
    } catch let error as StorageError where FileOptions.isDamage(error) {
      Output.complain("Damage kept the files from being compared: \(error)")
      throw ExitCode(5)
    }
  }

  /// Compares the two sides, and writes the differences.
  ///
  /// - Returns: whether the two sides are equal.
  private func compare() throws -> Bool {
    let older = try DiffSide(old).open(key: key(oldKeyFile))
    let newer = try DiffSide(new).open(key: key(newKeyFile))
    let schemas = (try older.schemas(), try newer.schemas())
    try expectTables(schemas.0 + schemas.1)
    let comparison = try DatabaseComparison(from: older, to: newer, tables: table.isEmpty ? nil : table)
    let names = (TableNames(schemas.0), TableNames(schemas.1))
    let report = DiffReport(names.0, names.1, json: json, isBrief: summary, isSilent: quiet)
    for difference in comparison.schemaDifferences { try report.tell(difference) }
    if report.wantsMore {
      try comparison.forEachRow(tellsValues: !summary && !quiet) { report.tell($0) }
      if report.wantsMore { try comparison.forEachTreeEntry { report.tell($0) } }
    }
    try report.finish()
    return report.isEqual
  }

  private func key(_ ownFile: String?) throws -> [UInt8]? {
    try (ownFile ?? keyFile).map { try FileOptions.key(inFile: $0) } ?? FileOptions.keyOfEnvironment()
  }

  private func expectTables(_ schemas: [TableSchema]) throws {
    for name in table {
      guard let schema = schemas.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
        let found = Set(schemas.filter { !$0.isEmbedded }.map(\.name)).sorted()
        throw ValidationError(
          "There is no table '\(name)' in \(old) or \(new). The tables there are: "
            + (found.isEmpty ? "none." : found.joined(separator: ", ") + "."))
      }
      guard !schema.isEmbedded else {
        throw ValidationError(
          "The objects of \(name) are embedded: they are compared as part of the objects that they belong to. "
            + "Name the tables of those.")
      }
    }
  }
}
