import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Transactions are recorded on one database. The changes are applied to another database, undone there, and applied
/// again.
@Suite struct RecordedChangesTests {
  /// A value with the ids of the lists and maps in it. The equality of values ignores these ids.
  private struct Cell: Equatable {
    let value: Value
    var ids: [UInt64] = []

    init(_ value: Value) {
      self.value = value
      collect(value)
    }

    private mutating func collect(_ value: Value) {
      guard let elements = value.elements else { return }
      ids.append(value.nestedID)
      for element in elements { collect(element) }
    }
  }

  private typealias Tables = [String: [UInt64: [Cell]]]

  /// The rows of all tables.
  private static func content(_ snapshot: Snapshot) throws -> Tables {
    var content: Tables = [:]
    for schema in try snapshot.schemas() {
      guard let table = try snapshot.table(schema.name) else { continue }
      var rows: [UInt64: [Cell]] = [:]
      try table.forEach { key, values in
        rows[key] = values.map { Cell($0) }
        return true
      }
      content[schema.name] = rows
    }
    return content
  }

  private static func differences(_ left: Tables, _ right: Tables) -> String? {
    for name in Set(left.keys).union(right.keys).sorted() {
      let (before, after) = (left[name] ?? [:], right[name] ?? [:])
      for key in Set(before.keys).union(after.keys).sorted() where before[key] != after[key] {
        guard let old = before[key], let new = after[key] else {
          return "\(name) \(key) is \(before[key] == nil ? "there" : "missing")"
        }
        let cells = zip(old, new).enumerated().filter { $0.element.0 != $0.element.1 }
        return "\(name) \(key): "
          + cells.map { "\($0.offset): \("\($0.element.0)".prefix(300)) / \("\($0.element.1)".prefix(300))" }
          .joined(separator: "; ")
      }
    }
    return nil
  }

  /// Counts of what the tests saw, for the printed summary.
  private struct Figures {
    var transactions = 0
    var kinds: [RowChange.Name: Int] = [:]
    var derived = 0

    mutating func add(_ changes: [RecordedChange]) {
      transactions += 1
      for change in changes {
        kinds[change.change.name, default: 0] += 1
        if change.isDerived { derived += 1 }
      }
    }

    var description: String {
      let kinds = kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
      return "\(transactions) transactions, \(derived) derived changes; " + kinds.joined(separator: ", ")
    }
  }

  /// Applies the recorded changes to a database with the same content as the first one had, undoes them, and applies
  /// them again. Returns the first difference.
  private static func follow(
    _ list: ChangeList, from before: Snapshot, to after: Snapshot, in other: Database, checks: Bool
  ) throws -> String? {
    let (old, new) = (try content(before), try content(after))
    let changes = list.changes.map(\.change)
    for round in 0..<2 {
      try other.write { try $0.apply(changes) }
      if let wrong = differences(new, try content(other.snapshot())) {
        return "applied, round \(round): \(wrong)"
      }
      if checks {
        let check = IntegrityCheck.run(try other.snapshot())
        guard check.isClean else { return "applied: \(check.findings)" }
      }
      guard round == 0 else { return nil }
      try other.write { try $0.apply(list.inverse) }
      var undone = try content(other.snapshot())
      // Added tables and columns stay.
      for name in undone.keys where old[name] == nil && undone[name]?.isEmpty == true { undone[name] = nil }
      for (name, rows) in old {
        guard let columns = rows.first?.value.count else { continue }
        undone[name] = undone[name]?.mapValues { Array($0.prefix(columns)) }
      }
      if let wrong = differences(old, undone) { return "undone: \(wrong)" }
      if checks {
        let check = IntegrityCheck.run(try other.snapshot())
        guard check.isClean else { return "undone: \(check.findings)" }
      }
      // A created table still exists, so creating it again would not fit.
      if changes.contains(where: { $0.name == .createTable || $0.name == .addColumn }) {
        let rows = changes.filter { $0.name != .createTable && $0.name != .addColumn }
        try other.write { try $0.apply(rows) }
        return differences(new, try content(other.snapshot())).map { "made again: \($0)" }
      }
    }
    return nil
  }

  private static func pair(
    _ key: [UInt8]?, clusterRows: Int, _ body: (Database, Database) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      var options = DatabaseOptions(encryptionKey: key)
      options.clusterRows = clusterRows
      try body(
        try Database(path: path, options: options), try Database(path: path + "2", options: options))
    }
  }

  @Test(arguments: [nil, Keys.first], [false, true])
  func `changes of columns of every kind are applied and undone`(key: [UInt8]?, isTakenApart: Bool) throws {
    var figures = Figures()
    for seed in Slow.seeds(4, slow: 60) {
      try Self.pair(key, clusterRows: seed % 3 == 0 ? 8 : 512) { database, other in
        var generator = SeededGenerator(seed: seed)
        var model = TableModel()
        for round in 0..<14 {
          let before = try database.snapshot()
          let list = ChangeList(takesRowsApart: isTakenApart)
          try database.write { transaction in
            try transaction.record(into: list)
            let table: WritableTable
            if round == 0 {
              table = try transaction.createTable(
                TableSchema(TableModel.name, columns: TableModel.everything))
            } else {
              table = try #require(try transaction.table(TableModel.name))
            }
            for _ in 0..<generator.below(round % 3 == 0 ? 60 : 12) {
              #expect(try model.change(table, &generator) == nil, "seed \(seed)")
              if generator.chance(10) {
                _ = try table.changeIntegers(column("int64", table)) { $0 &+ 3 }
              }
            }
          }
          // The model does not know the result of this change, so it reads the values from the table.
          try read(&model, database)
          let wrong = try Self.follow(
            list, from: before, to: database.snapshot(), in: other, checks: round % 5 == 4)
          #expect(wrong == nil, "seed \(seed), transaction \(round)")
          guard wrong == nil else { return }
          let table = try #require(try other.snapshot().table(TableModel.name))
          #expect(try model.difference(to: table, &generator) == nil, "seed \(seed), transaction \(round)")
          figures.add(list.changes)
        }
      }
    }
    print("recorded changes of one table: \(figures.description)")
  }

  private func column(_ name: String, _ table: WritableTable) -> Int {
    table.schema.columns.firstIndex { $0.name == name } ?? 0
  }

  private func read(_ model: inout TableModel, _ database: Database) throws {
    guard let table = try database.snapshot().table(TableModel.name) else { return }
    for column in table.schema.columns where column.name == "int64" {
      for key in model.rows.keys { model.rows[key]?["int64"] = try table.value(column, ofRow: key) }
    }
  }

  @Test(arguments: [nil, Keys.first], [false, true])
  func `changes of objects with links and embedded objects are applied and undone`(
    key: [UInt8]?, isTakenApart: Bool
  ) throws {
    var figures = Figures()
    for seed in Slow.seeds(6, slow: 200) {
      try Self.pair(key, clusterRows: seed % 3 == 0 ? 8 : 512) { database, other in
        var generator = SeededGenerator(seed: seed)
        for round in 0..<20 {
          let before = try database.snapshot()
          let list = ChangeList(takesRowsApart: isTakenApart)
          try database.write { transaction in
            try transaction.record(into: list)
            if round == 0 { try Family.make(transaction) }
            if round == 9 {
              try transaction.table(Family.person)?.addColumn(Column("motto", .string, index: .plain))
              try transaction.createTable(TableSchema("Later", columns: [Column("person", .link, target: 1)]))
            }
            let family = try Family(transaction)
            for _ in 0..<generator.below(25) { try family.change(&generator) }
          }
          let wrong = try Self.follow(
            list, from: before, to: database.snapshot(), in: other, checks: round % 4 == 3)
          #expect(wrong == nil, "seed \(seed), transaction \(round)")
          guard wrong == nil else { return }
          figures.add(list.changes)
        }
      }
    }
    print("recorded changes of linked objects: \(figures.description)")
  }

  @Test(arguments: [nil, Keys.first], [false, true])
  func `ids of elements and links to missing rows are applied and undone`(
    key: [UInt8]?, isTakenApart: Bool
  ) throws {
    var figures = Figures()
    for seed in Slow.seeds(8, slow: 400) {
      try Self.pair(key, clusterRows: seed % 3 == 0 ? 8 : 512) { database, other in
        var generator = SeededGenerator(seed: seed)
        var model = CompanionModel()
        for round in 0..<20 {
          let before = try database.snapshot()
          let list = model.recorder(takesRowsApart: isTakenApart)
          try database.write { transaction in
            try transaction.record(into: list)
            if round == 0 { try transaction.createTable(CompanionModel.schema) }
            let table = try #require(try transaction.table(CompanionModel.name))
            for _ in 0..<(round == 0 ? 12 : generator.below(20)) { try model.change(table, &generator) }
          }
          let after = try database.snapshot()
          let table = try #require(try after.table(CompanionModel.name))
          let context = "seed \(seed), transaction \(round)"
          let difference = try model.difference(to: table)
          #expect(difference == nil, "\(context)")
          let check = IntegrityCheck.run(after)
          #expect(check.isClean, "\(context): \(check.findings)")
          let wrong = try Self.follow(list, from: before, to: after, in: other, checks: true)
          #expect(wrong == nil, "\(context)")
          guard wrong == nil, check.isClean, difference == nil else { return }
          figures.add(list.changes)
        }
      }
    }
    print("recorded changes of lists with ids: \(figures.description)")
  }
}
