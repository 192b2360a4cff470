import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmInterchange

@Suite struct CSVFieldsTests {
  private let reader = ValueReader(ImportTables([]))

  /// The value of a field of a line, for a column; nil if the field has no value.
  private func value(_ field: String, _ column: Column, delimiter: UInt8 = UInt8(ascii: ",")) throws -> Value?
  {
    let line = field + String(Character(Unicode.Scalar(delimiter))) + "end\n"
    return try withInput(line) { input in
      let record = try CSVReader(input, delimiter: delimiter).next()
      let fields = try #require(record?.fields)
      #expect(fields.count == 2, "\(JSON.string(field))")
      guard let draft = try CSVFields.draft(fields[0], column, reader) else { return nil }
      guard case .value(let value) = draft else {
        Issue.record("\(JSON.string(field)) is no value")
        return nil
      }
      return value
    }
  }

  @Test func `fields are read by the type of their column`() throws {
    let known: [(String, Column, Value?)] = [
      ("true", Column("a", .bool), .bool(true)), ("false", Column("a", .bool), .bool(false)),
      ("-5", Column("a", .int64), .int(-5)), ("3.0", Column("a", .int64), .int(3)),
      ("9223372036854775807", Column("a", .int64), .int(.max)), ("1.5", Column("a", .double), .double(1.5)),
      ("-0.0", Column("a", .double), .double(-0.0)), ("1e3", Column("a", .float), .float(1000)),
      ("NaN:7ff8000000000001", Column("a", .double), .double(Double(bitPattern: 0x7ff8_0000_0000_0001))),
      ("NaN:7fc00001", Column("a", .float), .float(Float(bitPattern: 0x7fc0_0001))),
      ("5", Column("a", .string), .string("5")), ("true", Column("a", .string), .string("true")),
      ("", Column("a", .string), .string("")), ("\"\"", Column("a", .string), .string("")),
      ("", Column("a", .string, isOptional: true), .null),
      ("\"\"", Column("a", .string, isOptional: true), .string("")),
      ("", Column("a", .int64, isOptional: true), .null), ("", Column("a", .mixed), .null),
      ("AP8=", Column("a", .data), .data([0, 255])), ("\"\"", Column("a", .data), .data([])),
      ("1970-01-01T00:00:01Z", Column("a", .date), .date(Timestamp(seconds: 1))),
      (
        "1.50", Column("a", .decimal128), DecimalNumber(parsingExactly: "1.50").map { .decimal128($0.stored) }
      ),
      ("", Column("a", .int64, collection: .list), nil), ("", Column("a", .string, collection: .map), nil),
      ("\"[1,2]\"", Column("a", .int64, collection: .list), .list([.int(1), .int(2)])),
      ("[]", Column("a", .int64, collection: .set), .list([])),
      ("\"{\"\"k\"\":true}\"", Column("a", .bool, collection: .map), .map(ValueMap(["k": .bool(true)]))),
      ("5", Column("a", .mixed), .int(5)), ("hello", Column("a", .mixed), .string("hello")),
      ("[1", Column("a", .mixed), .string("[1")), ("\"\"\"5\"\"\"", Column("a", .mixed), .string("5")),
      ("\"{\"\"$double\"\":\"\"5.0\"\"}\"", Column("a", .mixed), .double(5)),
    ]
    for (field, column, expected) in known {
      let found = try value(field, column)
      #expect(found == expected, "\(field) of \(column.type.name)")
    }
  }

  @Test func `fields that do not fit their column are problems with line, column, property and value`() throws
  {
    let wrong: [(String, Column, String)] = [
      ("yes", Column("age", .bool), "neither true nor false"),
      ("x", Column("age", .int64), "no whole number"),
      ("1.5", Column("age", .int64), "no whole number"),
      ("9223372036854775808", Column("age", .int64), "64 bits"), ("x", Column("age", .double), "no number"),
      ("1e400", Column("age", .double), "too great"), ("1e39", Column("age", .float), "too great"),
      ("é", Column("age", .data), "base64"), ("2020-01-31", Column("age", .date), "ISO 8601"),
      ("0011", Column("age", .objectID), "object id"), ("0011", Column("age", .uuid), "UUID"),
      ("1.2.3", Column("age", .decimal128), "decimal"),
      ("[1", Column("age", .int64, collection: .list), "JSON"),
      ("5", Column("age", .int64, collection: .list), "no array"),
      ("[]", Column("age", .int64, collection: .map), "no object"),
      ("[true]", Column("age", .int64, collection: .set), "no whole number"),
      ("[null]", Column("age", .int64, collection: .list), "not optional"),
    ]
    for (field, column, reason) in wrong {
      let problem = #expect(throws: InputProblem.self) { try value(field, column) }
      #expect(problem?.line == 1)
      #expect(problem?.column == 1)
      #expect(problem?.property == "age", "\(field)")
      #expect(problem?.value == JSON.string(field), "\(field)")
      #expect(problem?.reason.contains(reason) == true, "\(field): \(problem?.reason ?? "")")
    }
    for type in ColumnType.allCases where ![.string, .mixed, .link].contains(type) {
      let problem = #expect(throws: InputProblem.self) { try value("", Column("age", type)) }
      #expect(problem?.reason.contains("is missing") == true, "\(type.name)")
      #expect(problem?.value == nil)
    }
  }

  @Test func `infinite numbers are read from the fields that are written of them`() throws {
    for number in [Double.infinity, -.infinity] {
      let double = Column("a", .double)
      let field = try ObjectWriter([]).field(.double(number), of: double, delimiter: UInt8(ascii: ","))
      let found = try value(field, double)
      #expect(found == .double(number), "\(field)")
      let float = Column("a", .float)
      let short = try ObjectWriter([]).field(.float(Float(number)), of: float, delimiter: UInt8(ascii: ","))
      let other = try value(short, float)
      #expect(other == .float(Float(number)), "\(short)")
    }
  }

  @Test(arguments: Slow.seeds(4, slow: 100))
  func `random values of each column are read from the fields that are written of them`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let objects = ObjectWriter([])
    for column in TableModel.everything where column.type != .link {
      for _ in 0..<4 {
        let delimiter = Array(",;\t".utf8)[generator.below(3)]
        let value = RandomValue().value(of: column, &generator)
        let field = try objects.field(value, of: column, delimiter: delimiter)
        let found = try self.value(field, column, delimiter: delimiter)
        #expect(found == value, "seed \(seed), \(column.name): \(JSON.string(field))")
      }
    }
  }
}
