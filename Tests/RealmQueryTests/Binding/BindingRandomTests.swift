import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct BindingRandomTests {
  @Test func `random queries of random schemas are bound or refused, and bound queries run`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var sample = RandomTables(seed: seed)
    var (bound, refused) = (0, 0)
    for round in 0..<8 {
      let snapshot = try sample.snapshot()
      let names = sample.names
      for _ in 0..<1_500 {
        let isFormat = sample.random.chance(50)
        let text = sample.condition(isFormat: isFormat)
        let arguments = (0..<4).map { _ in sample.argument() }
        let id = UInt32(1 + sample.random.below(3))
        let table = try #require(try snapshot.table("T\(id)"))
        do throws(QueryError) {
          let syntax =
            isFormat
            ? try QueryParser.predicateFormat(text, arguments: arguments) : try QueryParser.rql(text)
          let binder = QueryBinder(
            names, table: id, language: isFormat ? .predicateFormat : .rql, arguments: arguments, text: text)
          let plan = try binder.plan(syntax)
          bound += 1
          let rows = try? RowSearch(plan, in: table).rows()
          #expect(rows != nil, "seed \(seed), round \(round): \(text)")
        } catch {
          refused += 1
          #expect(!error.description.isEmpty)
        }
      }
    }
    #expect(bound > 300 && refused > 1_000, "seed \(seed): \(bound) bound, \(refused) refused")
  }

  @Test func `random trees that RQL can express are bound or refused`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var trees = RandomSyntax(seed: seed)
    var sample = RandomTables(seed: seed)
    let snapshot = try sample.snapshot()
    for _ in 0..<3_000 {
      let syntax = trees.syntax()
      let arguments = (0..<9).map { _ in sample.argument() }
      for language in [QueryLanguage.rql, .predicateFormat] {
        let binder = QueryBinder(sample.treeNames, table: 1, language: language, arguments: arguments)
        guard let plan = try? binder.plan(syntax) else { continue }
        _ = plan
      }
    }
    #expect(try snapshot.schemas().count == 3, "seed \(seed)")
  }
}

/// Makes tables with columns of random types, and conditions on these columns.
struct RandomTables {
  var random: SeededGenerator
  private(set) var names = QueryNames(tables: [])
  /// The same tables with other names, so that random trees find their columns.
  private(set) var treeNames = QueryNames(tables: [])
  private var tables: [TableSchema] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func snapshot() throws -> Snapshot {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    let columns = (0..<3).map { _ in (0..<10).map { column("c\($0)") } }
    try database.write { transaction in
      for number in 1...3 {
        _ = try transaction.createTable(
          TableSchema("T\(number)", columns: [Column("pk", .int64, index: .unique)]))
      }
      for number in 1...3 {
        let table = try #require(try transaction.table("T\(number)"))
        for column in columns[number - 1] { try table.addColumn(column) }
        for row in 0..<6 {
          var values: [String: Value] = ["pk": .int(Int64(row))]
          for column in columns[number - 1] { values[column.name] = cell(column, rows: number > 1 ? 6 : 0) }
          // Links lead only to tables that already have rows.
          for column in columns[number - 1] where column.type == .link && column.target >= number {
            values[column.name] = nil
          }
          _ = try table.insert(values)
        }
      }
    }
    let snapshot = try database.snapshot()
    tables = try snapshot.schemas().sorted { $0.id < $1.id }
    var inverses: [UInt32: [String: QueryNames.Inverse]] = [:]
    for table in tables {
      for column in table.columns where column.type == .link {
        inverses[column.target, default: [:]]["inv\(random.below(3))"] = .init(
          table: table.id, column: column.id)
      }
    }
    names = QueryNames(tables: tables, aliases: [:], inverses: inverses, classes: [:])
    let words = ["age", "name", "dogs", "in", "text", "sort", "size", "bin", "Élan", "my name", "a-b", "_x"]
    let aliases = Dictionary(uniqueKeysWithValues: words.enumerated().map { ($1, "c\($0 % 10)") })
    treeNames = QueryNames(
      tables: tables, aliases: [1: aliases, 2: aliases, 3: aliases], inverses: inverses, classes: [:])
    return snapshot
  }

  private mutating func column(_ name: String) -> Column {
    let type = ColumnType.allCases[random.below(ColumnType.allCases.count)]
    let collections: [ColumnCollection] = [.none, .none, .list, .set, .map]
    return Column(
      name, type, isOptional: random.chance(50), collection: collections[random.below(5)],
      target: type == .link ? UInt32(1 + random.below(3)) : 0)
  }

  private mutating func cell(_ column: Column, rows: Int) -> Value {
    switch column.collection {
    case .none: return element(column)
    case .list: return .list((0..<random.below(4)).map { _ in element(column) })
    case .set: return .set((0..<random.below(4)).map { _ in element(column) })
    case .map:
      return .map(ValueMap(Dictionary((0..<random.below(3)).map { ("k\($0)", element(column)) }) { $1 }))
    }
  }

  private mutating func element(_ column: Column) -> Value {
    if column.isOptional, random.chance(20) { return .null }
    switch column.type {
    case .link: return .link(UInt64(random.below(6)))
    case .mixed: return mixed(column.collection != .set)
    default: return value(column.type)
    }
  }

  private mutating func mixed(_ nests: Bool) -> Value {
    if nests, random.chance(20) { return .list((0..<random.below(3)).map { _ in mixed(true) }) }
    if nests, random.chance(20) { return .map(ValueMap(["k0": mixed(true), "k1": mixed(true)])) }
    let types = ColumnType.allCases.filter { $0 != .mixed && $0 != .link }
    return random.chance(10) ? .null : value(types[random.below(types.count)])
  }

  private mutating func value(_ type: ColumnType) -> Value {
    switch type {
    case .bool: .bool(random.chance(50))
    case .int64: .int(Int64(random.below(4)))
    case .float: .float(Float(random.below(4)))
    case .double: .double([0.5, 1, 2, .nan][random.below(4)])
    case .string: .string(["", "a", "b", "é"][random.below(4)])
    case .data: .data(random.bytes(random.below(3)))
    case .date: .date(Timestamp(seconds: Int64(random.below(4))))
    case .objectID: .objectID(ObjectIDBytes(high: UInt64(random.below(2)), low: 0))
    case .uuid: .uuid(SixteenBytes(high: UInt64(random.below(2)), low: 0))
    case .decimal128: ColumnType.decimal128.zero
    case .link, .mixed: .null
    }
  }

  mutating func argument() -> QueryArgument {
    switch random.below(8) {
    case 0: return .list((0..<random.below(4)).map { _ in argument() })
    case 1: return .value(.typedLink(table: UInt32(1 + random.below(3)), row: random.chance(20) ? .max : 1))
    case 2: return .keyPath("c1")
    case 3: return .value(.null)
    case 4: return .value(mixed(true))
    default:
      let types = ColumnType.allCases.filter { $0 != .mixed && $0 != .link }
      return .value(value(types[random.below(types.count)]))
    }
  }
}

extension RandomTables {
  mutating func condition(isFormat: Bool) -> String {
    switch random.below(30) {
    case 0: return "(\(condition(isFormat: isFormat)) and \(condition(isFormat: isFormat)))"
    case 1: return "(\(condition(isFormat: isFormat)) or \(condition(isFormat: isFormat)))"
    case 2: return "not (\(condition(isFormat: isFormat)))"
    case 3:
      return
        "SUBQUERY(\(path(isFormat)), $x, \(condition(isFormat: isFormat))).@count \(comparison()) \(random.below(3))"
    default: break
    }
    let left = random.chance(85) ? quantified(isFormat) : constant(isFormat)
    switch random.below(9) {
    case 0: return "\(left) BETWEEN {\(constant(isFormat)), \(constant(isFormat))}"
    case 1, 2:
      let word = ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE"][random.below(4)]
      return "\(left) \(word)\(options(isFormat)) \(right(isFormat))"
    case 3: return "\(left) IN\(options(isFormat)) \(right(isFormat))"
    case 4 where !isFormat: return "\(left) * 2 \(comparison()) \(right(isFormat)) + 1"
    case 5: return "\(left) \(random.chance(50) ? "==" : "!=")\(options(isFormat)) \(right(isFormat))"
    default: return "\(left) \(comparison()) \(right(isFormat))"
    }
  }

  private mutating func comparison() -> String { ["==", "!=", "<", "<=", ">", ">="][random.below(6)] }

  private mutating func options(_ isFormat: Bool) -> String {
    random.chance(70) ? "" : isFormat ? ["[c]", "[d]", "[cd]"][random.below(3)] : "[c]"
  }

  private mutating func right(_ isFormat: Bool) -> String {
    switch random.below(4) {
    case 0: isFormat ? path(isFormat) : quantified(isFormat)
    case 1: "{\((0..<random.below(4)).map { _ in constant(isFormat) }.joined(separator: ", "))}"
    default: constant(isFormat)
    }
  }

  private mutating func quantified(_ isFormat: Bool) -> String {
    (random.chance(50) ? "" : ["ANY ", "ALL ", "NONE "][random.below(3)]) + path(isFormat)
  }

  private mutating func path(_ isFormat: Bool) -> String {
    var names = (0..<1 + random.below(3) * random.below(2)).map { _ in
      random.chance(20) ? "inv\(random.below(3))" : "c\(random.below(10))"
    }
    if random.chance(10) { names.insert("$x", at: 0) }
    if !isFormat, random.chance(5) { names.insert("@links.T1.c1", at: 0) }
    var path = names.joined(separator: ".")
    let ends =
      isFormat
      ? [".@count", ".@sum", ".@max", ".@allKeys", ".@allValues", "['k0']", "[0]", "[%K]"]
      : [
        ".@count", ".@sum", ".@avg.c1", ".@max", ".@keys", ".@values", ".@type", "['k0']", "[0]", "[LAST]",
        "[*]",
        "[SIZE]", ".length", ".k0", "[0].c2", "[*].k1", "['k0'].c3",
      ]
    if random.chance(40) { path += ends[random.below(ends.count)] }
    return path
  }

  private mutating func constant(_ isFormat: Bool) -> String {
    switch random.below(8) {
    case 0: "null"
    case 1: "true"
    case 2: "\(random.below(4))"
    case 3: "\(random.below(3)).5"
    case 4: "'\(["", "a", "b", "int", "3"][random.below(5)])'"
    default: isFormat ? "%@" : "$\(random.below(5))"
    }
  }
}
