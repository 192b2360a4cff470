import RealmInterchange
import Testing

@Suite struct JSONLinesImportTests {
  /// The values of an input with their lines, or the places of the problems.
  private func read(_ bytes: [UInt8]) throws -> [String] {
    try withInput(bytes) { input in
      let lines = JSONLinesImport(input, skipsUnknown: false)
      var found: [String] = []
      while true {
        do {
          guard let (node, line) = try lines.next() else { return found }
          found.append("\(line): \(node.shown)")
        } catch let problem as InputProblem {
          found.append("\(problem.line), \(problem.column)")
        }
      }
    }
  }

  @Test func `each line is a value, and empty lines are counted but have no value`() throws {
    let found = try read(Array("{\"a\":1}\r\n\n \t\n[2]\n3".utf8))
    #expect(found == [#"1: {"a":1}"#, "4: [2]", "5: 3"])
    let nothing = try read(Array("\n \r\n".utf8))
    #expect(nothing == [])
  }

  @Test func `a line that is not JSON is a problem with its line and its byte`() throws {
    let found = try read(Array("1\n{\"é\":}\n2\n1 2\n".utf8))
    #expect(found == ["1: 1", "2, 7", "3: 2", "4, 3"])
  }

  @Test func `only a byte order mark in the first line is skipped`() throws {
    let found = try read(Array("\u{feff}1\n\u{feff}2\n".utf8))
    #expect(found == ["1: 1", "2, 1"])
  }
}
