import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class WideCounts: Object {
  @Persisted var count: Int
  @Persisted var maybe: Int?
  @Persisted var list: List<Int?>
  @Persisted var plain: List<Int>
  override class func _realmObjectName() -> String? { "Counts" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Counts: Object, Codable {
  @Persisted var count: Int8
  @Persisted var maybe: Int8?
  @Persisted var list: List<Int8?>
  @Persisted var plain: List<Int8>
}

private func counts() throws -> Counts {
  let file = TemporaryFile()
  var configuration = file.configuration
  configuration.objectTypes = [WideCounts.self]
  try autoreleasing {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      realm.create(
        WideCounts.self,
        value: ["count": 300, "maybe": -300, "list": [1, 400, NSNull()] as [Any], "plain": [500, 2]]
          as [String: Any])
    }
  }
  configuration.objectTypes = [Counts.self]
  return try #require(Realm(configuration: configuration).objects(Counts.self).first)
}

@Suite struct NarrowNumberTests {
  @Test func `a number that is too great for its type is printed, copied and encoded as it is stored`() throws
  {
    func expectKept(_ counts: Counts, _ what: String) throws {
      let text = counts.description
      for part in ["count = 300", "maybe = -300", "[1] 400", "[0] 500"] {
        #expect(text.contains(part), "\(what): \(text) lacks \(part)")
      }
      #expect(counts["count"] as? Int == 300 && counts["maybe"] as? Int == -300, "\(what)")
      #expect(counts.list[0] == 1 && counts.list[2] == nil && counts.plain[1] == 2, "\(what)")
      let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(counts)) as? [String: Any]
      #expect(json?["count"] as? Int == 300 && json?["plain"] as? [Int] == [500, 2], "\(what)")
    }
    let found = try counts()
    try expectKept(found, "managed")
    try expectKept(Counts(value: found), "copied")
    let other = try memoryRealm([Counts.self])
    try other.write { try expectKept(other.create(Counts.self, value: found), "created elsewhere") }
  }
}

extension MisuseTests {
  @Test func `a read of a number that is too great for its type stops the program, with class and property`()
  {
    let words = ["Unreadable value", "Counts."]
    expectStop(words + ["count", "300", "-128...127"]) { _ = try counts().count }
    expectStop(words + ["maybe", "-300", "-128...127"]) { _ = try counts().maybe }
    expectStop(words + ["count", "300"]) { _ = Counts(value: try counts()).count }
    expectStop(words + ["maybe", "-300"]) { _ = Counts(value: try counts()).maybe }
    expectStop(words + ["count", "300"]) { _ = try counts().persistedValue(of: \.count) }
    expectStop(words + ["list", "400"]) { _ = try counts().list[1] }
    expectStop(words + ["plain[0]", "500"]) { _ = try counts().plain[0] }
    expectStop(["Unreadable value", "400"]) { _ = Counts(value: try counts()).list[1] }
    expectStop(["Unreadable value", "400"]) { _ = try counts().list.persistedValues }
  }
}
