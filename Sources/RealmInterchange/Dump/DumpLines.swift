package import RealmStorage

/// Writes the rows of a table in the form of a dump.
package struct RowLine {
  private let start: [UInt8]
  private let name: String
  private let columns: [Column]
  private let names: TableNames
  private let json: Bool

  /// Makes a writer of rows.
  ///
  /// - Parameter json: whether the lines have the form that docs/dump-format.md describes. Otherwise they have a form
  ///   for people.
  package init(_ schema: TableSchema, _ names: TableNames, json: Bool) {
    name = schema.name
    columns = schema.columns
    self.names = names
    self.json = json
    start = Array(#"{"table":\#(JSON.string(schema.name)),"key":"#.utf8)
  }

  /// Appends the line of a row.
  ///
  /// - Parameter values: the values in the order of the columns.
  package func write(_ key: UInt64, _ values: [Value], to line: inout JSONWriter) {
    guard json else { return line.raw(plain(key, zip(columns, values).map { ($0, $1.text) })) }
    begin(key, &line)
    var isFirst = true
    for (column, value) in zip(columns, values) where !column.isCompanion {
      if !isFirst { line.raw(",") }
      isFirst = false
      line.value(value, of: column, names)
    }
    line.raw("]}")
  }

  /// Appends the line of a row of a damaged file.
  ///
  /// - Parameter values: the values in the order of the columns; nil for a value that can't be read.
  package func write(_ key: UInt64, _ values: [Value?], to line: inout JSONWriter) {
    guard json else { return line.raw(plain(key, zip(columns, values).map { ($0, $1?.text ?? "(lost)") })) }
    begin(key, &line)
    var isFirst = true
    for (column, value) in zip(columns, values) where !column.isCompanion {
      if !isFirst { line.raw(",") }
      isFirst = false
      if let value { line.value(value, of: column, names) } else { line.raw(JSON.lost) }
    }
    line.raw("]}")
  }

  private func begin(_ key: UInt64, _ line: inout JSONWriter) {
    line.raw(start)
    line.integer(key)
    line.raw(#","values":["#)
  }

  private func plain(_ key: UInt64, _ cells: [(column: Column, text: String)]) -> String {
    let shown = cells.filter { !$0.column.isCompanion }.map { "\(JSON.shown($0.column.name))=\($0.text)" }
    return ([JSON.shown(name), "\(key)"] + shown).joined(separator: "\t")
  }
}

/// Writes the entries of a named tree in the form of a dump.
package struct EntryLine {
  private let tree: String
  private let json: Bool

  package init(tree: String, json: Bool) { (self.tree, self.json) = (tree, json) }

  /// Appends the line of an entry.
  ///
  /// - Parameter value: the value; nil if it can't be read.
  package func write(_ key: [UInt8], _ value: [UInt8]?, to line: inout JSONWriter) {
    guard json else {
      return line.raw("\(JSON.shown(tree))\t\(Self.text(key))\t\(value.map(Self.text) ?? "(lost)")")
    }
    line.raw(#"{"tree":"#)
    line.string(tree)
    line.raw(#","key":"#)
    line.bytesOrText(key)
    line.raw(#","value":"#)
    if let value { line.bytesOrText(value) } else { line.raw(JSON.lost) }
    line.raw("}")
  }

  /// Bytes as a text for people, on one line.
  package static func text(_ bytes: [UInt8]) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { return "base64:\(Base64.text(bytes))" }
    return String(
      String.UnicodeScalarView(text.unicodeScalars.flatMap { $0 == "\n" ? ["\\", "n"] : [$0] }))
  }
}
