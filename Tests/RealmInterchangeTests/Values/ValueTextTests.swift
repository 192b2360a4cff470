import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ValueTextTests {
  @Test func `values have a short text for people`() {
    let known: [(Value, String)] = [
      (.null, "null"), (.bool(true), "true"), (.int(.min), "-9223372036854775808"), (.double(0.5), "0.5"),
      (.string("a\n\"b"), #""a\n\"b""#), (.data([]), "data:"), (.data([0, 255]), "data:00ff"),
      (.data([UInt8](repeating: 1, count: 32)), "data:" + String(repeating: "01", count: 32)),
      (
        .data([UInt8](repeating: 1, count: 33)), "data:" + String(repeating: "01", count: 32) + "… (33 bytes)"
      ),
      (.date(Timestamp(seconds: 0)), "1970-01-01T00:00:00Z"),
      (
        .date(Timestamp(seconds: .max, nanoseconds: 5)),
        "9223372036854775807 seconds and 5 nanoseconds since 1970"
      ),
      (.objectID(ObjectIDBytes(high: 1, low: 2)), "000000000000000100000002"),
      (.uuid(SixteenBytes(high: 1, low: 2)), "00000000-0000-0001-0000-000000000002"),
      (.link(7), "->7"), (.typedLink(table: 3, row: 7), "->3:7"),
      (.list([.int(1), .list([.null])]), "[1, [null]]"),
      (.map(ValueMap(["b": .int(2), "a\t": .bool(false)])), #"{"a\t": false, "b": 2}"#),
    ]
    for (value, text) in known { #expect(value.text == text) }
  }

  @Test(arguments: Slow.seeds(2, slow: 40))
  func `the text of a random value is one line without unsafe characters`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let text = RandomValue().mixed(3, &generator).text
      #expect(!text.unicodeScalars.contains(where: JSON.mayMislead), "seed \(seed): \(JSON.string(text))")
    }
  }
}
