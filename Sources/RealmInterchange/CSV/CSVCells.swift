package import RealmStorage

/// Values as fields of CSV, and back: texts as they are, null as nothing, an empty text as two quotation marks, dates as ISO 8601, data as base64,
/// links as primary keys, lists, maps, embedded objects and values of any type as JSON.
package enum CSVCells {
  /// By RFC 4180: what has the delimiter, a quotation mark or a line's end in it stands in quotation marks. Bytes are looked at: a mark behind a
  /// quotation mark makes one character of both.
  package static func quoted(_ field: String, delimiter: UInt8 = UInt8(ascii: ",")) -> String {
    guard field.utf8.contains(where: { $0 == delimiter || [0x22, 0x0a, 0x0d].contains($0) }) else {
      return field
    }
    var bytes: [UInt8] = [0x22]
    for byte in field.utf8 {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [0x22], as: UTF8.self)
  }

  /// The draft of a field.
  ///
  /// - Throws: `InputProblem`.
  package static func draft(
    _ field: CSVReader.Field, _ column: Column, _ reader: ValueReader
  ) throws(InputProblem) -> ValueDraft? {
    if field.isNull {
      // Nothing in a field of a list is an empty list, and nothing in a text that is not optional an empty text.
      if column.isCollection { return nil }
      if !column.isOptional, column.type == .string { return .value(.string("")) }
    }
    do throws(ValueReader.Problem) {
      return try reader.cell(node(field, column, reader), column) { _ in
        InputPlace(line: field.line, column: field.column)
      }
    } catch {
      throw InputProblem(
        line: field.line, column: field.column,
        property: column.name + (error.property.map { "." + $0 } ?? ""),
        value: field.text.isEmpty ? nil : field.text,
        field.isNull ? "is missing, and the property is not optional." : error.reason)
    }
  }

  /// The JSON that says what a field does.
  private static func node(
    _ field: CSVReader.Field, _ column: Column, _ reader: ValueReader
  ) throws(ValueReader.Problem) -> JSONNode {
    func text(_ content: JSONNode.Content) -> JSONNode { JSONNode(content: content, offset: 0) }
    if field.isNull { return text(.null) }
    let string = text(.string(field.text))
    var type = column.type
    var isEmbedded = false
    if type == .link {
      let target = reader.tables.schema(column.target)
      isEmbedded = target?.isEmbedded ?? false
      if let key = target?.primaryKey { type = key.type }
    }
    if column.isCollection || isEmbedded { return try parsed(field, string) }
    switch type {
    case .bool:
      return field.text == "true" ? text(.bool(true)) : field.text == "false" ? text(.bool(false)) : string
    case .int64, .float, .double:
      return Double(field.text) == nil ? try special(field, type, string) : text(.number(field.text))
    case .string, .data, .date, .objectID, .uuid, .decimal128, .link: return string
    case .mixed:
      // A text that is no JSON is a text.
      return (try? parsed(field, string)) ?? string
    }
  }

  private static func parsed(
    _ field: CSVReader.Field, _ string: JSONNode
  ) throws(ValueReader.Problem) -> JSONNode {
    do throws(JSONSyntaxError) {
      return try JSONParser.value(of: Array(field.text.utf8))
    } catch {
      throw ValueReader.Problem(
        string, "is no JSON: \(error.missing) is expected at byte \(error.offset + 1) of it.")
    }
  }

  /// Numbers that are none in JSON.
  private static func special(
    _ field: CSVReader.Field, _ type: ColumnType, _ string: JSONNode
  ) throws(ValueReader.Problem) -> JSONNode {
    guard type != .int64 else { return string }
    let member = JSONMember(name: type == .float ? "$float" : "$double", value: string)
    return JSONNode(content: .object([member]), offset: 0)
  }
}
