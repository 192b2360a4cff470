import RealmStorage
import RealmTestSupport
import Testing

/// Small examples of the rules in docs/queries.md.
@Suite struct QuerySemanticsTests {
  private let table: Table
  private let database: Database

  private static let name = ColumnPath(0)
  private static let score = ColumnPath(1)
  private static let height = ColumnPath(2)
  private static let friend = 3
  private static let tags = ColumnPath(4)

  init() throws {
    database = try Database(creatingIn: SimulatedDisk(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("name", .string, isOptional: true), Column("score", .int64, isOptional: true),
            Column("height", .double), Column("friend", .link), Column("tags", .string, collection: .list),
          ]))
      for (name, score, height, friend, tags) in [
        ("Élan", 9_007_199_254_740_993, 0.0, nil, []), (nil, nil, Double.nan, 0, ["a"]),
        ("", 2, -0.0, 1, ["a", "b"]),
      ] as [(String?, Int64?, Double, UInt64?, [String])] {
        try table.insert([
          "name": name.map { .string($0) } ?? .null, "score": score.map { .int($0) } ?? .null,
          "height": .double(height), "friend": friend.map { .link($0) } ?? .null,
          "tags": .list(tags.map { .string($0) }),
        ])
      }
    }
    table = try #require(try database.snapshot().table("Person"))
  }

  private func expect(_ predicate: Predicate, _ rows: [UInt64], _ line: Int = #line) throws {
    #expect(try table.rows(where: predicate) == rows, "line \(line)")
    #expect(try table.count(where: predicate) == rows.count, "line \(line)")
  }

  @Test func `null equals null, and is ordered among strings only`() throws {
    try expect(.compare(Self.score, .equal, .null), [1])
    try expect(.compare(Self.score, .notEqual, .int(2)), [0, 1])
    try expect(.compare(Self.score, .lessOrEqual, .null), [1])
    try expect(.compare(Self.score, .less, .int(5)), [2])
    try expect(.compare(Self.name, .less, .string("a")), [1, 2])
    try expect(.compare(Self.name, .greater, .null), [0, 2])
    let friendsName = ColumnPath(links: [Self.friend], column: 0)
    try expect(.compare(friendsName, .less, .string("a")), [])
    try expect(.compare(friendsName, .equal, .null), [0, 2])
  }

  @Test func `numbers of all types compare exactly`() throws {
    try expect(.compare(Self.score, .equal, .double(0x1p53)), [])
    try expect(.compare(Self.score, .greater, .double(0x1p53)), [0])
    try expect(.compare(Self.score, .greater, .double(1.5)), [0, 2])
    try expect(.compare(Self.height, .equal, .int(0)), [0, 2])
    try expect(.compare(Self.height, .equal, .double(.nan)), [])
    try expect(.compare(Self.height, .notEqual, .double(.nan)), [0, 1, 2])
    try expect(.compare(Self.score, .equal, .string("2")), [])
  }

  @Test func `no text contains an empty text, and case is folded by Unicode`() throws {
    try expect(.text(Self.name, .contains, .string(""), options: []), [])
    try expect(.text(Self.name, .begins, .string(""), options: .ignoringCase), [])
    try expect(.text(Self.name, .like, .string("*"), options: []), [0, 2])
    try expect(.text(Self.name, .like, .string("?LAN"), options: .ignoringCase), [0])
    try expect(.text(Self.name, .equal, .string("éLAN"), options: .ignoringCase), [0])
    try expect(.text(Self.name, .equal, .string("elan"), options: .ignoringCase), [])
    try expect(.text(Self.name, .notEqual, .string("x"), options: .ignoringCase), [0, 1, 2])
  }

  /// Expects that of some texts just the given ones equal `text`.
  private func expect(
    _ text: String, _ options: TextOptions, among texts: [String], equals equal: [String], _ line: Int = #line
  ) throws {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Text", columns: [Column("text", .string), Column("bytes", .data)]))
      for text in texts { try table.insert(["text": .string(text), "bytes": .data(Array(text.utf8))]) }
    }
    let table = try #require(try database.snapshot().table("Text"))
    let found = try table.rows(where: .text(ColumnPath(0), .equal, .string(text), options: options))
    #expect(found.map { texts[Int($0)] } == equal, "line \(line)")
    let others = try table.rows(where: .text(ColumnPath(0), .notEqual, .string(text), options: options))
    #expect((found + others).sorted() == texts.indices.map { UInt64($0) }, "line \(line)")
  }

  @Test func `case folding replaces one scalar by one scalar, as Unicode says`() throws {
    try expect("éLAN", .ignoringCase, among: ["Élan", "elan", "ÉLAN"], equals: ["Élan", "ÉLAN"])
    try expect("STRASSE", .ignoringCase, among: ["straße", "strasse", "STRAẞE"], equals: ["strasse"])
    try expect("STRAẞE", .ignoringCase, among: ["straße", "strasse"], equals: ["straße"])
    try expect("σ", .ignoringCase, among: ["Σ", "ς", "σ", "s"], equals: ["Σ", "ς", "σ"])
    try expect("ЖУК", .ignoringCase, among: ["жук", "Жук"], equals: ["жук", "Жук"])
    // The dotted and dotless i have only foldings of several scalars, or foldings for Turkish, so they match neither i
    // nor I.
    try expect("i", .ignoringCase, among: ["I", "İ", "ı", "i\u{307}"], equals: ["I"])
    try expect("kς", .ignoringCase, among: ["\u{212a}Σ", "KΣ"], equals: ["\u{212a}Σ", "KΣ"])
  }

  @Test func `ignoring diacritics uses canonical decomposition`() throws {
    let all: TextOptions = [.ignoringCase, .ignoringDiacritics]
    try expect("elan", all, among: ["Élan", "E\u{301}lan", "ełan"], equals: ["Élan", "E\u{301}lan"])
    try expect("elan", .ignoringDiacritics, among: ["Élan", "élan"], equals: ["élan"])
    try expect("i", all, among: ["I", "İ", "ı", "i\u{307}"], equals: ["I", "İ", "i\u{307}"])
    try expect(
      "한", .ignoringDiacritics, among: ["\u{1112}\u{1161}\u{11ab}", "하"], equals: ["\u{1112}\u{1161}\u{11ab}"]
    )
    try expect("한", .ignoringCase, among: ["\u{1112}\u{1161}\u{11ab}", "하"], equals: [])
    // A text of nonspacing marks is empty without them. Spacing marks stay.
    try expect(
      "\u{301}", .ignoringDiacritics, among: ["", "\u{302}\u{327}", "\u{20dd}"],
      equals: ["", "\u{302}\u{327}"])
  }

  @Test func `case may be ignored for Latin letters alone, with and without diacritics`() throws {
    let words = ["Élan", "ÉLAN", "elan", "Łan", "łan", "×", "÷"]
    try expect("éLAN", .latin1Case, among: words, equals: ["Élan", "ÉLAN"])
    try expect("ŁAN", .latin1Case, among: words, equals: ["Łan"])
    try expect("ŁAN", [.latin1Case, .ignoringCase], among: words, equals: ["Łan", "łan"])
    try expect("×", .latin1Case, among: words, equals: ["×"])
    try expect("ELÁN", [.latin1Case, .ignoringDiacritics], among: words, equals: ["Élan", "ÉLAN", "elan"])
  }

  @Test func `data is folded as Latin letters in UTF-8, and diacritics in data are not ignored`() throws {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Data", columns: [Column("bytes", .data)]))
      for text in ["Élan", "elan", "ŁAN", "\0A"] { try table.insert(["bytes": .data(Array(text.utf8))]) }
    }
    let table = try #require(try database.snapshot().table("Data"))
    func rows(_ text: String, _ options: TextOptions) throws -> [UInt64] {
      try table.rows(where: .text(ColumnPath(0), .contains, .data(Array(text.utf8)), options: options))
    }
    for options in [.ignoringCase, .latin1Case, [.ignoringCase, .ignoringDiacritics]] as [TextOptions] {
      #expect(try rows("éL", options) == [0])
      #expect(try rows("łan", options) == [])
      #expect(try rows("\0a", options) == [3])
    }
    #expect(try rows("elan", .ignoringDiacritics) == [1])
  }

  @Test func `a question mark in a pattern stands for one scalar of the folded text`() throws {
    // É is one scalar, or two scalars that are one after folding.
    try expect(.text(Self.name, .like, .string("??lan"), options: .ignoringDiacritics), [])
    try expect(.text(Self.name, .like, .string("?lan"), options: .ignoringDiacritics), [0])
    try expect(.text(Self.name, .like, .string("?lan"), options: .latin1Case), [0])
    try expect(.text(Self.name, .like, .string("E?an"), options: .ignoringDiacritics), [0])
    try expect(.text(Self.name, .begins, .string("el"), options: [.ignoringCase, .ignoringDiacritics]), [0])
    try expect(.text(Self.name, .begins, .string("\u{301}"), options: .ignoringDiacritics), [])
    try expect(.text(Self.name, .like, .string("?LAN"), options: [.ignoringCase, .ignoringDiacritics]), [0])
  }

  @Test func `a condition on a list holds if any value passes`() throws {
    try expect(.compare(Self.tags, .equal, .string("a")), [1, 2])
    try expect(.compare(Self.tags, .notEqual, .string("a")), [2])
    try expect(.not(.compare(Self.tags, .equal, .string("a"))), [0])
    try expect(.count(Self.tags, .less, 2), [0, 1])
    try expect(.compare(ColumnPath(links: [Self.friend], column: 4), .equal, .string("a")), [2])
    try expect(.isIn(Self.tags, []), [])
    try expect(.and([]), [0, 1, 2])
    try expect(.or([]), [])
  }

  @Test func `null and NaN have fixed places in sorts`() throws {
    #expect(try table.sorted(nil, by: [SortKey(Self.height)]) == [1, 0, 2])
    #expect(try table.sorted(nil, by: [SortKey(Self.height, ascending: false)]) == [0, 2, 1])
    #expect(try table.sorted([2, 0, 1], by: [SortKey(Self.name)]) == [1, 2, 0])
    #expect(try table.sorted(nil, by: [SortKey(Self.name, ascending: false)]) == [0, 2, 1])
    #expect(try table.distinct([2, 1, 0], by: [Self.height]) == [2, 1])
  }

  @Test func `sums report overflow, and an average of no values is null`() throws {
    #expect(try table.sum(1, of: Array(repeating: 0, count: 2000)) == .overflow)
    #expect(try table.sum(1, of: [2, 2, 1, 77]) == .integer(4))
    #expect(try table.sum(2, of: [1]) == .double(0))
    #expect(try table.average(2, of: [1]) == .null)
    #expect(try table.minimum(1, of: [1]) == .null)
    #expect(try table.maximum(1, of: nil) == .int(9_007_199_254_740_993))
  }
}
