package import RealmStorage

/// Imports JSON Lines: either all lines that `ObjectLines` writes, or objects of one table, one on each line.
package final class JSONLinesImport {
  /// The deepest nesting of JSON objects and arrays in a line. It is enough for embedded objects that are nested as
  /// deeply as `ObjectWriter` writes them, with values of any type in them.
  package static let mostLevels = 1000
  private let input: InputBytes
  let skipsUnknown: Bool
  private var line = 0

  package init(_ input: InputBytes, skipsUnknown: Bool) {
    (self.input, self.skipsUnknown) = (input, skipsUnknown)
  }

  /// Checks whether the import was interrupted.
  ///
  /// - Throws: `InterchangeError` if it was.
  func checkInterruption() throws(InterchangeError) { try input.checkInterruption() }

  /// The next line that is not empty; nil at the end of the input.
  ///
  /// - Throws: `InputProblem` if the line is not JSON; `InterchangeError` if the input can't be read, or is one array.
  package func next() throws -> (node: JSONNode, line: Int)? {
    while let bytes = try input.line() {
      line += 1
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      do throws(JSONSyntaxError) {
        return (try JSONParser.value(of: bytes, mostLevels: Self.mostLevels), line)
      } catch {
        guard line > 1 || bytes.first != UInt8(ascii: "[") else {
          throw InterchangeError(
            "The input is one array. JSON Lines have an object on each line: `jq -c '.[]'` makes them of an array."
          )
        }
        throw InputProblem(
          line: line, column: error.offset + 1, "The line is no JSON: \(error.missing) is expected here.")
      }
    }
    return nil
  }

  /// The draft of an object of a table.
  ///
  /// - Throws: `InputProblem` if the JSON is not an object of the table.
  package func draft(
    _ node: JSONNode, line: Int, of schema: TableSchema, oldKey: UInt64? = nil, _ reader: ValueReader
  ) throws(InputProblem) -> ObjectDraft {
    let place = { (offset: Int) in InputPlace(line: line, column: offset + 1) }
    do throws(ValueReader.Problem) {
      let cells = try reader.cells(of: node, schema, place: place)
      return ObjectDraft(table: schema.id, cells: cells, oldKey: oldKey, place: place(node.offset))
    } catch {
      throw InputProblem(
        line: line, column: error.offset + 1, property: error.property, value: error.value, error.reason)
    }
  }
}
