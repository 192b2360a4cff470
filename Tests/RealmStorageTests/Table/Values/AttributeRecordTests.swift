import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct AttributeRecordTests {
  private enum Known: UInt16, KnownAttribute {
    case first = 3
    case last = 300

    var rule: AttributeRule { self == .first ? .knownToRead : .knownToWrite }
  }

  @Test func `a record has its attributes one after another, in ascending order of their numbers`() throws {
    var record = AttributeRecord(keeping: [
      Attribute(number: 4, rule: .ignorable, value: [7]),
      Attribute(number: 16_383, rule: .ignorable, value: []),
    ])
    record.add(Known.last, [1, 2])
    record.add(Known.first, [UInt8](repeating: 9, count: 130))
    let nines = [UInt8](repeating: 9, count: 130)
    #expect(
      record.encoded == [0x03, 0x80, 0x82, 0x01] + nines + [
        0x04, 0x00, 0x01, 7, 0x2c, 0x41, 0x02, 1, 2, 0xff, 0x3f, 0x00,
      ])
    #expect(try AttributeRecord(record.encoded) == record)
    #expect(record[Known.last] == [1, 2])
    #expect(try record.unknown(to: Known.self, of: "it").map(\.number) == [4, 16_383])
  }

  @Test(
    arguments: [
      [0x01], [0x01, 0x00], [0x01, 0x00, 0x01], [0x01, 0xc0, 0x00], [0x02, 0x00, 0x00, 0x02, 0x00, 0x00],
      [0x02, 0x00, 0x00, 0x01, 0x80, 0x00],
      [0x01, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    ] as [[UInt8]])
  func `bytes that are not attributes, or are not in ascending order, are damage`(bytes: [UInt8]) {
    #expect(throws: RecordFault.damaged) { try AttributeRecord(bytes) }
  }

  @Test func `an unknown attribute for readers is reported, and a known one with a wrong rule is damage`()
    throws
  {
    let later = AttributeRecord(keeping: [Attribute(number: 5, rule: .knownToRead, value: [])])
    let feature = StorageError.Feature("attribute 5", of: "table T", need: .read)
    #expect(throws: RecordFault.unknown(feature)) { try later.unknown(to: Known.self, of: "table T") }
    let wrong = AttributeRecord(keeping: [Attribute(number: 3, rule: .ignorable, value: [])])
    #expect(throws: RecordFault.damaged) { try wrong.unknown(to: Known.self, of: "table T") }
    let written = AttributeRecord(keeping: [Attribute(number: 5, rule: .knownToWrite, value: [1])])
    #expect(try written.unknown(to: Known.self, of: "table T") == written.all)
  }

  @Test(arguments: 0..<20)
  func `random bytes are damage, or a record that is the same after writing and reading it`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let bytes = generator.bytes(generator.below(30))
      guard let record = try? AttributeRecord(bytes) else { continue }
      #expect(try AttributeRecord(record.encoded) == record)
    }
  }
}
