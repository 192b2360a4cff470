import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct DumpedValueTests {
  private let names = TableNames([])

  @Test func `values have the form of a dump`() {
    let known: [(Value, ColumnType, String)] = [
      (.null, .int64, "null"), (.bool(false), .bool, "false"), (.int(5), .int64, "5"),
      (.int(5), .mixed, #"{"$int":"5"}"#), (.double(5), .double, "5.0"),
      (.double(5), .mixed, #"{"$double":"5.0"}"#), (.double(1e-5), .double, "1e-05"),
      (.double(-0.0), .double, #"{"$double":"-0.0"}"#),
      (.double(.infinity), .double, #"{"$double":"Infinity"}"#),
      (.double(-.infinity), .mixed, #"{"$double":"-Infinity"}"#),
      (.double(Double(bitPattern: 0x7ff8_0000_0000_0001)), .double, #"{"$double":"NaN:7ff8000000000001"}"#),
      (.float(0.1), .float, "0.10000000149011612"), (.float(0.5), .mixed, #"{"$float":"0.5"}"#),
      (.float(-0.0), .float, #"{"$float":"-0.0"}"#),
      (.float(Float(bitPattern: 0xffc0_0001)), .float, #"{"$float":"NaN:ffc00001"}"#),
      (.string("a\"\u{feff}"), .string, #""a\"\ufeff""#), (.data([0, 255]), .data, #"{"$data":"AP8="}"#),
      (.date(Timestamp(seconds: -1, nanoseconds: 5)), .date, #"{"$date":[-1,5]}"#),
      (.date(Timestamp(seconds: .max)), .date, #"{"$date":[{"$int":"9223372036854775807"},0]}"#),
      (.uuid(SixteenBytes(high: 1, low: 2)), .uuid, #"{"$uuid":"00000000-0000-0001-0000-000000000002"}"#),
      (
        .decimal128(SixteenBytes(high: 1, low: 2)), .decimal128,
        #"{"$decimal128":"00000000000000010000000000000002"}"#
      ),
      (.link(.max), .link, #"{"$link":{"$int":"18446744073709551615"}}"#),
      (.typedLink(table: 3, row: 7), .mixed, #"{"$link":[null,7]}"#),
      (.list([.int(1), .null]), .mixed, #"[{"$int":"1"},null]"#),
      (.map(ValueMap(["a": .bool(true)])), .mixed, #"{"$map":[["a",true]]}"#),
    ]
    for (value, type, text) in known { #expect(value.json(ofOne: type, names) == text) }
  }

  @Test(arguments: Slow.seeds(3, slow: 60))
  func `random single and mixed values are read again from a dump`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let reader = ValueReader(ImportTables([]))
    for number in 0..<600 {
      let types = ColumnType.allCases.filter { $0 != .link }
      let type = types[generator.below(types.count)]
      let value =
        type == .mixed ? RandomValue().mixed(3, &generator) : RandomValue.single(type, &generator)
      let text = value.json(ofOne: type, names)
      let node = try JSONParser.value(of: Array(text.utf8))
      let draft = try reader.cell(node, Column("a", type)) { InputPlace(line: 1, column: $0 + 1) }
      guard case .value(let found) = draft else {
        Issue.record("seed \(seed), value \(number): \(text)")
        continue
      }
      #expect(found == value, "seed \(seed), value \(number): \(text)")
    }
  }

  @Test func `numbers that JSON can't hold are special, and no others`() {
    #expect(Double.infinity.special == "Infinity")
    #expect((-Double.infinity).special == "-Infinity")
    #expect((-0.0).special == "-0.0")
    #expect(Double(bitPattern: 0xfff0_0000_0000_0001).special == "NaN:fff0000000000001")
    #expect(Float(bitPattern: 0x7f80_0001).special == "NaN:7f800001")
    #expect((-Float.infinity).special == "-Infinity")
    for number in [0, 1, -1, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Double] {
      #expect(number.special == nil)
      #expect(Float(number == 0 ? 0 : 0.5).special == nil)
    }
  }
}
