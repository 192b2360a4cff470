import RealmQuery
import RealmStorage
import RealmTestSupport

/// Makes random trees that RQL can express.
struct RandomSyntax {
  var random: SeededGenerator
  private var builder = QuerySyntax.Builder()
  /// The number of further conditions that may become joins or subqueries.
  private var budget = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func syntax() -> QuerySyntax {
    builder = QuerySyntax.Builder()
    budget = random.below(12)
    let root = condition()
    let descriptors = (0..<random.below(3)).map { _ in descriptor() }
    return builder.syntax(root: root, descriptors: descriptors)
  }

  private mutating func descriptor() -> QuerySyntax.Descriptor {
    switch random.below(3) {
    case 0:
      .sort((0...random.below(2)).map { _ in .init(path(), isAscending: random.chance(50)) })
    case 1: .distinct((0...random.below(2)).map { _ in path() })
    default: .limit(random.chance(10) ? .max : Int64(random.below(100)))
    }
  }

  // MARK: Conditions

  private mutating func condition() -> Int {
    budget -= 1
    if budget > 0, random.chance(70) {
      switch random.below(3) {
      case 0: return builder.add(.and((0..<random.below(4)).map { _ in condition() }))
      case 1: return builder.add(.or((0..<random.below(4)).map { _ in condition() }))
      default: return builder.add(.not(condition()))
      }
    }
    switch random.below(12) {
    case 0: return builder.add(random.chance(50) ? .always : .never)
    case 1, 2, 3: return wordTest()
    case 4:
      let left = path(quantified: true)
      return test(left, .between, list())
    case 5:
      let left = builder.add(.path(path()))
      let right = random.chance(30) ? .argument(random.below(9)) : QuerySyntax.Kind.shape(shape())
      return test(left, .geoWithin, builder.add(right))
    default:
      let left = expression(depth: random.below(4))
      let operators: [QuerySyntax.TestOperator] =
        [.isIn] + [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].map { .compare($0) }
      let testOperator = operators[random.below(operators.count)]
      let takesCase = [.isIn, .compare(.equal), .compare(.notEqual)].contains(testOperator)
      return test(
        left, testOperator, expression(depth: random.below(4)),
        takesCase ? caseOption() : [])
    }
  }

  private mutating func caseOption() -> QuerySyntax.TestOptions {
    random.chance(30) ? random.chance(50) ? .ignoringCase : .latin1Case : []
  }

  private mutating func wordTest() -> Int {
    let operators: [QuerySyntax.TestOperator] = [.contains, .beginsWith, .endsWith, .like, .fullText]
    let testOperator = operators[random.below(operators.count)]
    let left = value()
    return test(left, testOperator, value(), testOperator != .fullText ? caseOption() : [])
  }

  private mutating func test(
    _ left: Int, _ testOperator: QuerySyntax.TestOperator, _ right: Int,
    _ options: QuerySyntax.TestOptions = []
  ) -> Int {
    builder.add(.test(left: left, operator: testOperator, options: options, right: right))
  }

  // MARK: Values

  private mutating func expression(depth: Int) -> Int {
    guard depth > 0 else { return value() }
    let first = expression(depth: depth - 1)
    let operators: [QuerySyntax.ArithmeticOperator] =
      random.chance(50) ? [.plus, .minus] : [.times, .divided]
    let rest = (0...random.below(3)).map { _ in
      QuerySyntax.Operation(operators[random.below(2)], expression(depth: random.below(depth)))
    }
    return builder.add(.arithmetic(first: first, rest: rest))
  }

  private mutating func value() -> Int {
    switch random.below(8) {
    case 0, 1: return builder.add(.constant(constant()))
    case 2: return builder.add(.argument(random.below(20)), quantifier: quantifier())
    case 3: return list()
    case 4 where budget > 0:
      let (collection, condition) = (path(), condition())
      return builder.add(
        .subquery(.init(collection: collection, variable: "$x\(random.below(3))", condition: condition)))
    default: return path(quantified: true)
    }
  }

  private mutating func list() -> Int {
    let elements = (0..<random.below(4)).map { _ in
      random.chance(20)
        ? builder.add(.argument(random.below(5)), quantifier: quantifier())
        : builder.add(.constant(constant()))
    }
    return builder.add(.list(elements), quantifier: quantifier())
  }

  private mutating func quantifier() -> QuerySyntax.Quantifier? {
    let all = QuerySyntax.Quantifier.allCases
    return random.chance(30) ? all[random.below(all.count)] : nil
  }

  /// A path, with a random ending.
  private mutating func path(quantified: Bool) -> Int {
    var path = path()
    if random.chance(5) { path = .init(.argument(random.below(9)), steps: []) }
    switch random.below(10) {
    case 0: path.steps.append(.count)
    case 1: path.steps.append(.type)
    case 2 where path.start != .argument(0) && !path.steps.isEmpty: path.steps.append(.size)
    case 3:
      let all = QuerySyntax.Aggregate.allCases
      path.steps.append(.aggregate(all[random.below(all.count)]))
      if random.chance(50) { path.steps.append(.name(name())) }
      return builder.add(.path(path))
    default: break
    }
    return builder.add(.path(path), quantifier: quantifier())
  }

  private mutating func path() -> QuerySyntax.Path {
    var path = QuerySyntax.Path(steps: [.name(name())])
    if random.chance(10) { path = .init(.variable("$x\(random.below(3))"), steps: []) }
    if random.chance(5) { path.steps = [.keys] }
    for _ in 0..<random.below(4) { path.steps.append(step()) }
    return path
  }

  private mutating func step() -> QuerySyntax.Step {
    switch random.below(14) {
    case 0: .index(random.chance(20) ? .max : Int64(random.below(50)))
    case 1: .key(["x", "a b", "it's", "", "é"][random.below(5)])
    case 2: .argument(random.below(5))
    case 3: .first
    case 4: .last
    case 5: .all
    case 6: .keys
    case 7: .values
    case 8: .links(from: name(), property: name())
    default: .name(name())
    }
  }

  private mutating func name() -> String {
    let names = [
      "age", "name", "dogs", "in", "text", "sort", "size", "bin", "Élan", "my name", "a-b", "_x",
      "first\tname",
      "line\r\nbreak", "😀", "x1", "T1", "B64", "uuid", "True",
    ]
    return names[random.below(names.count)]
  }
}

extension RandomSyntax {
  // MARK: Constants

  private mutating func constant() -> QuerySyntax.Constant {
    switch random.below(16) {
    case 0: .value(.null)
    case 1: .value(.bool(random.chance(50)))
    case 2: .value(.int(Int64(bitPattern: random.next())))
    case 3: .value(.int([0, 8, -1, .min, .max][random.below(5)]))
    case 4: .real(.init(Double(bitPattern: random.next())))
    case 5: .real(.init(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))))
    case 6: .real(.init([0.0, -0.0, .infinity, -.infinity, 1e300, 0.1][random.below(6)]))
    case 7, 8: .value(.string(string()))
    case 9: .value(.data(random.bytes(random.below(7))))
    case 10: .value(.date(date()))
    case 11: .value(.objectID(ObjectIDBytes(random.bytes(12))))
    case 12: .value(.uuid(SixteenBytes(random.bytes(16))))
    case 13: .value(.link(random.next() >> UInt64(1 + random.below(60))))
    case 14: .value(.typedLink(table: UInt32(random.below(1000)), row: UInt64(random.below(1000))))
    default: .object(class: "Dog", key: key())
    }
  }

  private mutating func key() -> QuerySyntax.ObjectKey {
    switch random.below(3) {
    case 0: .argument(random.below(5))
    case 1: .value(.string(string()))
    default: .value(.int(Int64(random.below(100))))
    }
  }

  private mutating func date() -> Timestamp {
    let seconds = random.chance(20) ? -Int64.max : Int64(random.below(100)) - 50
    return Timestamp(
      seconds: seconds, nanoseconds: Int32(random.chance(50) ? 0 : random.below(1_000_000_000)))
  }

  private mutating func string() -> String {
    let pieces = ["a", "'", "\"", "\\", "\\n", "\n", "\0", "é", "e\u{301}", "😀", " ", "*", "$0", "\\u12"]
    return (0..<random.below(6)).map { _ in pieces[random.below(pieces.count)] }.joined()
  }

  private mutating func shape() -> QuerySyntax.GeoShape {
    switch random.below(3) {
    case 0: .box(point(), point())
    case 1: .circle(center: point(), radius: coordinate())
    default: .polygon((0...random.below(2)).map { _ in (0...random.below(3)).map { _ in point() } })
    }
  }

  private mutating func point() -> QuerySyntax.GeoPoint {
    .init(
      longitude: coordinate(), latitude: coordinate(),
      altitude: random.chance(30) ? Double(random.below(50)) : nil)
  }

  private mutating func coordinate() -> QuerySyntax.Coordinate {
    random.chance(20)
      ? .argument(random.below(5)) : .number(Double(random.below(360_000)) / 1_000 - 180)
  }
}
