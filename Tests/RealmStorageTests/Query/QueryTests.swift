import RealmStorage
import RealmTestSupport
import Testing

@Suite struct QueryTests {
  @Test(arguments: Slow.seeds(2, slow: 20), [nil, Keys.first])
  func `random queries find the same rows as a look at each row`(seed: UInt64, key: [UInt8]?) throws {
    var sample = QuerySample(generator: SeededGenerator(seed: seed))
    let options = Database.Options(encryptionKey: key)
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      let others = try transaction.createTable(TableSchema("Others", columns: sample.columns(target: 0)))
      let things = TableSchema("Things", columns: sample.columns(target: others.schema.id))
      try transaction.createTable(things)
    }
    for round in 0..<2 {
      let transaction = try database.beginWrite()
      try change(transaction, &sample, rows: [seed == 0 ? Slow.count(80, slow: 400) : 40, 20][round])
      if round == 1 { try addColumn(transaction, &sample) }
      let others = try #require(try transaction.table("Others"))
      let things = try #require(try transaction.table("Things"))
      try expect(
        [others.reading(), things.reading()], &sample, "seed \(seed) round \(round) in the transaction")
      try transaction.commit()
      let snapshot = try database.snapshot()
      let stored = (try #require(try snapshot.table("Others")), try #require(try snapshot.table("Things")))
      try expect([stored.0, stored.1], &sample, "seed \(seed) round \(round)")
    }
  }

  private func change(_ transaction: WriteTransaction, _ sample: inout QuerySample, rows: Int) throws {
    for name in ["Others", "Things"] {
      let table = try #require(try transaction.table(name))
      var keys: [UInt64] = []
      var others: [UInt64] = []
      if let other = try transaction.table("Others") { others = try other.reading().rows(where: .always) }
      let count = name == "Things" ? 2 * rows : rows / 2
      let first = try table.reading().count * 100
      for row in 0..<count {
        let number = first + row
        let key = try table.insert { (new: inout NewRow) throws(StorageError) in
          for (position, column) in table.schema.columns.enumerated() {
            let targets = column.target == table.schema.id ? keys : others
            try new.set(position, sample.value(column, linking: targets, row: number))
          }
        }
        keys.append(key)
      }
      for key in keys where sample.generator.chance(10) { try table.remove(key) }
    }
  }

  private func addColumn(_ transaction: WriteTransaction, _ sample: inout QuerySample) throws {
    let table = try #require(try transaction.table("Things"))
    let types = ColumnType.allCases.filter { $0 != .link && $0 != .mixed }
    for type in types {
      let isOptional = sample.generator.chance(50)
      let some = sample.value(type)
      let stored = sample.generator.chance(50) && Column("", type).canStoreDefault(some) ? some : nil
      let index: ColumnIndex = type.canHave(.plain) && sample.generator.chance(20) ? .plain : .none
      try table.addColumn(
        Column("late \(type)", type, isOptional: isOptional, index: index, storedDefault: stored))
    }
    let key = try table.insert(table.schema.primaryKey == nil ? [:] : ["id": .int(-1)])
    #expect(try table.set(.string("b"), "late string", ofRow: key))
    for type in types where sample.generator.chance(50) {
      let position = try #require(table.schema.columns.firstIndex { $0.name == "late \(type)" })
      let some = sample.value(type)
      let value = sample.generator.chance(50) && Column("", type).canStoreDefault(some) ? some : nil
      let isOptional = table.schema.columns[position].isOptional
      try table.setOptional(!isOptional, ofColumn: position, nullsBecome: value)
    }
    if sample.generator.chance(50) {
      try table.dropColumn(sample.generator.below(table.schema.columns.count))
    }
  }

  private func expect(_ tables: [Table], _ sample: inout QuerySample, _ hint: String) throws {
    let model = try QueryModel(tables)
    for table in tables {
      let keys = try #require(model.tables[table.schema.id]).keys
      for _ in 0..<25 {
        let predicate = sample.predicate(table.schema.id, model)
        let expected = keys.filter { model.holds(predicate, table.schema.id, $0) }
        #expect(try table.rows(where: predicate) == expected, "\(hint): \(predicate)")
        #expect(try table.count(where: predicate) == expected.count, "\(hint): \(predicate)")
        let some = (0..<10).map { _ in UInt64(sample.generator.below(keys.count * 2)) }
        #expect(
          try table.rows(some, where: predicate) == some.filter(expected.contains), "\(hint): \(predicate)")
        if let key = keys.randomElement(using: &sample.generator) {
          let holds = try table.contains(row: key, where: predicate)
          #expect(holds == expected.contains(key), "\(hint): \(predicate)")
        }
      }
      try expectSorts(table, model, keys, &sample, hint)
      try PlanCheck(table: table, model: model).run(&sample, hint)
      try AggregateCheck(table: table, model: model).run(&sample, hint)
    }
  }

  private func expectSorts(
    _ table: Table, _ model: QueryModel, _ keys: [UInt64], _ sample: inout QuerySample, _ hint: String
  ) throws {
    for round in 0..<(keys.count > 500 ? 12 : 4) {
      let paths = (0...sample.generator.below(3)).map { _ in
        sample.path(table.schema.id, model, isMany: false)
      }
      let sortKeys = paths.map { SortKey($0, ascending: sample.generator.chance(50)) }
      let some = keys.filter { _ in sample.generator.chance(round % 8 == 1 ? 90 : 20) }.shuffled(
        using: &sample.generator)
      let sorted = model.sorted(round % 4 == 0 ? keys : some, table.schema.id, sortKeys)
      #expect(try table.sorted(round % 4 == 0 ? nil : some, by: sortKeys) == sorted, "\(hint): \(sortKeys)")
      let limit = [0, 1, 3, 10, 50, .max][sample.generator.below(6)]
      #expect(
        try table.sorted(round % 4 == 0 ? nil : some, by: sortKeys, limit: limit)
          == Array(sorted.prefix(limit)),
        "\(hint): \(sortKeys) limit \(limit)")
      let distinct = model.distinct(some, table.schema.id, paths)
      #expect(try table.distinct(some, by: paths) == distinct, "\(hint): \(paths)")
    }
  }
}

/// Compares aggregates and typed reads of each column with the values of the model.
struct AggregateCheck {
  let table: Table
  let model: QueryModel

  func run(_ sample: inout QuerySample, _ hint: String) throws {
    let rows = try #require(model.tables[table.schema.id])
    for (position, column) in rows.schema.columns.enumerated() where !column.isCollection {
      let some = rows.keys.filter { _ in sample.generator.chance(30) } + rows.keys.prefix(3)
      let hint = "\(hint): \(column.name)"
      for given in [nil, some, []] {
        let values = (given ?? rows.keys).map { rows.values[$0]![position] }
        switch column.type {
        case .int64: try checkIntegers(position, given, values, hint)
        case .float, .double: try checkReals(position, given, values, hint)
        case .decimal128, .date: try checkExtremes(position, given, values, hint)
        default: break
        }
      }
      for key in rows.keys.prefix(50) { try checkRead(position, key, rows.values[key]![position], hint) }
    }
  }

  private func checkIntegers(_ column: Int, _ given: [UInt64]?, _ values: [Value], _ hint: String) throws {
    let numbers = values.compactMap { if case .int(let number) = $0 { Int128(number) } else { nil } }
    let sum = numbers.reduce(0, +)
    #expect(
      try table.sum(column, of: given) == (Int64(exactly: sum).map { .integer($0) } ?? .overflow), "\(hint)")
    let average: Value = numbers.isEmpty ? .null : .double(Double(sum) / Double(numbers.count))
    #expect(try table.average(column, of: given) == average, "\(hint)")
    try checkExtremes(column, given, values, hint)
  }

  private func checkReals(_ column: Int, _ given: [UInt64]?, _ values: [Value], _ hint: String) throws {
    let numbers: [Double] = values.compactMap {
      switch $0 {
      case .float(let number): number.isNaN ? nil : Double(number)
      case .double(let number): number.isNaN ? nil : number
      default: nil
      }
    }
    let sum = numbers.reduce(0, +)
    guard case .double(let found) = try table.sum(column, of: given) else {
      Issue.record("\(hint): no sum")
      return
    }
    #expect(found == sum || (found.isNaN && sum.isNaN) || abs(found - sum) < abs(sum) / 1e9, "\(hint)")
    let average = try table.average(column, of: given)
    #expect((average == .null) == numbers.isEmpty, "\(hint)")
    if !numbers.isEmpty, found.isFinite {
      #expect(average == .double(found / Double(numbers.count)), "\(hint)")
    }
    try checkExtremes(column, given, values, hint)
  }

  private func checkExtremes(_ column: Int, _ given: [UInt64]?, _ values: [Value], _ hint: String) throws {
    let numbers = values.filter { $0 != .null && PlainNumber($0)?.isNaN != true }
    let sorted = numbers.sorted { QueryModel.order($0, $1) == -1 }
    let (least, greatest) = (try table.minimum(column, of: given), try table.maximum(column, of: given))
    #expect(QueryModel.sortOrder(least, sorted.first ?? .null) == 0, "\(hint)")
    #expect(QueryModel.sortOrder(greatest, sorted.last ?? .null) == 0, "\(hint)")
  }

  private func checkRead(_ column: Int, _ key: UInt64, _ value: Value, _ hint: String) throws {
    switch table.schema.columns[column].type {
    case .bool, .int64, .link:
      let expected: Int64? =
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): number
        case .link(let row): Int64(row)
        default: nil
        }
      #expect(try table.integer(column, ofRow: key) == (expected.map { .value($0) } ?? .null), "\(hint)")
      #expect(try table.integer(column, ofRow: 1 << 40) == .noRow)
    case .double:
      switch try table.double(column, ofRow: key) {
      case .value(let number): #expect(value == .double(number), "\(hint)")
      default: #expect(value == .null, "\(hint)")
      }
    case .float:
      switch try table.float(column, ofRow: key) {
      case .value(let number): #expect(value == .float(number), "\(hint)")
      default: #expect(value == .null, "\(hint)")
      }
    case .string:
      switch try table.text(column, ofRow: key) {
      case .value(let text): #expect(value == .string(text), "\(hint)")
      default: #expect(value == .null, "\(hint)")
      }
    case .data:
      switch try table.bytes(column, ofRow: key) {
      case .value(let bytes): #expect(value == .data(bytes), "\(hint)")
      default: #expect(value == .null, "\(hint)")
      }
    case .date:
      switch try table.date(column, ofRow: key) {
      case .value(let date): #expect(value == .date(date), "\(hint)")
      default: #expect(value == .null, "\(hint)")
      }
    default: break
    }
  }
}
