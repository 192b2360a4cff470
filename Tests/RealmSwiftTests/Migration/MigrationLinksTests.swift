import Foundation
import RealmSwift
import Testing

private class Holder1: Object {
  @Persisted var one: Kept?
  @Persisted var many: List<Kept>
  override class func _realmObjectName() -> String? { "Holder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Holder2: Object {
  @Persisted var first: Kept?
  @Persisted var second: Kept?
  @Persisted var others: List<Kept>
  @Persisted var any: AnyRealmValue
  override class func _realmObjectName() -> String? { "Holder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class PersonWithAge: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Owner1: Object {
  @Persisted var parts: List<Part1>
  @Persisted var any: Part1?
  override class func _realmObjectName() -> String? { "Owner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Part1: EmbeddedObject {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Part" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Owner2: Object {
  @Persisted var parts: Part2?
  @Persisted var any: AnyRealmValue
  override class func _realmObjectName() -> String? { "Owner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Part2: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Part" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Migrations of classes that link to other objects or own them.
@Suite struct MigrationLinksTests: MigrationFileTests {
  @Test func `an old object that is assigned to a new one becomes the new object of its row`() throws {
    let file = try filled()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Holder") { old, new in
        new?["first"] = old?["one"]
        new?["others"] = old?["many"]
        new?["second"] = ["key": 1, "name": "made"]
        new?["any"] = old?["one"]
      }
      migration.enumerateObjects(ofType: "Keeper") { _, new in new?["name"] = "kept" }
      migration.enumerateObjects(ofType: "Kept") { old, new in new?["key"] = (old?["key"] as? Int ?? 0) + 10 }
    }
    try open(file, [Holder1.self, Kept.self]) { realm in
      try realm.write {
        let kept = (0..<2).map { realm.create(Kept.self, value: ["key": $0, "name": "n\($0)"]) }
        let holder = realm.create(Holder1.self)
        holder.one = kept[1]
        holder.many.append(objectsIn: [kept[0], kept[1], kept[1]])
      }
    }
    try open(file, [Holder2.self, Kept.self], version: 1, block: block) { realm in
      let holder = try #require(realm.objects(Holder2.self).first)
      #expect(holder.first?.name == "n1" && holder.others.map(\.name) == ["n0", "n1", "n1"])
      #expect(holder.second?.name == "made" && holder.any.object(Kept.self)?.name == "n1")
      #expect(Set(realm.objects(Kept.self).map(\.key)) == [10, 11, 1])
      try realm.verify()
    }
  }

  @Test func `an old object whose new one was deleted becomes nil, and a rename leaves other classes alone`()
    throws
  {
    let file = try filled()
    try open(file, [Holder1.self, Kept.self]) { realm in
      try realm.write {
        let kept = (0..<3).map { realm.create(Kept.self, value: ["key": $0, "name": "n\($0)"]) }
        let holder = realm.create(Holder1.self)
        holder.one = kept[1]
        holder.many.append(objectsIn: kept)
      }
    }
    let block: MigrationBlock = { migration, _ in
      let made = migration.create("Kept", value: ["key": 9, "name": "made"])
      migration.enumerateObjects(ofType: "Kept") { old, new in
        new?["key"] = (old?["key"] as? Int ?? 0) + 20
        if old?["key"] as? Int == 1, let new {
          migration.delete(new)
          migration.renameProperty(onType: "Person", from: "years", to: "age")
        }
      }
      migration.enumerateObjects(ofType: "Holder") { old, new in
        new?["first"] = old?["one"]
        new?["others"] = old?["many"]
        new?["any"] = old?["one"]
        new?["second"] = made
      }
    }
    try open(file, [Holder2.self, Kept.self, PersonWithAge.self], version: 1, block: block) { realm in
      let holder = try #require(realm.objects(Holder2.self).first)
      #expect(holder.first == nil && holder.any == AnyRealmValue.none && holder.second?.key == 9)
      #expect(
        holder.others.map(\.key) == [20, 22] && Set(realm.objects(Kept.self).map(\.key)) == [9, 20, 22])
      #expect(realm.objects(PersonWithAge.self).map(\.age) == [20, 21, 22])
      try realm.verify()
    }
  }

  @Test func `an embedded object whose class is no longer embedded is moved and not copied`() throws {
    let file = TemporaryFile()
    try open(file, [Owner1.self, Part1.self]) { realm in
      try realm.write {
        _ = realm.create(Owner1.self, value: ["parts": [["name": "a"]], "any": ["name": "b"]])
      }
    }
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Owner") { old, new in new?["parts"] = old?["any"] }
    }
    try open(file, [Owner2.self, Part2.self], version: 1, block: block) { realm in
      #expect(
        Set(realm.objects(Part2.self).map(\.name)) == ["a", "b"] && realm.objects(Part2.self).count == 2)
      #expect(realm.objects(Owner2.self).first?.parts?.name == "b")
    }
  }

  @Test func `an object that is no longer embedded stays, whatever else its owner loses`() throws {
    for types in [[Owner2.self, Part2.self], [Part2.self, Owner2.self]] as [[ObjectBase.Type]] {
      let file = TemporaryFile()
      try open(file, [Owner1.self, Part1.self]) { realm in
        try realm.write { _ = realm.create(Owner1.self, value: ["parts": [["name": "a"], ["name": "b"]]]) }
      }
      try open(file, types, version: 1) { realm in
        #expect(Set(realm.objects(Part2.self).map(\.name)) == ["a", "b"])
        let owner = try #require(realm.objects(Owner2.self).first)
        #expect(owner.parts == nil && owner.any == AnyRealmValue.none)
        try realm.verify()
      }
    }
  }

  @Test func `classes without links to them are removed, and so are classes that only link to each other`()
    throws
  {
    let file = try filled()
    try open(file, [Node.self, Base.self, BaseHolder.self]) { realm in
      try realm.write {
        realm.create(Node.self, value: ["key": "a", "next": ["key": "b"]])
        realm.create(BaseHolder.self, value: ["base": ["id": 1]])
      }
    }
    let block: MigrationBlock = { migration, _ in
      for name in ["Node", "Base", "Pet"] { #expect(migration.deleteData(forType: name)) }
    }
    try open(file, [PersonWithNewKey.self], version: 1, block: block) { realm in
      #expect(realm.objects(PersonWithNewKey.self).count == 3)
    }
    let bare = try opened(Realm.Configuration(fileURL: file.url, objectTypes: []))
    // A class that stays links to Base, which has no objects then.
    #expect(Set(bare.schema.objectSchema.map(\.className)) == ["Person", "Base", "BaseHolder"])
    #expect(bare.dynamicObjects("Base").isEmpty && bare.dynamicObjects("BaseHolder").first?["base"] == nil)
    try bare.verify()
  }
}
