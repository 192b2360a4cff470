import Foundation
import Testing

@testable import RealmStorage

/// The engine computes the values that FORMAT.md gives to authors of readers.
@Suite struct FormatVectorTests {
  private static let document = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "FORMAT.md")

  private func expectLine(_ name: String, _ value: String) throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    #expect(text.contains("\n| \(name) | \(value) |\n"), "FORMAT.md lacks: | \(name) | \(value) |")
  }

  @Test func `the engine computes the checksums of FORMAT.md`() throws {
    let zero = [UInt8](repeating: 0, count: 16)
    for (name, bytes) in [
      ("8 bytes of zero", Array(zero[..<8])), ("16 bytes of zero", zero), ("00 01 02 … 0f", [UInt8](0..<16)),
      ("00 01 02 … 3f", [UInt8](0..<64)),
    ] {
      try expectLine(name, String(format: "0x%016lX", bytes.span.bytes.checksum))
    }
  }

  @Test func `the engine derives the keys of FORMAT.md`() throws {
    let (key, salt) = ([UInt8](0..<64), [UInt8](0..<16))
    for (name, purpose) in [("node key", KeyDerivation.Purpose.nodes), ("meta key", .metaPages)] {
      let subkey = KeyDerivation.subkey(purpose, of: key, salt: salt)
      try expectLine(name, Self.digits((0..<subkey.count).map { subkey.base[$0] }))
    }
    let cipher = try NodeCipher(key: key, salt: salt, fileID: salt)
    try expectLine("key check", Self.digits(cipher.keyCheck))
  }

  @Test func `the engine opens the sealed node of FORMAT.md`() throws {
    let (key, salt) = ([UInt8](0..<64), [UInt8](0..<16))
    let cipher = try NodeCipher(key: key, salt: salt, fileID: salt)
    let value = try Self.values(of: ["content", "nonce", "ciphertext", "tag"])
    let (content, tag) = (value[0], value[3])
    let ref = Ref(
      place: UInt64(8192 / Ref.unit) | UInt64(content.count / 8 - 1) << 42,
      identity: content.load(UInt64.self, at: 0), check: tag.load(UInt64.self, at: 0),
      check2: tag.load(UInt64.self, at: 8))
    #expect(ref.birth == 1)
    func unsealed(_ extent: [UInt8]) -> [UInt8]? {
      var out = [UInt8](repeating: 0, count: content.count)
      let isWhole = extent.withUnsafeBytes { extent in
        out.withUnsafeMutableBytes { out in
          cipher.unseal(extent.baseAddress!, length: content.count, ref: ref, into: out.baseAddress!)
        }
      }
      return isWhole ? out : nil
    }
    var extent = value[1] + value[2]
    #expect(unsealed(extent) == content)
    extent[30] ^= 1
    #expect(unsealed(extent) == nil)
  }

  @Test func `the engine encodes companions as FORMAT.md does`() throws {
    let ids: [Value] = [.int(5), .int(6), .int(7), .int(4)]
    try expectLine(
      "ids: 5, 6, 7, 4", Self.digits(CompositeCell.encode(.list(ids), of: Column(.elementIDs(of: 1)))))
    try expectLine(
      "places: null, 5, 6",
      Self.digits(
        CompositeCell.encode(.list([.null, .int(5), .int(6)]), of: Column(.elementPlaces(of: 1)))))
    let absent: [(String, ColumnCollection, AbsentLink)] = [
      (
        "of a list: to \"a\" of table 3, before element 1, id 5", .list,
        AbsentLink(table: 3, primaryKey: .string("a"), place: .before(1), elementID: 5)
      ),
      (
        "of a map: to 7 of table 3, by the key \"k\"", .map,
        AbsentLink(table: 3, primaryKey: .int(7), place: .key("k"))
      ),
    ]
    for (name, collection, link) in absent {
      let owner = Column("owner", .link, collection: collection, target: 3)
      let value = AbsentLink.encode([link], in: owner)
      #expect(AbsentLink.decode(value, in: owner) == [link])
      try expectLine(name, Self.digits(value.varyingBytes(of: Column(.absentLinks(of: 1)))))
    }
  }

  @Test func `the engine encodes lists as FORMAT.md does`() throws {
    var numbers = Column("numbers", .int64, isOptional: true, collection: .list)
    numbers.id = 1
    try expectLine(
      "optional int64: 1, null, −2",
      Self.digits(CompositeCell.encode(.list([.int(1), .null, .int(-2)]), of: numbers)))
    try expectLine(
      "string: \"a\", \"\", \"bc\"",
      Self.digits(
        CompositeCell.encode(
          .list([.string("a"), .string(""), .string("bc")]), of: Column("c", .string, collection: .list))))
    let dates: [Value] = [
      .date(Timestamp(seconds: 1, nanoseconds: 300)), .date(Timestamp(seconds: -1)),
    ]
    try expectLine(
      "date: 1 s and 300 ns, −1 s",
      Self.digits(CompositeCell.encode(.list(dates), of: Column("c", .date, collection: .list))))
    try expectLine(
      "link: the rows 5, 300",
      Self.digits(
        CompositeCell.encode(.list([.link(5), .link(300)]), of: Column("c", .link, collection: .list))))
    try expectLine(
      "set of int64: 3, 1",
      Self.digits(CompositeCell.encode(.set([.int(3), .int(1)]), of: Column("c", .int64, collection: .set))))
    let map = ValueMap(["b": .null, "a": .link(7)])
    try expectLine(
      "map of links: \"b\" to null, \"a\" to row 7",
      Self.digits(CompositeCell.encode(.map(map), of: Column("c", .link, collection: .map))))
  }

  @Test func `the engine encodes mixed values as FORMAT.md does`() throws {
    let column = Column("c", .mixed)
    try expectLine("int64 −2", Self.digits(CompositeCell.encode(.int(-2), of: column)))
    try expectLine("string \"a\"", Self.digits(CompositeCell.encode(.string("a"), of: column)))
    try expectLine(
      "link to row 300 of table 2",
      Self.digits(CompositeCell.encode(.typedLink(table: 2, row: 300), of: column)))
    let nested = Value.list([.null, .bool(true), .map(ValueMap(["k": .double(1)]), id: 2)], id: 1)
    try expectLine(
      "list with the id 1 of null, true and the map with the id 2 of \"k\" to 1.0",
      Self.digits(CompositeCell.encode(nested, of: column)))
  }

  @Test func `the engine encodes entries of indexes as FORMAT.md does`() throws {
    let optional = Column("c", .string, isOptional: true, index: .plain)
    let entries: [(String, Value, Column, UInt64)] = [
      ("int64: −2, row 0", .int(-2), Column("c", .int64, index: .plain), 0),
      ("optional string: \"a\", row 300", .string("a"), optional, 300),
      ("optional string: null, row 1", .null, optional, 1),
      (
        "date: 1 s and 300 ns, row 7", .date(Timestamp(seconds: 1, nanoseconds: 300)),
        Column("c", .date, index: .plain), 7
      ),
      ("mixed: int64 1, row 2", .int(1), Column("c", .mixed, index: .plain), 2),
      (
        "mixed: decimal −1.5, row 2", .decimal128(try #require(DecimalNumber(parsing: "-1.5")).stored),
        Column("c", .mixed, index: .plain), 2
      ),
      ("mixed: string \"a\", row 2", .string("a"), Column("c", .mixed, index: .plain), 2),
    ]
    for (name, value, column, row) in entries {
      var entry = IndexKey.encode(value, of: column)
      IndexKey.appendRow(row, to: &entry)
      try expectLine(name, Self.digits(entry))
    }
  }

  /// The bytes that FORMAT.md gives under some names.
  private static func values(of names: [String]) throws -> [[UInt8]] {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    return try names.map { name in
      let start = try #require(text.range(of: "\n| \(name) | "))
      let digits = Array(text[start.upperBound...].prefix { $0.isHexDigit })
      return stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(digits[$0..<$0 + 2]), radix: 16)
      }
    }
  }

  private static func digits(_ bytes: [UInt8]?) -> String {
    (bytes ?? []).map { String(format: "%02x", $0) }.joined()
  }
}
