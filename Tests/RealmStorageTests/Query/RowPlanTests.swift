import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

/// Compares what random plans find with what the plain model finds.
struct PlanCheck {
  let table: Table
  let model: QueryModel

  func run(_ sample: inout QuerySample, _ hint: String) throws {
    for _ in 0..<12 {
      let plan = plan(&sample)
      let search = RowSearch(plan, in: table)
      let expected = rows(plan)
      let hint = "\(hint): \(plan)"
      #expect(try search.rows() == expected, "\(hint)")
      #expect(try search.count() == expected.count, "\(hint)")
      #expect(try search.isEmpty() == expected.isEmpty, "\(hint)")
      #expect(try search.first() == expected.first, "\(hint)")
      let count = [0, 1, 2, 7, 100, .max][sample.generator.below(6)]
      #expect(try search.rows(first: count) == Array(expected.prefix(count)), "\(hint), first \(count)")
      let some = UInt64(sample.generator.below(200))
      #expect(try search.contains(some) == expected.contains(some), "\(hint), contains \(some)")
      if let row = expected.randomElement(using: &sample.generator) {
        #expect(try search.contains(row), "\(hint), contains \(row)")
      }
      #expect(try !search.explain().isEmpty)
    }
  }

  private func plan(_ sample: inout QuerySample) -> RowPlan {
    let id = table.schema.id
    var plan = RowPlan(table: id, source: source(&sample))
    if sample.generator.chance(60) { plan = plan.filtered(sample.predicate(id, model, depth: 1)) }
    if sample.generator.chance(20) { plan = plan.filtered(sample.predicate(id, model, depth: 1)) }
    for _ in 0..<sample.generator.below(4) {
      let paths = (0...sample.generator.below(2)).map { _ in sample.path(id, model, isMany: false) }
      switch sample.generator.below(4) {
      case 0: plan.steps.append(.sort(paths.map { SortKey($0, ascending: sample.generator.chance(50)) }))
      case 1: plan.steps.append(.distinct(paths))
      case 2: plan.steps.append(.limit(sample.generator.below(12)))
      default: plan.steps.append(.offset(sample.generator.below(6)))
      }
    }
    return plan
  }

  private func source(_ sample: inout QuerySample) -> RowPlan.Source {
    let id = table.schema.id
    if sample.generator.chance(10), let own = model.tables[id] {
      return .rows(own.keys.shuffled(using: &sample.generator))
    }
    for _ in 0..<sample.generator.below(3) {
      guard let owner = model.tables.values.randomElement(using: &sample.generator),
        let row = owner.keys.randomElement(using: &sample.generator)
      else { continue }
      let lists = owner.schema.columns.filter { $0.type == .link && $0.isCollection && $0.target == id }
      if let list = lists.randomElement(using: &sample.generator), sample.generator.chance(50) {
        return .collection(table: owner.schema.id, column: list.id, row: row)
      }
      let links = table.schema.columns.filter { $0.type == .link && $0.target == owner.schema.id }
      if let link = links.randomElement(using: &sample.generator) {
        return .backlinks(table: owner.schema.id, row: row, column: link.id)
      }
    }
    return .table
  }

  /// What the model finds.
  private func rows(_ plan: RowPlan) -> [UInt64] {
    var rows = sourceRows(plan.source).filter { model.holds(plan.predicate, plan.table, $0) }
    for step in plan.steps {
      switch step {
      case .sort(let keys): rows = model.sorted(rows, plan.table, keys)
      case .distinct(let paths): rows = model.distinct(rows, plan.table, paths)
      case .limit(let limit): rows = Array(rows.prefix(limit))
      case .offset(let offset): rows = Array(rows.dropFirst(offset))
      }
    }
    return rows
  }

  private func sourceRows(_ source: RowPlan.Source) -> [UInt64] {
    guard let own = model.tables[table.schema.id] else { return [] }
    switch source {
    case .table: return own.keys
    case .rows(let rows): return rows
    case .collection(let id, let column, let row):
      guard let owner = model.tables[id],
        let place = owner.schema.columns.firstIndex(where: { $0.id == column })
      else { return [] }
      return (owner.values[row]?[place].elements ?? []).compactMap {
        if case .link(let row) = $0 { row } else { nil }
      }
    case .backlinks(_, let row, let column):
      guard let place = own.schema.columns.firstIndex(where: { $0.id == column }) else { return [] }
      return own.keys.flatMap { key -> [UInt64] in
        let value = own.values[key]?[place] ?? .null
        let count = (value.elements ?? [value]).count { $0 == .link(row) }
        return Array(repeating: key, count: count)
      }
    }
  }
}

/// How plans are made and run.
@Suite struct RowPlanTests {
  private static func people(_ count: Int) throws -> Table {
    let database = try Database(inMemory: "people")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("age", .int64, index: .plain), Column("name", .string), Column("best", .link),
          ]))
      for number in 0..<count {
        try table.insert(["age": .int(Int64(number % 100)), "name": .string("name \(number % 7)")])
      }
    }
    return try #require(try database.snapshot().table("Person"))
  }

  private static let half = Predicate.compare(ColumnPath(1), .less, .string("name 4"))

  /// The bounds of a search are asked once for sixteen clusters.
  private final class Asked: Sendable {
    let times = Mutex(0)
    var bounds: QueryBounds {
      QueryBounds(isCancelled: {
        self.times.withLock { $0 += 1 }
        return false
      })
    }
  }

  @Test func `a search reads no more of the table than it needs`() throws {
    let table = try Self.people(60_000)
    let plan = RowPlan(table: table.schema.id, predicate: Self.half)
    let asked: [(String, (RowSearch) throws -> Void)] = [
      ("first", { _ = try $0.first() }), ("isEmpty", { _ = try $0.isEmpty() }),
      ("rows(first:)", { _ = try $0.rows(first: 100) }),
      ("contains", { _ = try $0.contains(1) }),
    ]
    for (name, body) in asked {
      let asked = Asked()
      try body(RowSearch(plan, in: table, within: asked.bounds))
      #expect(asked.times.withLock { $0 } <= 1, "\(name)")
    }
    let all = Asked()
    _ = try RowSearch(plan, in: table, within: all.bounds).rows()
    #expect(all.times.withLock { $0 } >= 7)
    let limited = Asked()
    let window = plan.adding(.offset(10)).adding(.limit(20))
    #expect(try RowSearch(window, in: table, within: limited.bounds).rows().count == 20)
    #expect(limited.times.withLock { $0 } <= 3)
  }

  @Test func `a search that is cancelled, or late, ends with an error`() throws {
    let table = try Self.people(20_000)
    let plans = [
      RowPlan(table: table.schema.id, predicate: Self.half),
      RowPlan(table: table.schema.id, steps: [.sort([SortKey(ColumnPath(1))])]),
      RowPlan(table: table.schema.id, predicate: Self.half, steps: [.distinct([ColumnPath(1)])]),
    ]
    for plan in plans {
      let late = QueryBounds(deadline: .now - .seconds(1))
      #expect(throws: StorageError.queryDeadline(path: "people")) {
        try RowSearch(plan, in: table, within: late).rows()
      }
      let cancelled = QueryBounds(isCancelled: { true })
      #expect(throws: StorageError.queryCancelled(path: "people")) {
        try RowSearch(plan, in: table, within: cancelled).rows()
      }
      let never = QueryBounds(deadline: .now + .seconds(3600), isCancelled: { false })
      #expect(try !RowSearch(plan, in: table, within: never).isEmpty())
    }
  }

  @Test func `a count by a range of numbers that is cancelled, or late, ends with an error`() throws {
    let database = try Database(inMemory: "people")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: [Column("age", .int64)]))
      for number in 0..<Int64(20_000) { try table.insert(["age": .int(number)]) }
    }
    let table = try #require(try database.snapshot().table("Person"))
    let plan = RowPlan(
      table: table.schema.id, predicate: .between(ColumnPath(0), .int(10), .int(19_000)))
    let late = QueryBounds(deadline: .now - .seconds(1))
    #expect(throws: StorageError.queryDeadline(path: "people")) {
      try RowSearch(plan, in: table, within: late).count()
    }
    let cancelled = QueryBounds(isCancelled: { true })
    #expect(throws: StorageError.queryCancelled(path: "people")) {
      try RowSearch(plan, in: table, within: cancelled).count()
    }
    let never = QueryBounds(deadline: .now + .seconds(3600), isCancelled: { false })
    #expect(try RowSearch(plan, in: table, within: never).count() == 18_991)
  }

  @Test func `a plan says in words how its rows are found`() throws {
    let table = try Self.people(10_000)
    let plan = RowPlan(table: table.schema.id, predicate: .compare(ColumnPath(0), .equal, .int(7)))
      .adding(.sort([SortKey(ColumnPath(links: [2], column: 1)), SortKey(ColumnPath(0), ascending: false)]))
      .adding(.distinct([ColumnPath(1)])).adding(.offset(2)).adding(.limit(3))
    #expect(
      try RowSearch(plan, in: table).explain() == """
        Person, 10000 rows: finds 100 by the index of age
        sorts by best.name, age descending
        leaves the first of each group with the same name
        passes over the first 2
        takes the first 3
        """)
    let joined = plan.filtered(Self.half)
    #expect(
      try RowSearch(joined, in: table).explain().hasPrefix(
        "Person, 10000 rows: looks at the 100 that the index of age finds\n"))
    let linking = RowPlan(
      table: table.schema.id, source: .backlinks(table: table.schema.id, row: 5, column: 3),
      predicate: Self.half,
      steps: [.sort([SortKey(ColumnPath(0))]), .limit(1)])
    #expect(
      try RowSearch(linking, in: table).explain() == """
        Person: takes the rows that link to row 5 of Person by best
        looks at each of these
        puts the first of them in order by age
        takes the first 1
        """)
  }

  @Test(arguments: [nil, Keys.first]) func `the first rows by an index are those of a sort`(key: [UInt8]?)
    throws
  {
    var generator = SeededGenerator(seed: 11)
    let database = try Database(creatingIn: SimulatedDisk(), options: .init(encryptionKey: key))
    let long = String(repeating: "long ", count: 60)
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Thing",
          columns: [
            Column("id", .int64, index: .unique), Column("few", .int64, isOptional: true, index: .plain),
            Column("text", .string, isOptional: true, index: .plain), Column("date", .date, index: .plain),
            Column("uuid", .uuid, index: .plain), Column("number", .int64),
          ]))
      for row in 0..<3000 {
        let number = generator.below(1000)
        try table.insert([
          "id": .int(Int64((row * 7919) % 3001)), "few": number < 100 ? .null : .int(Int64(number % 300)),
          "text": number % 5 == 0 ? .null : .string((number % 2 == 0 ? long : "a\0") + "\(number % 400)"),
          "date": .date(Timestamp(seconds: Int64(number) - 500, nanoseconds: Int32(row % 3))),
          "uuid": .uuid(SixteenBytes(generator.bytes(16))), "number": .int(Int64(row % 10)),
        ])
      }
      for row in 0..<3000 where generator.chance(5) { try table.remove(UInt64(row)) }
    }
    let table = try #require(try database.snapshot().table("Thing"))
    let rare = Predicate.compare(ColumnPath(5), .equal, .int(3))
    for column in 0..<5 {
      for ascending in [true, false] {
        for keys in [
          [SortKey(ColumnPath(column), ascending: ascending)],
          [SortKey(ColumnPath(column), ascending: ascending), SortKey(ColumnPath(5), ascending: false)],
        ] {
          for predicate in [Predicate.always, rare, .never] {
            let plan = RowPlan(table: table.schema.id, predicate: predicate, steps: [.sort(keys)])
            let search = RowSearch(plan, in: table)
            let all = try table.sorted(table.rows(where: predicate), by: keys)
            for count in [1, 3, 20, 150, 1000] {
              #expect(try search.rows(first: count) == Array(all.prefix(count)), "\(plan), \(count)")
            }
          }
        }
      }
    }
    let plan = RowPlan(table: table.schema.id).adding(.sort([SortKey(ColumnPath(1))])).adding(.limit(5))
    #expect(
      try RowSearch(plan, in: table).explain().contains("by the index of few where that finds them soon"))
  }

  @Test func `sorts of sorted plans are one sort, and conditions one condition`() {
    let (first, second) = (SortKey(ColumnPath(0)), SortKey(ColumnPath(1), ascending: false))
    let plan = RowPlan(table: 1).adding(.sort([first])).adding(.sort([second]))
    #expect(plan.steps == [.sort([second, first])])
    #expect(RowPlan(table: 1).filtered(.always) == RowPlan(table: 1))
    #expect(plan.filtered(Self.half).filtered(.never).predicate == .and([Self.half, .never]))
    #expect(Set([plan, plan.filtered(.always)]).count == 1)
  }
}
