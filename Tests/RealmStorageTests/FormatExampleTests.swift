import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The worked example of FORMAT.md is a file that the engine makes.
@Suite struct FormatExampleTests {
  private enum Example: String {
    case file = "worked example"
    case list = "worked example of a list"

    var start: String { "<!-- \(rawValue) -->" }
    var end: String { "<!-- end of \(rawValue) -->" }
  }

  /// The bytes that depend on the clock: the time, and the checksum over it.
  private static let masked = [88..<96, 464..<472]

  private static let document = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "FORMAT.md")

  @Test func `the engine writes the bytes of the worked example in FORMAT.md`() throws {
    try expect(.file, try listing())
  }

  @Test func `the engine writes the bytes of the worked example of a list that is a tree`() throws {
    try expect(.list, try listingOfList())
  }

  private func expect(_ example: Example, _ listing: String) throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    let start = try #require(text.range(of: example.start), "FORMAT.md has no \(example.start)")
    let end = try #require(
      text.range(of: example.end, range: start.upperBound..<text.endIndex), "FORMAT.md has no \(example.end)")
    let found = text[start.upperBound..<end.lowerBound].trimmingCharacters(in: .newlines)
    guard found != listing else { return }
    Issue.record("put this between \(example.start) and its end in FORMAT.md:\n\n\(listing)\n")
  }

  // MARK: - The file

  private struct Piece {
    let offset: Int
    let length: Int
    let name: String
  }

  /// The meta pages and the nodes, in the order in which they stand in the file.
  private func listing() throws -> String {
    let disk = SimulatedDisk()
    try disk.write(Self.emptyPages(of: disk), at: 0)
    let database = try Database(storage: disk, options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Person", columns: [Column("name", .string), Column("age", .int64)]))
      _ = try table.insert(["name": .string("Ann"), "age": .int(41)])
      _ = try table.insert(["name": .string("Bo"), "age": .int(35)])
      try transaction.tree("settings").set(Array("en".utf8), for: Array("lang".utf8))
    }
    let nodes = try Self.nodes(of: database.snapshot())
    database.close()
    let bytes = try disk.read(Int(disk.length()), at: 0)
    let metaPages = (0..<2).map {
      Piece(offset: $0 * FilePlace.page, length: 512, name: "meta page \($0), its first 512 bytes")
    }
    let pieces = metaPages + nodes.sorted { $0.offset < $1.offset }
    try Self.expectZeros(bytes, outside: pieces)
    return pieces.map { Self.hex($0, bytes) }.joined(separator: "\n\n")
      + String(format: "\n\n    %08x  end of the file", bytes.count)
  }

  /// The nodes of a row and of its list, in the order in which they stand in the file.
  private func listingOfList() throws -> String {
    let disk = SimulatedDisk()
    try disk.write(Self.emptyPages(of: disk), at: 0)
    let database = try Database(storage: disk, options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Log", columns: [Column("values", .int64, collection: .list)]))
      _ = try table.insert(["values": .list(Array(repeating: .int(7), count: 1099) + [.int(8)])])
    }
    let kinds: [NodeKind] = [.cluster, .piece, .positionBranch]
    let nodes = try Self.nodes(of: database.snapshot()).filter { node in
      kinds.contains { node.name.hasPrefix("\($0.name),") }
    }
    database.close()
    let bytes = try disk.read(Int(disk.length()), at: 0)
    return nodes.sorted { $0.offset < $1.offset }.map { Self.hex($0, bytes) }.joined(separator: "\n\n")
  }

  /// The meta pages as the engine makes them, except that the file id and the salt are fixed.
  private static func emptyPages(of disk: SimulatedDisk) -> [UInt8] {
    let constants = MetaPage.Constants(
      fileID: [UInt8](0xa0...0xaf), salt: [UInt8](0xb0...0xbf), isEncrypted: false,
      keyCheck: [UInt8](repeating: 0, count: 16))
    let page = MetaPage(
      constants: constants, version: Version(number: 1, root: .null, pageCount: 2), greatest: 1, durable: 1,
      isClean: true, time: 0, identity: disk.identity)
    return page.encoded(cipher: nil) + page.encoded(cipher: nil)
  }

  private static func nodes(of snapshot: Snapshot) throws -> [Piece] {
    try snapshot.nodes().map { ref in
      Piece(
        offset: Int(ref.offset), length: ref.length,
        name: "\(ref.kind?.name ?? "unknown"), \(ref.length) bytes")
    }
  }

  private static func expectZeros(_ bytes: [UInt8], outside pieces: [Piece]) throws {
    var rest = bytes
    for piece in pieces { for at in piece.offset..<piece.offset + piece.length { rest[at] = 0 } }
    #expect(rest.allSatisfy { $0 == 0 }, "bytes outside of all nodes are zero")
  }

  // MARK: - The listing

  /// A heading, and 16 bytes a line. One line stands for several lines of zeros in a row.
  private static func hex(_ piece: Piece, _ bytes: [UInt8]) -> String {
    var lines = [String(format: "    %08x  ", piece.offset) + piece.name]
    var zerosFrom: Int?
    let end = piece.offset + piece.length
    for offset in stride(from: piece.offset, to: end, by: 16) {
      let row = offset..<min(offset + 16, end)
      if row.count == 16, bytes[row].allSatisfy({ $0 == 0 }) {
        zerosFrom = zerosFrom ?? offset
        if row.upperBound < end { continue }
      }
      if let from = zerosFrom {
        let to = bytes[row].allSatisfy { $0 == 0 } ? row.upperBound : row.lowerBound
        lines.append(String(format: "    +%03x  %d bytes of zero", from - piece.offset, to - from))
        zerosFrom = nil
        if to == row.upperBound { continue }
      }
      lines.append(line(row, of: piece, bytes))
    }
    return lines.joined(separator: "\n")
  }

  private static func line(_ row: Range<Int>, of piece: Piece, _ bytes: [UInt8]) -> String {
    var (digits, text) = ("", "")
    for at in row {
      let isMasked =
        piece.offset < 2 * FilePlace.page && masked.contains { $0.contains(at - piece.offset) }
      digits += isMasked ? ".. " : String(format: "%02x ", bytes[at])
      if at - row.lowerBound == 7 { digits += " " }
      let isVisible = !isMasked && (0x21...0x7e).contains(bytes[at]) && bytes[at] != UInt8(ascii: "`")
      text += isVisible ? String(UnicodeScalar(bytes[at])) : "."
    }
    let padding = String(repeating: " ", count: 50 - digits.count)
    return String(format: "    +%03x  ", row.lowerBound - piece.offset) + digits + padding + text
  }
}
