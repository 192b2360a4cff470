import Foundation
import RealmInterchange
import RealmTestSupport
import Testing

@Suite struct InputBytesTests {
  /// The number of bytes in one read of an input.
  private static let piece = 1 << 18

  /// The lines of the bytes, without their ends.
  private func lines(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    if lines.last == [] { lines.removeLast() }
    return lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
  }

  private func readLines(_ bytes: [UInt8]) throws -> [[UInt8]] {
    try withInput(bytes) { input in
      var lines: [[UInt8]] = []
      while let line = try input.line() { lines.append(line) }
      let end = try input.line()
      #expect(end == nil)
      return lines
    }
  }

  @Test func `lines end with a line feed, and a carriage return before it is not part of the line`() throws {
    for (text, expected) in [
      ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
      ("\n\na", ["", "", "a"]), ("a\rb\n", ["a\rb"]), ("a\r\r\n", ["a\r"]), ("a\r", ["a"]), ("\r", [""]),
      ("\u{feff}a\n\u{feff}b", ["a", "\u{feff}b"]), ("\u{feff}", []), ("\u{fe}", ["\u{fe}"]),
    ] as [(String, [String])] {
      let found = try readLines(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
      #expect(found == expected, "\(JSON.string(text))")
    }
  }

  @Test func `lines are whole if their end is at the border of a read`() throws {
    for end in ["\n", "\r\n"] {
      for distance in -3...3 {
        for pieces in 1...2 {
          let first = [UInt8](repeating: UInt8(ascii: "x"), count: pieces * Self.piece + distance)
          let bytes = first + Array(end.utf8) + Array("second".utf8) + Array(end.utf8)
          let found = try readLines(bytes)
          #expect(found == [first, Array("second".utf8)], "\(end.utf8.count), \(distance), \(pieces)")
        }
      }
    }
  }

  @Test(arguments: Slow.seeds(3, slow: 40))
  func `lines of random bytes and lengths are the bytes between the line feeds`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    while bytes.count < 3 * Self.piece {
      let length = generator.chance(80) ? generator.below(200) : generator.below(Self.piece / 2)
      let byte = UInt8(truncatingIfNeeded: generator.next())
      bytes += generator.chance(50) ? generator.bytes(length % 300) : [UInt8](repeating: byte, count: length)
      bytes += Array(["\n", "\r\n", "\r", "\n\n"][generator.below(4)].utf8)
    }
    let found = try readLines(bytes)
    let expected = lines(bytes)
    #expect(found.count == expected.count, "seed \(seed)")
    for (number, (line, wanted)) in zip(found, expected).enumerated() where line != wanted {
      Issue.record("seed \(seed): line \(number) differs")
      break
    }
  }

  @Test func `bytes are read one by one, and a look at the next one does not take it`() throws {
    let bytes = SeededBytes.some(Self.piece + 10)
    try withInput(bytes) { input in
      var wrong = 0
      for byte in bytes {
        let (seen, taken) = (try input.peek(), try input.next())
        if seen != byte || taken != byte { wrong += 1 }
      }
      #expect(wrong == 0)
      let (peeked, next) = (try input.peek(), try input.next())
      #expect(peeked == nil)
      #expect(next == nil)
    }
  }

  @Test func `bytes and lines can be read in turn`() throws {
    try withInput("ab\ncd\nef") { input in
      let (first, rest, second) = (try input.next(), try input.line(), try input.peek())
      #expect(first == UInt8(ascii: "a"))
      #expect(rest == Array("b".utf8))
      #expect(second == UInt8(ascii: "c"))
      let (line, last, end) = (try input.line(), try input.line(), try input.line())
      #expect(line == Array("cd".utf8))
      #expect(last == Array("ef".utf8))
      #expect(end == nil)
    }
  }

  @Test func `a missing input is an error with its path`() throws {
    try withTemporaryPath { path in
      let error = #expect(throws: InterchangeError.self) { try InputBytes(path: path) }
      #expect(error?.description.contains(path) == true)
    }
  }

  @Test func `a folder can't be an input`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    #expect(throws: InterchangeError.self) { try InputBytes(path: folder) }
  }

  @Test func `an interrupted reading ends with an error`() throws {
    try withTemporaryPath { path in
      try Data(SeededBytes.some(3 * Self.piece)).write(to: URL(fileURLWithPath: path))
      var asked = 0
      let input = try InputBytes(path: path) {
        asked += 1
        return asked > 2
      }
      var count = 0
      #expect(throws: InterchangeError.self) { while try input.next() != nil { count += 1 } }
      #expect(count == 2 * Self.piece)
    }
  }

  @Test func `a record that is longer than the limit is refused`() throws {
    try withInput("") { input in
      try input.checkLength(InputBytes.longestRecord)
      #expect(throws: InterchangeError.self) { try input.checkLength(InputBytes.longestRecord + 1) }
    }
  }
}

private enum SeededBytes {
  static func some(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 1)
    return generator.bytes(count)
  }
}
