import Foundation
import RealmInterchange
import RealmStorage

/// Writes rows as lines for programs.
enum QueryLines {
  static func json(_ schema: TableSchema, _ names: TableNames) -> (UInt64, [Value]) -> String {
    let columns = schema.properties
    return { key, values in
      let members = zip(columns, values).map { ($0.name, $1.json(of: $0, names)) }
      return JSON.object([("key", JSON.integer(key)), ("values", JSON.object(members))])
    }
  }

  static func csvHead(_ schema: TableSchema) -> String {
    (["key"] + schema.properties.map { CSVField.quoted($0.name) }).joined(separator: ",")
  }

  static func csv(_ schema: TableSchema, _ names: TableNames) -> (UInt64, [Value]) -> String {
    let columns = schema.properties
    return { key, values in
      (["\(key)"] + zip(columns, values).map { field($1, $0, names) }).joined(separator: ",")
    }
  }

  /// A field of CSV. Null is an empty field, and an empty text is two quotation marks.
  private static func field(_ value: Value, _ column: Column, _ names: TableNames) -> String {
    switch value {
    case .null: ""
    case .string(let text): text.isEmpty ? "\"\"" : CSVField.quoted(text)
    case .data(let bytes): bytes.isEmpty ? "\"\"" : Data(bytes).base64EncodedString()
    case .link(let key): "\(key)"
    case .list, .map, .typedLink: CSVField.quoted(value.json(of: column, names))
    default: CSVField.quoted(value.text)
    }
  }
}

/// Prints rows in columns for people.
struct QueryTable {
  /// The most characters that a cell has.
  private static let widest = 40
  /// The number of rows that decide how wide the columns are.
  private static let measured = 200
  private let titles: [String]

  init(_ schema: TableSchema) { titles = ["key"] + schema.properties.map { Self.shown($0.name) } }

  func print(_ rows: [UInt64], of table: Table) throws {
    let first = try rows.prefix(Self.measured).map { try cells($0, of: table) }
    var widths = titles.map(\.count)
    for cells in first {
      for (place, cell) in cells.enumerated() { widths[place] = max(widths[place], cell.count) }
    }
    try Output.line(line(titles, widths))
    for cells in first { try Output.line(line(cells, widths)) }
    for row in rows.dropFirst(Self.measured) { try Output.line(line(try cells(row, of: table), widths)) }
    try Output.line(rows.count == 1 ? "1 row" : "\(rows.count) rows")
  }

  private func cells(_ row: UInt64, of table: Table) throws -> [String] {
    ["\(row)"] + (try Query.values(of: row, in: table)).map { Self.cell($0) }
  }

  private static func cell(_ value: Value) -> String {
    let text: String =
      switch value {
      case .string(let text): shown(text)
      default: value.text
      }
    return text.count <= widest ? text : text.prefix(widest - 1) + "…"
  }

  /// A text of a file on one line, without characters that a terminal takes for commands.
  private static func shown(_ text: String) -> String {
    text.isEmpty || text.unicodeScalars.contains(where: JSON.mayMislead) ? JSON.string(text) : text
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
      .joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    return line
  }
}
