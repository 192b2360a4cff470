import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct DumpLinesTests {
  private static let schema = TableSchema(
    "T\n", columns: [Column("a", .int64), Column("b", .mixed), Column("c", .string, collection: .map)])

  private func text(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func `the line of a row has its values in the order of the columns`() {
    let line = RowLine(Self.schema, TableNames([Self.schema]), json: true)
    let values: [Value] = [.int(5), .int(5), .map(ValueMap(["k": .string("v")]))]
    #expect(
      text { line.write(.max, values, to: &$0) }
        == #"{"table":"T\n","key":{"$int":"18446744073709551615"},"values":[5,{"$int":"5"},[["k","v"]]]}"#)
  }

  @Test func `a value that can't be read is lost, and the other values of its row are written`() {
    let values: [Value?] = [nil, .bool(true), nil]
    let json = RowLine(Self.schema, TableNames([Self.schema]), json: true)
    #expect(
      text { json.write(1, values, to: &$0) }
        == #"{"table":"T\n","key":1,"values":[{"$lost":true},true,{"$lost":true}]}"#)
    let schema = TableSchema("T", columns: Self.schema.columns)
    let plain = RowLine(schema, TableNames([schema]), json: false)
    #expect(text { plain.write(1, values, to: &$0) } == "T\t1\ta=(lost)\tb=true\tc=(lost)")
  }

  @Test func `companions of columns have no value in a line`() throws {
    let schema = TableSchema("T", hasElementIDs: true, columns: [Column("l", .int64, collection: .list)])
    #expect(schema.columns.count == 2)
    let values: [Value] = [.list([.int(1)]), .list([])]
    let json = RowLine(schema, TableNames([schema]), json: true)
    #expect(text { json.write(0, values, to: &$0) } == #"{"table":"T","key":0,"values":[[1]]}"#)
    let plain = RowLine(schema, TableNames([schema]), json: false)
    #expect(text { plain.write(0, values, to: &$0) } == "T\t0\tl=[1]")
  }

  @Test func `the entry of a tree is text or base64, or lost`() {
    let json = EntryLine(tree: "a\"", json: true)
    #expect(
      text { json.write(Array("k".utf8), [0xff], to: &$0) }
        == #"{"tree":"a\"","key":"k","value":{"$data":"/w=="}}"#)
    #expect(text { json.write([], nil, to: &$0) } == #"{"tree":"a\"","key":"","value":{"$lost":true}}"#)
    let plain = EntryLine(tree: "t", json: false)
    #expect(text { plain.write(Array("k".utf8), [0xff], to: &$0) } == "t\tk\tbase64:/w==")
    #expect(text { plain.write(Array("k\nl".utf8), nil, to: &$0) } == "t\tk\\nl\t(lost)")
  }

  @Test func `an entry for people is on one line, whatever line ends its bytes have`() {
    for end in ["\n", "\r\n", "\n\u{301}", "\n\n"] {
      let shown = EntryLine.text(Array("a\(end)b".utf8))
      #expect(!shown.utf8.contains(0x0a), "\(JSON.string(end))")
    }
  }
}
