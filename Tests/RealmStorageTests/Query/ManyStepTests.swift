import RealmStorage
import RealmTestSupport
import Testing

/// Paths of many steps over lists that link in circles. There are three rows, and more ways than a search can follow
/// one by one.
@Suite struct ManyStepTests {
  private enum Position {
    static let number = 0
    static let next = 1
    static let real = 2
    static let any = 3
    static let friend = 4
  }

  private let table: Table

  init() throws {
    let database = try Database(inMemory: "circle")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Node",
          columns: [
            Column("number", .int64), Column("next", .link, collection: .list), Column("real", .double),
            Column("any", .mixed, isOptional: true), Column("friend", .link),
          ]))
      let id = table.schema.id
      for row in 0..<3 {
        try table.insert([
          "number": .int(Int64(row + 1)), "real": .double(Double(row + 1) / 2), "next": .list([]),
        ])
      }
      for row in 0..<3 {
        try table.set(.list([.link(0), .link(1), .link(2)]), "next", ofRow: UInt64(row))
        try table.set(.link(UInt64((row + 1) % 3)), "friend", ofRow: UInt64(row))
        try table.set(
          .list([.typedLink(table: id, row: 0), .typedLink(table: id, row: UInt64(row))]), "any",
          ofRow: UInt64(row))
      }
      // This row has no links.
      try table.insert(["number": .int(9), "real": .double(9), "next": .list([])])
    }
    table = try #require(try database.snapshot().table("Node"))
  }

  private func rows(
    _ steps: [ValuePath.Step], _ end: ValuePath.End, _ quantifier: Relation.Quantifier? = nil,
    _ comparison: Comparison, _ value: Value
  ) throws -> [UInt64] {
    let relation = Relation(
      .init(.path(ValuePath(steps, end)), quantifier), .compare(comparison), .init(.constant(value)))
    return try table.rows(where: .relation(relation))
  }

  private let circle: [UInt64] = [0, 1, 2]

  private func steps(_ count: Int, back: Bool) -> [ValuePath.Step] {
    let column = table.schema.columns[Position.next].id
    return Array(
      repeating: back ? .backlinks(table: table.schema.id, column: column) : .links(Position.next),
      count: count)
  }

  @Test(arguments: [false, true]) func `a condition on values behind forty steps finds matching rows`(
    back: Bool
  ) throws {
    let steps = steps(40, back: back)
    let number = ValuePath.End.value(Position.number)
    #expect(try rows(steps, number, .any, .equal, .int(2)) == circle)
    #expect(try rows(steps, number, .any, .equal, .int(9)) == [])
    #expect(try rows(steps, number, .all, .lessOrEqual, .int(3)) == circle + [3])
    #expect(try rows(steps, number, .all, .less, .int(3)) == [3])
    #expect(try rows(steps, number, Relation.Quantifier.none, .equal, .int(9)) == circle + [3])
    #expect(try rows(steps, number, nil, .greater, .int(2)) == circle)
    #expect(try rows(steps, .row, .any, .equal, .link(2)) == circle)
    #expect(try rows(steps, .rowCount(steps), .any, .greater, .int(0)) == circle)
    if !back {
      let path = ColumnPath(links: Array(repeating: Position.next, count: 40), column: Position.number)
      #expect(try table.rows(where: .compare(path, .equal, .int(3))) == circle)
      #expect(try table.rows(where: .compare(path, .equal, .int(9))) == [])
    }
    // A computation with a constant gives the same value on each way, so each value need be computed only once.
    let sum = Expression.computed([
      .path(ValuePath(steps, number)), .constant(.int(10)), .arithmetic(.plus),
    ])
    #expect(
      try table.rows(
        where: .relation(Relation(.init(sum), .compare(.equal), .init(.constant(.int(13)))))) == circle)
  }

  @Test
  func `sums and averages over more ways than 64 bits can count are in range and do not trap`()
    throws
  {
    let column = Position.number
    for count in 38...63 {
      let steps = steps(count, back: false)
      let end = ValuePath.End.aggregate(.average, steps, of: .value(column))
      #expect(try rows([], end, nil, .greaterOrEqual, .double(1)) == circle, "\(count) steps")
      #expect(try rows([], end, nil, .lessOrEqual, .double(3)) == circle, "\(count) steps")
      let sum = ValuePath.End.aggregate(.sum, steps, of: .value(column))
      #expect(try rows([], sum, nil, .greater, .int(1 << 40)) == circle, "\(count) steps")
    }
  }

  @Test(arguments: [false, true]) func `row counts and sums count a row once for each way to it`(back: Bool)
    throws
  {
    let steps = steps(39, back: back)
    // 3 to the power of 38.
    let third: Int64 = 1_350_851_717_672_992_089
    #expect(try rows([], .rowCount(steps), nil, .equal, .int(3 * third)) == circle)
    #expect(try rows([], .rowCount(steps), nil, .equal, .int(0)) == [3])
    #expect(try rows([], .rowCount(steps + steps.prefix(20)), nil, .equal, .int(.max)) == circle)
    let isMore = Predicate.compare(ColumnPath(Position.number), .greater, .int(1))
    #expect(try rows([], .subquery(steps, isMore), nil, .equal, .int(2 * third)) == circle)
    func aggregate(_ aggregate: PathAggregate, _ column: Int, _ count: Int) -> ValuePath.End {
      .aggregate(aggregate, self.steps(count, back: back), of: .value(column))
    }
    #expect(try rows([], aggregate(.sum, Position.number, 20), nil, .equal, .int(6_973_568_802)) == circle)
    #expect(try rows([], aggregate(.sum, Position.number, 39), nil, .equal, .int(6 * third)) == circle)
    // A sum beyond 64 bits is a double.
    let double = Value.double(6 * Double(3 * third))
    #expect(try rows([], aggregate(.sum, Position.number, 40), nil, .equal, double) == circle)
    #expect(
      try rows([], aggregate(.sum, Position.real, 39), nil, .equal, .double(3 * Double(third))) == circle)
    #expect(try rows([], aggregate(.average, Position.number, 39), nil, .equal, .double(2)) == circle)
    #expect(try rows([], aggregate(.average, Position.real, 30), nil, .equal, .double(1)) == circle)
    #expect(try rows([], aggregate(.min, Position.number, 39), nil, .equal, .int(1)) == circle)
    #expect(try rows([], aggregate(.max, Position.number, 39), nil, .equal, .int(3)) == circle)
  }

  @Test func `links in mixed values are followed once from each step`() throws {
    var inner: [ValuePath.InnerStep] = [.all]
    for _ in 0..<30 { inner += [.key("next"), .all] }
    let numbers = ValuePath.End.inner(Position.any, inner + [.key("number")])
    #expect(try rows([], numbers, .any, .equal, .int(2)) == circle)
    #expect(try rows([], numbers, .any, .equal, .int(9)) == [])
    #expect(try rows([], numbers, .all, .lessOrEqual, .int(3)).starts(with: circle))
  }

  @Test func `a comparison that must follow each way ends at its deadline`() throws {
    let path = ValuePath(steps(40, back: false), .value(Position.number))
    // Two sequences of values are compared place by place.
    let relation = Relation(.init(.path(path)), .compare(.equal), .init(.path(path)))
    let plan = RowPlan(table: table.schema.id, predicate: .relation(relation))
    let bounds = QueryBounds(deadline: .now + .milliseconds(30))
    #expect(throws: StorageError.queryDeadline(path: "circle")) {
      try RowSearch(plan, in: table, within: bounds).rows()
    }
    let short = ValuePath(steps(3, back: false), .value(Position.number))
    let same = Relation(.init(.path(short)), .compare(.equal), .init(.path(short)))
    #expect(try table.rows(where: .relation(same)) == circle + [3])
    // Nine numbers stand behind two steps, and 27 behind three steps.
    let other = ValuePath(steps(2, back: false), .value(Position.number))
    let differs = Relation(.init(.path(short)), .compare(.equal), .init(.path(other)))
    #expect(try table.rows(where: .relation(differs)) == [3])
  }
}
