package import RealmStorage

/// Reads values from fields of CSV. A field says less than a JSON value does, so the type of the property decides what
/// the field means.
package enum CSVFields {
  /// The draft of the value that a field gives; nil if the field of a collection is empty.
  ///
  /// - Throws: `InputProblem` if the property does not accept the field.
  ///
  /// - Throws: `InputProblem`.
  package static func draft(
    _ field: CSVReader.Field, _ column: Column, _ reader: ValueReader
  ) throws(InputProblem) -> ValueDraft? {
    if field.isNull {
      // An empty field of a collection is an empty collection. An empty field of a string that is not optional is an
      // empty string.
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
        value: field.text.isEmpty ? nil : JSON.string(field.text),
        field.isNull ? "is missing, and the property is not optional." : error.reason)
    }
  }

  /// The JSON value that means the same as a field.
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
    // If a plain text can't tell the value, the field is a JSON object with one member, such as {"$primaryKey":null}.
    if column.type == .link || type == .date || type == .decimal128, field.text.hasPrefix("{\"$"),
      let node = try? parsed(field, string)
    {
      return node
    }
    switch type {
    case .bool:
      return field.text == "true" ? text(.bool(true)) : field.text == "false" ? text(.bool(false)) : string
    case .int64, .float, .double:
      if !field.text.utf8.contains(where: { $0 <= 0x20 }), let number = try? parsed(field, string),
        case .number = number.content
      {
        return number
      }
      return special(type, string)
    case .string, .data, .date, .objectID, .uuid, .decimal128, .link: return string
    case .mixed:
      let node: JSONNode
      do throws(JSONSyntaxError) {
        node = try JSONParser.value(of: Array(field.text.utf8), mostLevels: JSONLinesImport.mostLevels)
      } catch {
        // A text that is not JSON is a string.
        guard error.isRefused else { return string }
        throw problem(error, string)
      }
      if case .number = node.content, field.text.utf8.contains(where: { $0 <= 0x20 }) { return string }
      return node
    }
  }

  private static func problem(_ error: JSONSyntaxError, _ string: JSONNode) -> ValueReader.Problem {
    ValueReader.Problem(
      string, "is no JSON: \(error.missing) is expected at byte \(error.offset + 1) of it.")
  }

  private static func parsed(
    _ field: CSVReader.Field, _ string: JSONNode
  ) throws(ValueReader.Problem) -> JSONNode {
    do throws(JSONSyntaxError) {
      return try JSONParser.value(of: Array(field.text.utf8), mostLevels: JSONLinesImport.mostLevels)
    } catch {
      throw problem(error, string)
    }
  }

  /// The node of a number that JSON has no form for, such as NaN.
  private static func special(_ type: ColumnType, _ string: JSONNode) -> JSONNode {
    guard type != .int64 else { return string }
    let member = JSONMember(name: type == .float ? "$float" : "$double", value: string)
    return JSONNode(content: .object([member]), offset: 0)
  }
}
