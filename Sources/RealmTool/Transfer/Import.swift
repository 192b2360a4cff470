import ArgumentParser
import Foundation
import RealmInterchange
import RealmStorage

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads objects from JSON Lines or CSV into a file, all of them or none.",
    discussion: """
      What `realm export` wrote of a whole file as JSON Lines makes its tables, objects and named trees anew; of tables that are there objects are added. Other \
      inputs have the objects of one table, which --table names: JSON Lines an object on each line, CSV the names of the properties in the first one.

      Where there is no such table yet, its columns are guessed from the whole input, and shown; they are used when you say so, or with --yes. To decide them \
      yourself, write the line that the guess begins with to a file, change it, and give it by --schema.

      The first line that is wrong ends the import with exit code 6, and nothing is changed; the line, the place in it, the property and the value are told. With \
      --skip-bad such lines are listed and left out, and the exit code is 1 where there are any. A new file appears when it is complete. Other writers of the file wait until the import has ended. A file \
      that is synced is not written to.
        realm import app.realm people.csv --table Person
        realm import new.realm app.jsonl
        realm export app.realm --table Dog | realm import other.realm - --format json-lines --table Dog
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonLines = "json-lines"
    case csv
  }

  @Argument(help: "The .realm file, which is made if there is none.", completion: .file())
  var file: String

  @Argument(help: "The file to read, or - for standard input.", completion: .file())
  var source: String

  @OptionGroup var keys: KeyOptions

  @Option(help: "json-lines or csv. Without it the ending of SOURCE tells.")
  var format: Format?

  @Option(help: "The table of the objects.")
  var table: String?

  @Option(
    help:
      "The property that is the primary key of a table that is made; without it `_id` or `id`, if it can be.")
  var primaryKey: String?

  @Option(
    help: "A file with lines as `realm dump --json` writes them of tables: what a table that is made has.")
  var schema: String?

  @Option(
    help:
      "What stands between the fields of CSV: one character, or tab. Without it a tab if SOURCE ends in .tsv, else a comma."
  )
  var delimiter: Delimiter?

  @Flag(help: "Uses what was guessed of a table without asking.")
  var yes = false

  @Flag(help: "Leaves out lines that are wrong, and lists them.")
  var skipBad = false

  @Flag(help: "Leaves out what the table has no property for.")
  var onlyKnown = false

  @Flag(help: "An object with the primary key of another one changes that, instead of being wrong.")
  var replace = false

  private var chosenFormat: Format? {
    format ?? Export.Format(path: source).flatMap { Format(rawValue: $0.rawValue) }
  }

  func validate() throws {
    guard chosenFormat != nil else {
      throw ValidationError(
        "The ending of \(source) tells no format: give --format json-lines or --format csv.")
    }
    if chosenFormat == .csv, table == nil {
      throw ValidationError("CSV has the objects of one table: name it by --table.")
    }
    if schema != nil, table == nil { throw ValidationError("--schema goes with --table.") }
    if schema != nil, primaryKey != nil {
      throw ValidationError("--schema tells the primary key: leave out --primary-key.")
    }
  }

  func run() throws {
    let report = ImportReport(source: source, skipsBad: skipBad)
    try report.telling {
      let isNew = !FileManager.default.fileExists(atPath: file)
      if !isNew { try FileOptions.requireFile(file) }
      // The guess comes before the transaction, because it may ask the user, and other writers must not wait for an
      // answer.
      let guessed = try guess(isNew: isNew)
      Interruption.note()
      if isNew {
        try importIntoNew(guessed, report)
      } else {
        let database = try FileOptions.openToWrite(file, key: try keys.key(), for: "`realm import`")
        defer { database.close() }
        try database.write { try fill($0, guessed, isNew: false, report) }
      }
    }
    try report.finish(file)
  }

  private func importIntoNew(_ guessed: TableSchema?, _ report: ImportReport) throws {
    var failure: (any Error)?
    do {
      try Database.make(at: file, like: file, options: .init(encryptionKey: try keys.key())) {
        (database) throws(StorageError) in
        do {
          try database.write { try fill($0, guessed, isNew: true, report) }
        } catch {
          failure = error
          // The error only tells `make` that the file must not appear.
          throw .closed(path: file)
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  // MARK: - What

  private func fill(
    _ transaction: WriteTransaction, _ guessed: TableSchema?, isNew: Bool, _ report: ImportReport
  ) throws {
    let duplicates: ObjectInserter.Duplicates = replace ? .replace : .areProblems
    if chosenFormat == .jsonLines, table == nil {
      let lines = JSONLinesImport(try input(), skipsUnknown: onlyKnown)
      guard let (head, _) = try lines.next() else { throw InterchangeError("\(source) is empty.") }
      guard WholeImport.isHead(head) else { throw notWhole(head) }
      let whole = WholeImport(
        lines, transaction, isNew: isNew, duplicates: duplicates, reservedTrees: Export.syncTrees)
      try whole.run(head, report.leaveOut)
      report.objects = whole.objects
      report.entries = whole.entries
      return
    }
    let name = table ?? ""
    let schema =
      try self.schema.map { try described(name, inFile: $0, transaction) }
      ?? transaction.table(name)?.schema ?? made(name, guessed, transaction)
    if let primaryKey, schema.primaryKey?.name != primaryKey {
      throw InterchangeError(
        "The table \(name) is there already, and its primary key is not \(primaryKey): leave out --primary-key."
      )
    }
    let objects = try TableImport(
      form, into: schema, transaction, skipsUnknown: onlyKnown, duplicates: duplicates)
    try objects.run(try input(), report.leaveOut)
    report.objects = objects.objects
  }

  private var form: TableImport.Form {
    chosenFormat == .csv ? .csv(delimiter: (delimiter ?? Delimiter(path: source)).byte) : .jsonLines
  }

  private func notWhole(_ head: JSONNode) -> InterchangeError {
    if head["columns"] != nil || head["values"] != nil {
      return InterchangeError(
        "\(source) is a dump, which has the keys of rows. `realm import` reads what `realm export` or `realm dump --nested --json` writes."
      )
    }
    return InterchangeError("\(source) has objects of one table: name it by --table.")
  }

  private func input() throws -> InputBytes {
    try InputBytes(path: source) { Interruption.isWanted }
  }

  /// Makes the table, with the columns that were guessed.
  private func made(
    _ name: String, _ guessed: TableSchema?, _ transaction: WriteTransaction
  ) throws -> TableSchema {
    guard let guessed else {
      throw InterchangeError("The table \(name) of \(file) was removed meanwhile: repeat the command.")
    }
    return try transaction.createTable(guessed).schema
  }

  /// The guessed schema of the table that --table names, after it was shown and confirmed; nil if no guess is needed.
  private func guess(isNew: Bool) throws -> TableSchema? {
    guard let name = table, schema == nil else { return nil }
    if !isNew {
      let database = try FileOptions.open(file, key: try keys.key())
      defer { database.close() }
      try FileOptions.refuseSynced(database, path: file, for: "`realm import`")
      if try database.read({ try $0.schemas().contains { $0.name.utf8.elementsEqual(name.utf8) } }) {
        return nil
      }
    }
    guard source != "-", TargetFile.isRegular(source) else {
      throw InterchangeError(
        "There is no table \(name) in \(file) yet, and \(source == "-" ? "standard input" : source) can't be read twice to guess what it is to have: give --schema, or import a file."
      )
    }
    guard (1...TableSchema.maximumNameLength).contains(name.utf8.count) else {
      throw InterchangeError("A table has a name of 1 to \(TableSchema.maximumNameLength) bytes.")
    }
    // With --skip-bad, the import itself reports the wrong lines later.
    let guess = try TableImport.guess(try input(), form) { problem in
      if !skipBad { throw problem }
    }
    let new = TableSchema(name, columns: try guess.columns(primaryKey: primaryKey))
    try confirm(new, records: guess.records)
    return new
  }

  private func described(
    _ name: String, inFile path: String, _ transaction: WriteTransaction
  ) throws -> TableSchema {
    var reader = SchemaReader()
    let lines = JSONLinesImport(try InputBytes(path: path), skipsUnknown: false)
    do {
      while let (node, line) = try lines.next() {
        guard try reader.take(node, line: line) else {
          throw InputProblem(
            line: line, column: 1, "The line describes no table: it is {\"table\": name, \"columns\": […]}.")
        }
      }
      let made = try reader.make(in: transaction)
      guard let found = made.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
        throw InterchangeError("\(path) describes no table \(name).")
      }
      return found
    } catch let problem as InputProblem {
      throw InterchangeError("\(path), \(problem)")
    }
  }

  /// Shows the guessed schema, and asks whether to use it.
  private func confirm(_ schema: TableSchema, records: Int) throws {
    let names = TableNames([])
    Output.complain(
      "There is no table \(schema.name) in \(file) yet. \(Wording.count(records, "object")) of \(source) would make it:"
    )
    Output.complain(names.json(schema))
    for line in names.lines(schema) { Output.complain("  \(line)") }
    if yes { return }
    guard isatty(STDIN_FILENO) == 1 else {
      throw InterchangeError(
        "Nothing was imported. To use this, repeat the command with --yes; to use something else, give --schema."
      )
    }
    Output.putOnStandardError("Import with it? [y/N] ")
    let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased() ?? ""
    guard answer == "y" || answer == "yes" else { throw InterchangeError("Nothing was imported.") }
  }
}

/// Counts and reports the results of an import.
private final class ImportReport {
  private let source: String
  private let skipsBad: Bool
  private var leftOut = 0
  var objects = 0
  var entries = 0

  init(source: String, skipsBad: Bool) { (self.source, self.skipsBad) = (source, skipsBad) }

  /// Reports a wrong line and counts it, or throws the problem if wrong lines are not skipped.
  func leaveOut(_ problem: InputProblem) throws {
    guard skipsBad else { throw problem }
    leftOut += 1
    Output.complain("LEFT OUT: \(source), \(problem)")
  }

  /// Calls `body`. If a line is wrong, the error also says that nothing was imported.
  func telling(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let problem as InputProblem {
      throw InterchangeError(
        "\(source), \(problem) Nothing was imported. --skip-bad leaves out what is wrong, and lists it.")
    }
  }

  func finish(_ file: String) throws {
    try Output.telling("The objects were imported.") {
      let more = entries == 0 ? "" : ", \(entries == 1 ? "1 entry" : "\(entries) entries") of named trees"
      let rest = leftOut == 0 ? "." : "; \(leftOut) left out."
      try Output.line("\(file): \(Wording.count(objects, "object"))\(more)\(rest)")
    }
    if leftOut > 0 { throw ExitCode(1) }
  }
}
