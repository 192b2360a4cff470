import Foundation
import RealmSwift
import Testing

private class Shelf: Object {
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

/// Values that link to objects of a class which the realm was opened without.
@Suite struct MissingClassTests {
  /// A file in which another version of the program has linked to an object.
  private static func file() throws -> TemporaryFile {
    let file = TemporaryFile()
    let realm = try Realm(
      configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Shelf.self, Vase.self]))
    try realm.write {
      let vase = realm.create(Vase.self, value: ["blue"])
      let shelf = realm.create(Shelf.self, value: ["id": 1])
      shelf.any = .object(vase)
      shelf.list.append(objectsIn: [.int(1), .object(vase), .fromArray([.object(vase), .int(2)])])
      shelf.set.insert(objectsIn: [.object(vase), .string("a")])
      shelf.map["vase"] = .object(vase)
      shelf.map["inner"] = .fromDictionary(["vase": .object(vase)])
    }
    return file
  }

  @Test func `they are read, gone through and described as none`() throws {
    let file = try Self.file()
    let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Shelf.self]))
    let shelf = try #require(realm.objects(Shelf.self).first)
    #expect(shelf.any == AnyRealmValue.none)
    #expect(Array(shelf.list.map(\.intValue)) == [1, nil, nil])
    let inner = try #require(shelf.list[2].listValue)
    #expect(Array(inner) == [AnyRealmValue.none, .int(2)])
    #expect(Set(shelf.set) == [AnyRealmValue.none, .string("a")])
    #expect(shelf.map["vase"] == AnyRealmValue.none)
    #expect(shelf.map["inner"]?.dictionaryValue?["vase"] == AnyRealmValue.none)
    let frozen = shelf.freeze()
    for text in [shelf.description, shelf.list.description, shelf.map.description, frozen.description] {
      #expect(text.contains("(null)") && !text.contains("blue"), "\(text)")
    }
    try realm.verify()
  }

  @Test func `they stay as they are while other values are written beside them`() throws {
    let file = try Self.file()
    do {
      let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: [Shelf.self]))
      try realm.write {
        let shelf = realm.objects(Shelf.self).first
        shelf?.list[0] = .int(5)
        shelf?.map["other"] = .int(6)
      }
    }
    let all = Realm.Configuration(fileURL: file.url, objectTypes: [Shelf.self, Vase.self])
    let shelf = try #require(try Realm(configuration: all).objects(Shelf.self).first)
    #expect(shelf.any.object(Vase.self)?.text == "blue")
    #expect(shelf.list[0] == .int(5) && shelf.list[1].object(Vase.self)?.text == "blue")
    #expect(shelf.map["vase"]?.object(Vase.self)?.text == "blue")
  }
}
