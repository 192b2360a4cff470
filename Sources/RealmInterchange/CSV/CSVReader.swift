/// Reads comma-separated values by RFC 4180, in UTF-8. Lines end with a line feed, a carriage return, or both.
///
/// This reader is written by hand, because the packages that read CSV give no places for errors, read a whole file into
/// memory, and do not distinguish an empty string from an empty field.
package final class CSVReader {
  package struct Field: Sendable {
    package var text: String
    /// Whether the field is enclosed in quotation marks. If it is and has no text, it is an empty string and not null.
    package var isQuoted: Bool
    package var line: Int
    /// The number of the first byte in its line, from 1 on.
    package var column: Int
  }

  package struct Record: Sendable {
    package var line: Int
    package var fields: [Field]
  }

  private let input: InputBytes
  private let delimiter: UInt8
  private var line = 1
  private var column = 1
  private var bytes = 0
  /// The first error in the record that is being read. The reader throws it at the end of the record, so that it does
  /// not take the rest of the record for another one.
  private var problem: InputProblem?
  /// Whether an empty line is a record with one empty field. Otherwise the reader skips empty lines.
  package var keepsEmptyLines = false

  /// Makes a reader.
  ///
  /// - Parameter delimiter: the ASCII character between fields, which is neither a quotation mark nor a line's end.
  package init(_ input: InputBytes, delimiter: UInt8 = UInt8(ascii: ",")) {
    (self.input, self.delimiter) = (input, delimiter)
  }

  /// The next record; nil at the end of the input.
  ///
  /// - Throws: `InputProblem` if the record is wrong; the next call then reads the next record. `InterchangeError` if
  ///   the input can't be read on.
  package func next() throws -> Record? {
    while let byte = try input.peek() {
      if !keepsEmptyLines, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
        _ = try advance()
        try endLine(with: byte)
        continue
      }
      return try record()
    }
    return nil
  }

  private func record() throws -> Record {
    bytes = 0
    problem = nil
    var record = Record(line: line, fields: [])
    while true {
      let (field, isLast) = try self.field()
      record.fields.append(field)
      guard isLast else { continue }
      if let problem { throw problem }
      return record
    }
  }

  private func field() throws -> (Field, isLast: Bool) {
    let (startLine, startColumn) = (line, column)
    var text: [UInt8] = []
    let isQuoted = try input.peek() == UInt8(ascii: "\"")
    if isQuoted { text = try quoted(startLine, startColumn) }
    while true {
      guard let byte = try advance() else { return (made(text, isQuoted, startLine, startColumn), true) }
      switch byte {
      case delimiter: return (made(text, isQuoted, startLine, startColumn), false)
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        let field = made(text, isQuoted, startLine, startColumn)
        try endLine(with: byte)
        return (field, true)
      case _ where isQuoted:
        note(
          line, column - 1, "There is something between a closing quotation mark and the end of the field.")
      case UInt8(ascii: "\""):
        note(line, column - 1, "A quotation mark stands in a field that is not in quotation marks.")
      default: text.append(byte)
      }
    }
  }

  /// Reads the text between two quotation marks. Two quotation marks in the text stand for one.
  private func quoted(_ startLine: Int, _ startColumn: Int) throws -> [UInt8] {
    var text: [UInt8] = []
    _ = try advance()
    while let byte = try advance() {
      if byte == UInt8(ascii: "\"") {
        guard try input.peek() == UInt8(ascii: "\"") else { return text }
        _ = try advance()
      }
      text.append(byte)
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      }
    }
    // The reader can't go on: it would take all that follows for a part of the field.
    throw InterchangeError(
      "line \(startLine), column \(startColumn): The field has no closing quotation mark.")
  }

  private func made(_ bytes: [UInt8], _ isQuoted: Bool, _ line: Int, _ column: Int) -> Field {
    let text = String(validating: bytes, as: UTF8.self)
    if text == nil { note(line, column, "The field is no text in UTF-8.") }
    return Field(text: text ?? "", isQuoted: isQuoted, line: line, column: column)
  }

  private func note(_ line: Int, _ column: Int, _ reason: String) {
    if problem == nil { problem = InputProblem(line: line, column: column, reason) }
  }

  private func advance() throws(InterchangeError) -> UInt8? {
    guard let byte = try input.next() else { return nil }
    column += 1
    bytes += 1
    try input.checkLength(bytes)
    return byte
  }

  /// Counts the end of a line. A carriage return and a line feed behind it end one line, and not two.
  private func endLine(with byte: UInt8) throws(InterchangeError) {
    if byte == UInt8(ascii: "\r"), try input.peek() == UInt8(ascii: "\n") { _ = try input.next() }
    line += 1
    column = 1
  }
}
