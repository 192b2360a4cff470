import Foundation
import RealmSwift
import Testing

private class Cabinet: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var any: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var set: MutableSet<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Vase: Object {
  @Persisted var text = ""

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values that link to objects of a class that the realm was opened without.
@Suite struct MissingClassTests {
  /// A file in which another version of the program has linked to an object.
  private static func file() throws -> TemporaryFile {
    let file = TemporaryFile()
    let realm = try Realm(
      configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Cabinet.self, Vase.self]))
    try realm.write {
      let vase = realm.create(Vase.self, value: ["blue"])
      let cabinet = realm.create(Cabinet.self, value: ["id": 1])
      cabinet.any = .object(vase)
      cabinet.list.append(objectsIn: [.int(1), .object(vase), .fromArray([.object(vase), .int(2)])])
      cabinet.set.insert(objectsIn: [.object(vase), .string("a")])
      cabinet.map["vase"] = .object(vase)
      cabinet.map["inner"] = .fromDictionary(["vase": .object(vase)])
    }
    return file
  }

  @Test func `links to objects of a missing class are read, enumerated and described as dynamic objects`()
    throws
  {
    let file = try Self.file()
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Cabinet.self]))
    let cabinet = try #require(realm.objects(Cabinet.self).first)
    func text(_ value: AnyRealmValue?) -> String? { value?.dynamicObject?["text"] as? String }
    #expect(text(cabinet.any) == "blue")
    #expect(cabinet.list.map { text($0) } == [nil, "blue", nil])
    let inner = try #require(cabinet.list[2].listValue)
    #expect(inner.map { text($0) } == ["blue", nil])
    #expect(cabinet.set.compactMap { text($0) } == ["blue"])
    #expect(text(cabinet.map["vase"]) == "blue")
    #expect(text(cabinet.map["inner"]?.dictionaryValue?["vase"]) == "blue")
    let frozen = cabinet.freeze()
    #expect(text(frozen.any) == "blue")
    for text in [cabinet.description, cabinet.list.description, cabinet.map.description, frozen.description] {
      #expect(text.contains("blue"), "\(text)")
    }
    try realm.verify()
  }

  @Test func `links to objects of a missing class stay when other values are written beside them`() throws {
    let file = try Self.file()
    do {
      let realm = try Realm(
        configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Cabinet.self]))
      try realm.write {
        let cabinet = realm.objects(Cabinet.self).first
        cabinet?.list[0] = .int(5)
        cabinet?.map["other"] = .int(6)
      }
    }
    let all = Realm.Configuration(fileURL: file.url, objectTypes: [Cabinet.self, Vase.self])
    let cabinet = try #require(try Realm(configuration: all).objects(Cabinet.self).first)
    #expect(cabinet.any.object(Vase.self)?.text == "blue")
    #expect(cabinet.list[0] == .int(5) && cabinet.list[1].object(Vase.self)?.text == "blue")
    #expect(cabinet.map["vase"]?.object(Vase.self)?.text == "blue")
  }
}
