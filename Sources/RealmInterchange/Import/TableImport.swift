package import RealmStorage

/// Imports objects of one table from JSON Lines or CSV.
package final class TableImport {
  package enum Form: Sendable {
    case jsonLines
    case csv(delimiter: UInt8)
  }

  private let form: Form
  private let skipsUnknown: Bool
  private let inserter: ObjectInserter
  private let schema: TableSchema
  private let reader: ValueReader

  package var objects: Int { inserter.count }

  /// Makes an import into a table.
  ///
  /// - Parameter schema: the schema of the table, which exists in the file.
  /// - Throws: `InterchangeError` if the table has embedded objects; `StorageError`.
  package init(
    _ form: Form, into schema: TableSchema, _ transaction: WriteTransaction, skipsUnknown: Bool,
    duplicates: ObjectInserter.Duplicates
  ) throws {
    guard !schema.isEmbedded else {
      throw InterchangeError(
        "\(schema.name) has embedded objects, each of which belongs to another object: import these, with the embedded ones in them."
      )
    }
    let tables = ImportTables(try transaction.schemas())
    (self.form, self.skipsUnknown, self.schema) = (form, skipsUnknown, schema)
    reader = ValueReader(tables, skipsUnknown: skipsUnknown)
    inserter = ObjectInserter(transaction, tables, duplicates: duplicates)
  }

  /// Imports all records of an input.
  ///
  /// - Parameter leaveOut: is called with each wrong record, and with each link whose object does not exist. Unless it
  ///   throws, the record or the link is left out.
  /// - Throws: what `leaveOut` throws; `InterchangeError`; `StorageError`.
  package func run(_ input: InputBytes, _ leaveOut: (InputProblem) throws -> Void) throws {
    switch form {
    case .jsonLines: try readLines(JSONLinesImport(input, skipsUnknown: skipsUnknown), leaveOut)
    case .csv(let delimiter): try readCSV(CSVReader(input, delimiter: delimiter), leaveOut)
    }
    try inserter.finish(checkInterruption: input.checkInterruption, leaveOut)
  }

  private func readLines(_ lines: JSONLinesImport, _ leaveOut: (InputProblem) throws -> Void) throws {
    while true {
      do {
        guard let (node, line) = try lines.next() else { return }
        try Self.checkPlain(node)
        try inserter.insert(lines.draft(node, line: line, of: schema, reader))
      } catch let problem as InputProblem {
        try leaveOut(problem)
      }
    }
  }

  private func readCSV(_ csv: CSVReader, _ leaveOut: (InputProblem) throws -> Void) throws {
    let names = try Self.names(csv)
    let positions = reader.tables.positions(of: schema)
    var columns: [Int?] = []
    for name in names {
      let position = positions[Array(name.utf8)]
      guard position != nil || skipsUnknown else {
        throw InterchangeError(
          "The first line names \(JSON.string(name)), and \(schema.name) has no property of that name. Rename it, or leave out what is unknown by --only-known."
        )
      }
      columns.append(position)
    }
    guard columns.contains(where: { $0 != nil }) else {
      throw InterchangeError("The first line names no property of \(schema.name).")
    }
    while true {
      do {
        guard let record = try csv.next() else { return }
        try inserter.insert(draft(record, columns))
      } catch let problem as InputProblem {
        try leaveOut(problem)
      }
    }
  }

  /// The names of the fields, which are on the first line.
  package static func names(_ csv: CSVReader) throws -> [String] {
    guard let head = try csv.next() else {
      throw InterchangeError("The input is empty; its first line tells the names of the fields.")
    }
    let names = head.fields.map(\.text)
    guard Set(names.map { Array($0.utf8) }).count == names.count else {
      throw InterchangeError("The first line names a field twice.")
    }
    csv.keepsEmptyLines = names.count == 1
    return names
  }

  private func draft(_ record: CSVReader.Record, _ columns: [Int?]) throws(InputProblem) -> ObjectDraft {
    try Self.checkCount(record, columns.count)
    var cells: [ObjectDraft.Cell] = []
    for (field, column) in zip(record.fields, columns) {
      guard let column else { continue }
      guard let value = try CSVFields.draft(field, schema.columns[column], reader) else { continue }
      cells.append(
        ObjectDraft.Cell(
          column: column, value: value, place: InputPlace(line: field.line, column: field.column)))
    }
    return ObjectDraft(
      table: schema.id, cells: cells, place: InputPlace(line: record.line, column: 1))
  }

  private static func checkCount(_ record: CSVReader.Record, _ count: Int) throws(InputProblem) {
    guard record.fields.count != count else { return }
    throw InputProblem(
      line: record.line, column: 1,
      "The record has \(record.fields.count) fields, and the first line names \(count).")
  }

  private static func checkPlain(_ node: JSONNode) throws(InterchangeError) {
    guard WholeImport.isHead(node) else { return }
    throw InterchangeError(
      "The input is the export of a whole file, which tells its tables: leave out --table.")
  }

  /// The columns that a table for an input could have, guessed from all its records.
  ///
  /// - Parameter leaveOut: is called with each record that can't be read. Unless it throws, the record is left out.
  package static func guess(
    _ input: InputBytes, _ form: Form, _ leaveOut: (InputProblem) throws -> Void
  ) throws -> SchemaGuess {
    var guess = SchemaGuess()
    let lines = JSONLinesImport(input, skipsUnknown: true)
    var csv: (reader: CSVReader, names: [String])?
    if case .csv(let delimiter) = form {
      let reader = CSVReader(input, delimiter: delimiter)
      csv = (reader, try names(reader))
    }
    while true {
      do {
        if let csv {
          guard let record = try csv.reader.next() else { return guess }
          try checkCount(record, csv.names.count)
          guess.look(at: record, names: csv.names)
        } else {
          guard let (node, line) = try lines.next() else { return guess }
          try checkPlain(node)
          guard node.members != nil else {
            throw InputProblem(line: line, column: 1, value: node.shown, "is no object.")
          }
          guess.look(at: node)
        }
      } catch let problem as InputProblem {
        try leaveOut(problem)
      }
    }
  }
}
