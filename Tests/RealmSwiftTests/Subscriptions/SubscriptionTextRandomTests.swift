import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmSwift

/// Random conditions on properties of all types.
@Suite struct SubscriptionTextRandomTests {
  /// A property, with the values that it is compared with and the operators.
  private struct Field {
    var name: String
    var values: [Any?]
    var operators: [String]
  }

  private static let equality = ["==", "!="]
  private static let order = ["==", "!=", "<", "<=", ">", ">="]
  private static let texts = ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"]
  private static let textsOfStrings = [
    "BEGINSWITH[c]", "ENDSWITH[c]", "CONTAINS[c]", "LIKE[c]", "==[c]", "!=[c]",
  ]

  private static func fields() throws -> [Field] {
    let decimals = try [
      "0", "1.50", "-12345678901234567890.5", "1E+30", "1234567890123456789012345678901234", "NaN",
      "-Infinity",
    ].map { try Decimal128(string: $0) }
    let strings = ["", "a", "A", "it's", "\"both' quotes\"", "Élan", "a\\nb", "a\nb", "*", "?"]
    let ids = try ["0123456789abcdef01234567", "ffffffffffffffffffffffff"].map { try ObjectId(string: $0) }
    let uuids = ["00000000-0000-0000-0000-000000000001", "FEDCBA98-7654-3210-FEDC-BA9876543210"]
      .compactMap { UUID(uuidString: $0) }
    let seconds: [Double] = [0, -1.5, 1_000_000_000.25]
    let dates = seconds.map { Date(timeIntervalSince1970: $0) }
    let data = [Data(), Data([1, 2]), Data([0xff])]
    let doubles: [Double] = [0.1, -1e300, 5, .infinity, .nan]
    let floats: [Float] = [0.1, -2.5, 1e20, .infinity, .nan]
    let ints: [Int] = [-5, 0, 3, .max, .min]
    func orNil(_ values: [Any?]) -> [Any?] { values + [nil] }
    return [
      Field(name: "bool", values: [true, false], operators: equality),
      Field(name: "optionalBool", values: [true, nil], operators: equality),
      Field(name: "int", values: ints, operators: order),
      Field(name: "optionalInt", values: orNil(ints), operators: order),
      Field(name: "int8", values: [-1, 0, 1], operators: order),
      Field(name: "float", values: floats, operators: order),
      Field(name: "optionalFloat", values: orNil(floats), operators: order),
      Field(name: "double", values: doubles, operators: order),
      Field(name: "optionalDouble", values: orNil(doubles), operators: order),
      Field(name: "string", values: strings, operators: order + texts + textsOfStrings),
      Field(name: "optionalString", values: orNil(strings), operators: order + texts),
      Field(name: "data", values: data, operators: order + texts),
      Field(name: "optionalData", values: orNil(data), operators: order + texts),
      Field(name: "date", values: dates, operators: order),
      Field(name: "optionalDate", values: orNil(dates), operators: order),
      Field(name: "uuid", values: uuids, operators: equality),
      Field(name: "optionalUUID", values: orNil(uuids), operators: equality),
      Field(name: "objectId", values: ids, operators: equality),
      Field(name: "optionalObjectId", values: orNil(ids), operators: equality),
      Field(name: "decimal", values: decimals, operators: order),
      Field(name: "optionalDecimal", values: orNil(decimals), operators: order),
      Field(name: "mood", values: [Mood.calm, Mood.merry], operators: order),
    ]
  }

  /// Makes conditions in the format of `NSPredicate`, with values for `%@`.
  private struct Maker {
    let fields: [Field]
    var random: SeededGenerator

    mutating func value(of field: Field) -> Any? { field.values[random.below(field.values.count)] }

    mutating func condition(_ depth: Int = 3) -> (format: String, values: [Any?]) {
      guard depth > 0, random.chance(70) else { return test() }
      if random.chance(25) {
        let part = condition(depth - 1)
        return ("NOT (\(part.format))", part.values)
      }
      var parts: [(format: String, values: [Any?])] = []
      for _ in 0...random.below(3) { parts.append(condition(depth - 1)) }
      let word = random.chance(50) ? " AND " : " OR "
      return (parts.map { "(\($0.format))" }.joined(separator: word), parts.flatMap { $0.values })
    }

    private mutating func test() -> (format: String, values: [Any?]) {
      let field = fields[random.below(fields.count)]
      if random.chance(15) {
        let count = random.below(4)
        var list: [Any?] = []
        for _ in 0..<count { list.append(value(of: field)) }
        return ("\(field.name) IN %@", [list])
      }
      if random.chance(15), ["int", "float", "double", "date", "decimal"].contains(field.name) {
        return ("\(field.name) BETWEEN %@", [[value(of: field), value(of: field)]])
      }
      let word = field.operators[random.below(field.operators.count)]
      return ("\(field.name) \(word) %@", [value(of: field)])
    }
  }

  private static func realm(_ maker: inout Maker) throws -> Realm {
    let realm = try memoryRealm([Everything.self])
    try realm.write {
      for _ in 0..<40 {
        var values: [String: Any] = ["key": UUID()]
        for field in maker.fields where !["mood", "int8"].contains(field.name) {
          if let value = maker.value(of: field) { values[field.name] = value }
        }
        realm.create(Everything.self, value: values)
      }
    }
    return realm
  }

  @Test func `the text of a condition finds the objects that the condition finds`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var maker = Maker(fields: try Self.fields(), random: SeededGenerator(seed: seed))
    let realm = try Self.realm(&maker)
    let all = realm.objects(Everything.self)
    let content = try #require(all._content)
    for round in 0..<1_000 {
      let (format, values) = maker.condition()
      let condition = content.context.predicate(format: format, values)
      let text = content.context.subscriptionQuery(condition).predicate
      guard !text.isEmpty else { continue }
      let again = try #require(try all.query(text)._content)
      let wanted = content.filtered(condition)
      #expect(again.rows() == wanted.rows(), "seed \(seed), round \(round): \(format) became \(text)")
      let plan = try #require(again.enginePlan()).plan
      let second = content.context.subscriptionQuery(plan.predicate).predicate
      #expect(second == text, "seed \(seed), round \(round)")
    }
  }
}
