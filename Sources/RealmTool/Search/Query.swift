import ArgumentParser
import Foundation
import RealmInterchange
import RealmStorage

struct Query: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the rows of a table that a query finds.",
    discussion: """
      A query names a table, and may go on with a condition and with descriptors in Realm's query language:
        realm query app.realm 'Person WHERE age > 30 AND dogs.name == "Rex" SORT(age DESC) LIMIT(10)'
        realm query app.realm 'Person SORT(name ASC)'
        realm query app.realm '"a table with blanks" WHERE x == null'

      Names are those that are stored in the file; rows that link to a row are @links.Table.column. Without an option \
      the rows stand in a table for people, long values cut short. With --json each line is an object: "key", the row's \
      key, and "values", which has the column names and values in the form that `realm dump --json` has. With --csv the first line has \
      the names of the columns: null is empty and an empty text is two quotation marks, dates are ISO 8601, data is base64, links are keys, lists and maps are as in --json.

      A query that can't be read, or makes no sense for the file, ends with exit code 2 and is shown with a mark under the place.
      """)

  @OptionGroup var options: FileOptions

  @Argument(help: "The table, and what is asked of it.")
  var query: String

  @Flag(help: "JSON Lines.")
  var json = false

  @Flag(help: "Comma-separated values, by RFC 4180.")
  var csv = false

  @Flag(help: "Prints how the rows would be found, and no rows.")
  var explain = false

  @Flag(help: "Prints how many rows there are, and no rows.")
  var count = false

  func validate() throws {
    if [json, csv, explain, count].filter({ $0 }).count > 1 {
      throw ValidationError("--json, --csv, --explain and --count exclude each other.")
    }
  }

  func run() throws {
    let snapshot = try options.open().snapshot()
    let (table, search) = try QueryRequest(query).search(snapshot.tables(), in: options.file)
    if explain { return try Output.line(Wording.shown(search.explain())) }
    if count { return try Output.line("\(search.count())") }
    let names = TableNames(try snapshot.tables().map(\.schema))
    let rows = try search.rows()
    if json {
      try print(rows, of: table, QueryLines.json(table.schema, names))
    } else if csv {
      try Output.line(QueryLines.csvHead(table.schema))
      try print(rows, of: table, QueryLines.csv(table.schema, names))
    } else {
      try QueryTable(table.schema).print(rows, of: table)
    }
  }

  private func print(
    _ rows: [UInt64], of table: Table, _ line: (UInt64, [Value]) -> String
  ) throws {
    for row in rows { try Output.line(line(row, try Self.values(of: row, in: table))) }
  }

  /// The values of a row, without the columns that are not properties.
  static func values(of row: UInt64, in table: Table) throws -> [Value] {
    var values: [Value] = []
    for column in table.schema.properties { values.append(try table.value(column, ofRow: row) ?? .null) }
    return values
  }
}
