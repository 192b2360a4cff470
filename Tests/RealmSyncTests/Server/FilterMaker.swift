import RealmServer
import RealmStorage
import RealmTestSupport

/// Makes random predicates, filters and objects.
struct FilterMaker {
  static let fields = ["i", "d", "s", "b", "m"]
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[generator.below(elements.count)]
  }

  // MARK: Objects

  private static let texts = ["", "a", "ab", "b", "ba", "é", "\u{10ffff}", "a'b"]

  private static let words = ["BEGINSWITH", "ENDSWITH", "CONTAINS"]

  /// One of a few texts, or a text whose parts are similar.
  private mutating func text() -> String {
    if generator.chance(50) { return pick(Self.texts) }
    return (0..<generator.below(8)).map { _ in generator.chance(70) ? "a" : "b" }.joined()
  }

  mutating func value(of field: String) -> Value {
    if generator.chance(20) { return .null }
    switch field {
    case "i": return .int(Int64(generator.below(5)))
    case "d": return pick([.double(Double(generator.below(10)) / 2), .double(.nan), .double(-0.0)])
    case "s": return .string(text())
    case "b": return .bool(generator.chance(50))
    default: return value(of: pick(["i", "d", "s", "b"]))
    }
  }

  mutating func anyValue() -> Value {
    switch generator.below(8) {
    case 0: .float(pick([0, -0.0, 0.5, 0.1, 1, .nan, .infinity, 1e10]))
    case 1: .double(pick([0, -0.0, 0.5, 0.1, 1, .nan, .infinity, 1e10, 1e300]))
    case 2: .int(pick([0, 1, 2, 10_000_000_000, .max, .min]))
    case 3, 4:
      DecimalNumber(
        parsing: pick(["0", "-0.00", "0.5", "0.50", "0.1", "1", "1.0", "1E+10", "nan", "inf", "1E300"])
      )
      .map { .decimal128($0.stored) } ?? .null
    default: value(of: "m")
    }
  }

  mutating func object() -> [String: Value] {
    var object: [String: Value] = [:]
    for field in Self.fields { object[field] = value(of: field) }
    return object
  }

  mutating func asking() -> FieldFilter.Asking {
    var asking = FieldFilter.Asking(user: pick(["a", "ab"]))
    if generator.chance(70) { asking.partition = value(of: "s") }
    for name in ["roles", "custom_data.x"] where generator.chance(80) {
      asking.data[name] = (0..<generator.below(3)).map { _ in value(of: "s") }
    }
    return asking
  }

  // MARK: Predicates

  mutating func tree(_ depth: Int) -> FilterTree {
    guard depth > 0, generator.chance(75) else { return leaf() }
    switch generator.below(3) {
    case 0: return .not(tree(depth - 1))
    case 1: return .and((0..<2 + generator.below(2)).map { _ in tree(depth - 1) })
    default: return .or((0..<2 + generator.below(2)).map { _ in tree(depth - 1) })
    }
  }

  /// A constant that may be compared with a field.
  private mutating func constant(for field: String) -> Value {
    while true {
      let value = value(of: field == "i" && generator.chance(30) ? "d" : field)
      if case .double(let number) = value, number.isNaN { continue }
      return value
    }
  }

  private mutating func leaf() -> FilterTree {
    let field = pick(Self.fields)
    switch generator.below(14) {
    case 0: return .constant(generator.chance(50))
    case 1: return .isIn(field, (0..<generator.below(4)).map { _ in constant(for: field) })
    case 2:
      let (low, high) = (constant(for: field), constant(for: field))
      return low == .null || high == .null ? leaf() : .between(field, low, high)
    case 3, 4:
      return .text(pick(["s", "m"]), pick(Self.words), text())
    case 5:
      return .user(pick(["id", "roles", "custom_data.x"]), isEqual: generator.chance(60), pick(Self.texts))
    case 6: return .isUsers(field, pick(["id", "roles", "custom_data.x"]))
    case 7: return .isPartition(field)
    case 8:
      return .ordersUsers(
        pick(["s", "m"]), pick(["<", "<=", ">", ">="]), pick(["id", "roles", "custom_data.x"]))
    case 9: return .textOfUsers("s", pick(Self.words), pick(["id", "roles", "custom_data.x"]))
    default:
      let value = constant(for: field)
      let operators = value == .null ? ["==", "!="] : ["==", "!=", "<", "<=", ">", ">="]
      return .compare(field, pick(operators), value, isMirrored: generator.chance(30))
    }
  }

  mutating func filter() -> FieldFilter {
    FieldFilter(
      terms: (0..<generator.below(4)).map { _ in
        (0..<generator.below(4)).map { _ in
          let name = pick(Self.texts + Self.fields)
          let operands = (0..<generator.below(4)).map { _ in
            pick([.value(anyValue()), .user(pick(Self.texts)), FieldFilter.Operand.partition])
          }
          return FieldFilter.Condition(
            generator.chance(70) ? .field(name) : .user(name), pick(FieldFilter.Comparison.allCases), operands
          )
        }
      })
  }
}

/// A predicate: its text, and its meaning, which is computed without filters.
indirect enum FilterTree {
  case constant(Bool)
  case not(FilterTree)
  case and([FilterTree])
  case or([FilterTree])
  case compare(String, String, Value, isMirrored: Bool)
  case isIn(String, [Value])
  case between(String, Value, Value)
  case text(String, String, String)
  case user(String, isEqual: Bool, String)
  case isUsers(String, String)
  case isPartition(String)
  case ordersUsers(String, String, String)
  case textOfUsers(String, String, String)

  var text: String {
    switch self {
    case .constant(let holds): holds ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .not(let part): "NOT (\(part.text))"
    case .and(let parts): "(" + parts.map(\.text).joined(separator: " AND ") + ")"
    case .or(let parts): "(" + parts.map(\.text).joined(separator: " OR ") + ")"
    case .compare(let field, let sign, let value, false): "\(field) \(sign) \(Self.text(value))"
    case .compare(let field, let sign, let value, true):
      "\(Self.text(value)) \(["<": ">", "<=": ">=", ">": "<", ">=": "<="][sign] ?? sign) \(field)"
    case .isIn(let field, let values): "\(field) IN {\(values.map(Self.text).joined(separator: ", "))}"
    case .between(let field, let low, let high): "\(field) BETWEEN {\(Self.text(low)), \(Self.text(high))}"
    case .text(let field, let word, let text): "\(field) \(word) \(Self.text(.string(text)))"
    case .user(let name, let isEqual, let text):
      isEqual
        ? "\(Self.text(.string(text))) IN $user.\(name)" : "$user.\(name) != \(Self.text(.string(text)))"
    case .isUsers(let field, let name): "\(field) IN $user.\(name)"
    case .isPartition(let field): "\(field) == $partition"
    case .ordersUsers(let field, let sign, let name): "\(field) \(sign) $user.\(name)"
    case .textOfUsers(let field, let word, let name): "\(field) \(word) $user.\(name)"
    }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "nil"
    case .bool(let flag): "\(flag)"
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): "\"\(text)\""
    default: "?"
    }
  }

  func holds(_ object: [String: Value], _ asking: FieldFilter.Asking) -> Bool {
    func value(_ field: String) -> Value { object[field] ?? .null }
    switch self {
    case .constant(let holds): return holds
    case .not(let part): return !part.holds(object, asking)
    case .and(let parts): return parts.allSatisfy { $0.holds(object, asking) }
    case .or(let parts): return parts.contains { $0.holds(object, asking) }
    case .compare(let field, let sign, let other, _):
      return Self.compare(value(field), sign, other, nullIsFirst: field == "s")
    case .isIn(let field, let values):
      return values.contains { Self.compare(value(field), "==", $0, nullIsFirst: false) }
    case .between(let field, let low, let high):
      return Self.compare(value(field), ">=", low, nullIsFirst: false)
        && Self.compare(value(field), "<=", high, nullIsFirst: false)
    case .text(let field, let word, let part):
      guard case .string(let text) = value(field) else { return false }
      return Self.find(text, word, part)
    case .user(let name, let isEqual, let text):
      return Self.known(name, asking).contains(.string(text)) == isEqual
    case .isUsers(let field, let name):
      return Self.known(name, asking).contains { Self.compare(value(field), "==", $0, nullIsFirst: false) }
    case .isPartition(let field):
      return Self.compare(value(field), "==", asking.partition ?? .null, nullIsFirst: false)
    case .ordersUsers(let field, let sign, let name):
      return Self.known(name, asking).contains { other in
        value(field) != .null && Self.compare(value(field), sign, other, nullIsFirst: false)
      }
    case .textOfUsers(let field, let word, let name):
      guard case .string(let text) = value(field) else { return false }
      return Self.known(name, asking).contains { part in
        if case .string(let part) = part { Self.find(text, word, part) } else { false }
      }
    }
  }

  private static func known(_ name: String, _ asking: FieldFilter.Asking) -> [Value] {
    name == "id" ? [.string(asking.user)] : asking.data[name] ?? [.null]
  }

  private static func find(_ text: String, _ word: String, _ part: String) -> Bool {
    let (text, part) = (Array(text.utf8), Array(part.utf8))
    let places = (0...text.count).filter { text[$0...].starts(with: part) }
    switch word {
    case "BEGINSWITH": return places.contains(0)
    case "ENDSWITH": return places.contains(text.count - part.count)
    default: return !places.isEmpty
    }
  }

  private static func compare(_ value: Value, _ sign: String, _ other: Value, nullIsFirst: Bool) -> Bool {
    func number(_ value: Value) -> Double? {
      switch value {
      case .int(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    }
    let order: (less: Bool, equal: Bool, greater: Bool)
    if let one = number(value), let two = number(other) {
      order = (one < two, one == two, one > two)
    } else if case .string(let one) = value, case .string(let two) = other {
      let (one, two) = (Array(one.utf8), Array(two.utf8))
      order = (one.lexicographicallyPrecedes(two), one == two, two.lexicographicallyPrecedes(one))
    } else if case .bool(let one) = value, case .bool(let two) = other {
      order = (!one && two, one == two, one && !two)
    } else {
      order = (nullIsFirst && value == .null && other != .null, value == .null && other == .null, false)
    }
    switch sign {
    case "==": return order.equal
    case "!=": return !order.equal
    case "<": return order.less
    case "<=": return order.less || order.equal
    case ">": return order.greater
    default: return order.greater || order.equal
    }
  }
}
