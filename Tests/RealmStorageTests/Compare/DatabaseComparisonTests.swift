import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Comparisons of the objects of two databases.
@Suite struct DatabaseComparisonTests {
  // MARK: - Objects with primary keys

  /// The differences that the comparison finds, as texts of the kind, the table, the key and the columns that differ.
  private func found(
    from old: Snapshot, to new: Snapshot, tables: [String]? = nil, tellsValues: Bool = true
  ) throws -> [String] {
    var found: [String] = []
    try DatabaseComparison(from: old, to: new, tables: tables).forEachRow(tellsValues: tellsValues) {
      let names = $0.kind == .changed ? $0.cells.map(\.column.name).sorted() : []
      for cell in $0.cells where $0.kind == .changed { #expect(cell.old != cell.new) }
      found.append("\($0.kind) \($0.table) \($0.identity) \(names)")
      return true
    }
    return found.sorted()
  }

  private func expected(from old: ObjectModel, to new: ObjectModel, tellsValues: Bool = true) -> [String] {
    var expected: [String] = []
    for (table, before, after) in [("Person", old.people, new.people), ("Pet", old.pets, new.pets)] {
      for key in Set(before.keys).union(after.keys) {
        let identity = RowDifference.Identity.primaryKey(key)
        switch (before[key], after[key]) {
        case (let one?, let other?) where one != other:
          let names = tellsValues ? one.keys.filter { one[$0] != other[$0] }.sorted() : []
          expected.append("changed \(table) \(identity) \(names)")
        case (_?, nil): expected.append("removed \(table) \(identity) []")
        case (nil, _?): expected.append("added \(table) \(identity) []")
        default: break
        }
      }
    }
    return expected.sorted()
  }

  private func database(
    _ model: ObjectModel, isOrdered: Bool, _ generator: inout SeededGenerator
  ) throws -> Database {
    var options = Database.Options(encryptionKey: generator.chance(30) ? Keys.first : nil)
    options.clusterRows = [512, 8, 40][generator.below(3)]
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      try ObjectModel.makeTables(transaction, &generator)
      try model.store(in: transaction, isOrdered: isOrdered, &generator)
    }
    return database
  }

  @Test(arguments: Slow.seeds(16, slow: 400))
  func `objects of two files are paired by their primary keys`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var old = ObjectModel()
    old.addRandom(60, &generator)
    var new = old
    if seed % 4 != 0 { new.change(&generator) }
    let isOrdered = seed % 2 == 0
    let older = try database(old, isOrdered: isOrdered, &generator).snapshot()
    let newer = try database(new, isOrdered: isOrdered, &generator).snapshot()
    let expected = expected(from: old, to: new)
    #expect(try found(from: older, to: newer) == expected, "seed \(seed)")
    #expect(expected.isEmpty == (seed % 4 == 0))
    #expect(try found(from: newer, to: older) == self.expected(from: new, to: old), "seed \(seed)")
    #expect(
      try found(from: older, to: newer, tables: ["Pet"]) == expected.filter { $0.contains(" Pet ") })
    #expect(
      try found(from: older, to: newer, tellsValues: false)
        == self.expected(from: old, to: new, tellsValues: false))
  }

  @Test(arguments: Slow.seeds(16, slow: 400))
  func `versions of one file differ as two files do`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var model = ObjectModel()
    model.addRandom(60, &generator)
    let database = try database(model, isOrdered: seed % 2 == 0, &generator)
    var held = [(try database.snapshot(), model)]
    for _ in 0..<3 {
      if generator.chance(80) { model.change(&generator) }
      try database.write { try model.store(in: $0, isOrdered: false, &generator) }
      held.append((try database.snapshot(), model))
    }
    for (first, old) in held.enumerated() {
      for (second, new) in held.enumerated() {
        let context = "seed \(seed), from \(first) to \(second)"
        #expect(try found(from: old.0, to: new.0) == expected(from: old.1, to: new.1), "\(context)")
      }
    }
  }

  @Test func `objects that exchanged their values differ, even if both files store the same columns`() throws
  {
    func snapshot(_ ids: [Int64]) throws -> Snapshot {
      let database = try Database(creatingIn: SimulatedDisk(), options: .init())
      try database.write { transaction in
        let table = try transaction.createTable(
          TableSchema(
            "Thing",
            columns: [Column("id", .int64, index: .unique), Column("n", .int64), Column("d", .double)]))
        for (place, id) in ids.enumerated() {
          try table.insert(["id": .int(id), "n": .int(Int64(place)), "d": .double(Double(place))])
        }
      }
      return try database.snapshot()
    }
    #expect(
      try found(from: snapshot([1, 2, 3]), to: snapshot([2, 1, 3]))
        == [1, 2].map { "changed Thing primaryKey(RealmStorage.Value.int(\($0))) [\"d\", \"n\"]" })
  }

  // MARK: - Objects without primary keys

  private static let notes = TableSchema(
    "Note",
    columns: [Column("text", .string), Column("n", .int64), Column("all", .double, collection: .list)])

  private static func note(_ number: Int) -> [String: Value] {
    [
      "text": .string("text \(number % 5)"), "n": .int(Int64(number)),
      "all": .list([.double(Double(number))]),
    ]
  }

  private func notes(_ numbers: [Int], clusterRows: Int) throws -> Snapshot {
    var options = Database.Options()
    options.clusterRows = clusterRows
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      let table = try transaction.createTable(Self.notes)
      for number in numbers { try table.insert(Self.note(number)) }
    }
    return try database.snapshot()
  }

  @Test(arguments: Slow.seeds(8, slow: 200))
  func `objects of two files without a primary key are paired by their values, each as often as it occurs`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let old = (0..<120).map { _ in generator.below(40) }
    var new = old
    if seed % 2 == 0 { new.shuffle(using: &generator) }
    if seed % 4 != 0 {
      for _ in 0..<10 { new.remove(at: generator.below(new.count)) }
      for _ in 0..<10 { new.insert(generator.below(60), at: generator.below(new.count)) }
    }
    var counts: [Int: Int] = [:]
    for number in old { counts[number, default: 0] += 1 }
    for number in new { counts[number, default: 0] -= 1 }
    var found: [Int: Int] = [:]
    let comparison = try DatabaseComparison(
      from: notes(old, clusterRows: 8), to: notes(new, clusterRows: 40))
    try comparison.forEachRow { difference in
      #expect(difference.kind != .changed)
      let cell = difference.cells[1]
      guard case .value(.int(let number))? = cell.old ?? cell.new else { return false }
      found[Int(number), default: 0] += difference.kind == .removed ? 1 : -1
      return true
    }
    #expect(found == counts.filter { $0.value != 0 }, "seed \(seed)")
  }

  @Test func `objects without a primary key in a file and in its earlier state are paired by their rows`()
    throws
  {
    try withTemporaryPath { path in
      let copy = path + "-copy.realm"
      do {
        let database = try Database(path: path)
        try database.write { transaction in
          let table = try transaction.createTable(Self.notes)
          for number in 0..<1000 { try table.insert(Self.note(number)) }
        }
      }
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      let database = try Database(path: path)
      try database.write { transaction in
        let table = try #require(try transaction.table("Note"))
        try table.set(.int(-1), "n", ofRow: 700)
        try table.remove(3)
        try table.insert(Self.note(5))
      }
      let earlier = try Database(path: copy, options: .init(isReadOnly: true)).snapshot()
      let lines = try found(from: earlier, to: database.snapshot())
      #expect(
        lines == [
          "added Note row(1000) []", "changed Note row(700) [\"n\"]", "removed Note row(3) []",
        ])
    }
  }

  // MARK: - Schemas

  @Test func `schemas are compared by names, and columns of another type are not compared`() throws {
    func snapshot(_ isNew: Bool) throws -> Snapshot {
      let database = try Database(creatingIn: SimulatedDisk(), options: .init())
      try database.write { transaction in
        if isNew { try transaction.createTable(TableSchema("New", columns: [Column("a", .int64)])) }
        let other = try transaction.createTable(
          TableSchema(isNew ? "Other" : "Gone", isEmbedded: false, columns: [Column("a", .int64)]))
        let same = [
          Column("id", .int64, index: .unique), Column("plain", .int64, index: isNew ? .plain : .none),
        ]
        let old = [Column("gone", .bool), Column("type", .int64), Column("null", .int64)]
        let new = [
          Column("type", .string), Column("null", .int64, isOptional: true), Column("added", .bool),
        ]
        let table = try transaction.createTable(
          TableSchema(
            "Thing",
            columns: (isNew ? new + same : same + old)
              + [Column("link", .link, target: other.schema.id)]))
        for number in 0..<20 as Range<Int64> {
          let type = isNew ? Value.string("x") : .int(5)
          try table.insert(["id": .int(number), "type": type, "null": .int(number == 7 && isNew ? 1 : 0)])
        }
        try transaction.table("New")?.insert([:])
      }
      return try database.snapshot()
    }
    let (old, new) = (try snapshot(false), try snapshot(true))
    let differences = try DatabaseComparison(from: old, to: new).schemaDifferences.map { difference in
      switch difference.change {
      case .tableAdded: "+ \(difference.table)"
      case .tableRemoved: "- \(difference.table)"
      case .embedding: "embedding"
      case .columnAdded(let column): "+ \(difference.table).\(column.name)"
      case .columnRemoved(let column): "- \(difference.table).\(column.name)"
      case .columnChanged(_, let column): "~ \(difference.table).\(column.name)"
      }
    }
    #expect(
      Set(differences) == [
        "- Gone", "- Thing.gone", "~ Thing.type", "~ Thing.null", "+ Thing.added", "~ Thing.link", "+ New",
        "+ Other",
      ])
    #expect(
      try found(from: old, to: new) == [
        "added New row(0) []", "changed Thing primaryKey(RealmStorage.Value.int(7)) [\"null\"]",
      ])
    #expect(try DatabaseComparison(from: old, to: new, tables: ["Empty"]).schemaDifferences.isEmpty)
  }

  // MARK: - Named trees

  @Test func `entries of named trees are compared`() throws {
    func snapshot(_ entries: [String: String]) throws -> Snapshot {
      let database = try Database(creatingIn: SimulatedDisk(), options: .init())
      try database.write { transaction in
        for (key, value) in entries {
          try transaction.tree("notes").set(Array(value.utf8), for: Array(key.utf8))
        }
      }
      return try database.snapshot()
    }
    let old = try snapshot(["a": "1", "b": "2", "c": "3"])
    let new = try snapshot(["b": "2", "c": "4", "d": "5"])
    var found: [TreeDifference] = []
    try DatabaseComparison(from: old, to: new).forEachTreeEntry {
      found.append($0)
      return true
    }
    func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    #expect(
      found == [
        TreeDifference(tree: "notes", key: bytes("a"), old: bytes("1"), new: nil),
        TreeDifference(tree: "notes", key: bytes("c"), old: bytes("3"), new: bytes("4")),
        TreeDifference(tree: "notes", key: bytes("d"), old: nil, new: bytes("5")),
      ])
  }

  // MARK: - Damage

  /// A file with a flipped bit is equal to the whole one, or differs, or is damaged. It never stops the program.
  @Test(arguments: [nil, Keys.first])
  func `a flipped bit causes an error or a difference, and never stops the program`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      var generator = SeededGenerator(seed: 4)
      var model = ObjectModel()
      model.addRandom(40, &generator)
      do {
        let database = try Database(path: path, options: .init(encryptionKey: key))
        try database.write { transaction in
          try ObjectModel.makeTables(transaction, &generator)
          try model.store(in: transaction, isOrdered: true, &generator)
        }
      }
      let bytes = try Data(contentsOf: URL(filePath: path))
      let whole = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true)).snapshot()
      var damaged = 0
      for _ in 0..<Slow.count(150, slow: 4000) {
        var changed = bytes
        let place = changed.startIndex + 8192 + generator.below(changed.count - 8192)
        changed[place] ^= 1 << UInt8(generator.below(8))
        let copy = path + "-flipped.realm"
        try changed.write(to: URL(filePath: copy))
        do {
          let options = Database.Options(encryptionKey: key, isReadOnly: true)
          let flipped = try Database(path: copy, options: options).snapshot()
          let lines = try found(from: whole, to: flipped) + found(from: flipped, to: whole)
          #expect(lines == [])
        } catch let error as StorageError {
          guard case .corrupted = error else {
            Issue.record("\(error)")
            continue
          }
          damaged += 1
        }
      }
      #expect(damaged > 5)
    }
  }
}
