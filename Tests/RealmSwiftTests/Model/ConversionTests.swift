import Foundation
import RealmSwift
import Testing

@Suite("Conversions")
struct ConversionTests {
  private func made(_ name: String, _ value: Any) -> Everything { Everything(value: [name: value]) }

  @Test("Values given as Any are converted by their own type")
  func table() throws {
    #expect(made("int", Int8(-5)).int == -5 && made("int", UInt64(7)).int == 7)
    #expect(made("int", true).int == 1 && made("int8", Int64(-128)).int8 == -128)
    #expect(made("int", NSNumber(value: Int64.max)).int == .max)
    #expect(made("int", NSNumber(value: Int64.max - 1)).int == .max - 1)
    #expect(made("int", NSNumber(value: Int64.min)).int == .min)
    #expect(made("int", NSNumber(value: UInt64(9))).int == 9 && made("int", NSNumber(value: 5.0)).int == 5)
    #expect(made("int64", NSNumber(value: Int8(5))).int64 == 5)
    #expect(made("bool", 1).bool && !made("bool", 0).bool && made("bool", true).bool)
    #expect(made("bool", NSNumber(value: true)).bool && made("bool", NSNumber(value: 1)).bool)
    #expect(made("double", 5).double == 5 && made("double", Float(0.5)).double == 0.5)
    #expect(
      made("double", NSNumber(value: 5)).double == 5 && made("double", NSNumber(value: Int8(5))).double == 5)
    #expect(made("float", 0.5).float == 0.5 && made("float", Double.infinity).float == .infinity)
    #expect(made("float", Double.nan).float.isNaN)
    let id = UUID()
    #expect(made("uuid", id.uuidString).uuid == id && made("uuid", id).uuid == id)
    let objectId = ObjectId.generate()
    #expect(made("objectId", objectId).objectId == objectId)
    #expect(made("optionalObjectId", NSNull()).optionalObjectId == nil)
    #expect(made("decimal", "1.50").decimal == 1.5 && made("decimal", 7).decimal == 7)
    #expect(made("decimal", 0.1).decimal == 0.1 && made("decimal", NSNumber(value: 2.5)).decimal == 2.5)
    #expect(made("mood", "cross").mood == .cross && made("mood", Mood.merry).mood == .merry)
    #expect(made("optionalInt", NSNull()).optionalInt == nil)
    #expect(made("optionalInt", Int?.none as Any).optionalInt == nil)
    #expect(made("optionalInt", Int?.some(4) as Any).optionalInt == 4)
    #expect(made("int", Int?.some(4) as Any).int == 4)
    #expect(made("optionalMood", "merry").optionalMood == .merry)
    #expect(made("ints", Set([3])).ints.first == 3 && made("ints", NSNull()).ints.isEmpty)
    #expect(made("ints", (1...3).lazy.map { $0 * 2 }).ints.map { $0 } == [2, 4, 6])
    #expect(Array(made("optionalStrings", ["a", NSNull()] as [Any]).optionalStrings) == ["a", nil])
    let json = try JSONSerialization.jsonObject(
      with: Data(#"{"int": 9223372036854775807, "double": 1, "bool": true, "ints": [1, 2]}"#.utf8))
    let object = Everything(value: json)
    #expect(object.int == .max && object.double == 1 && object.bool && Array(object.ints) == [1, 2])
  }

  @Test("Long values, empty ones, and texts of any characters are kept")
  func longValues() throws {
    let file = TemporaryFile()
    let bytes = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let text = "a\0b👩‍👩‍👧e\u{301}\u{e9}\u{FEFF}"
    try autoreleasing {
      let realm = try Realm(configuration: file.configuration)
      try realm.write {
        let object = realm.create(
          Everything.self, value: ["data": bytes, "string": text, "ints": 0..<10_000] as [String: Any])
        object.datas.append(objectsIn: [bytes, Data(), bytes])
        #expect(object.data == bytes)
      }
    }
    let object = try Realm(configuration: file.configuration).objects(Everything.self)[0]
    #expect(object.data == bytes && object.datas.count == 3 && object.datas[2] == bytes)
    #expect(Array(object.string.utf8) == Array(text.utf8) && Array(object.ints) == Array(0..<10_000))
    #expect(object.description.contains("5000000 bytes"))
  }

  @Test("An unknown stored value reads as nil if the property may be nil")
  func unknownCases() throws {
    let realm = try memoryRealm()
    try realm.write {
      let made = realm.create(
        Levelled.self, value: ["level": 2, "maybe": 1, "all": [1, 2]] as [String: Any])
      #expect(made.level == .high && made.maybe == .low && Array(made.all) == [.low, .high])
    }
    #expect(realm.objects(Levelled.self).where { $0.level > .low }.count == 1)
    #expect(realm.objects(Levelled.self).max(of: \.level) == .high)
  }
}
