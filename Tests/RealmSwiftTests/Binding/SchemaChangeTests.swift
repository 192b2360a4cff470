import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport
import Testing

private enum PetKind: Int, PersistableEnum { case cat = 1, dog = 2 }
private enum PetMood: String, PersistableEnum { case calm, merry }
private struct EvenCount: FailableCustomPersistable, Equatable {
  var number: Int
  init(_ number: Int) { self.number = number }
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0, persistedValue > 0 else { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
}

/// The classes of one program in two versions. Both versions have the same tables, because they use the same names.
private class AnimalBefore: Object {
  @Persisted var name: String
  @Persisted var tag: TagBefore?
  override class func _realmObjectName() -> String? { "Animal" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class TagBefore: EmbeddedObject {
  @Persisted var number: Int
  override class func _realmObjectName() -> String? { "Tag" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class AnimalAfter: Object {
  @Persisted var name: String
  @Persisted var kind = PetKind.dog
  @Persisted var mood: PetMood
  @Persisted var even = EvenCount(4)
  @Persisted(indexed: true) var indexed = PetKind.dog
  @Persisted var maybe: PetKind?
  @Persisted var kinds: List<PetKind>
  @Persisted var tag: TagAfter?
  override class func _realmObjectName() -> String? { "Animal" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class TagAfter: EmbeddedObject {
  @Persisted var number: Int
  @Persisted var kind = PetKind.dog
  override class func _realmObjectName() -> String? { "Tag" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class RequiredThing: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var name: String
  @Persisted var score: Double
  @Persisted var kind: PetKind
  @Persisted var at: Date
  @Persisted var bytes: Data
  @Persisted var gone: List<Int>
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class OptionalThing: Object {
  @Persisted(primaryKey: true) var id: Int?
  @Persisted(indexed: true) var name: String?
  @Persisted var score: Double?
  @Persisted var kind: PetKind?
  @Persisted var at: Date?
  @Persisted var bytes: Data?
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Narrow: Object {
  @Persisted(primaryKey: true) var id: Int32
  @Persisted var plain: Int8
  @Persisted var maybe: Int16?
  @Persisted(indexed: true) var indexed: Int32
  @Persisted var list: List<Int8>
  @Persisted var optionals: List<Int8?>
  @Persisted var set: MutableSet<Int16>
  @Persisted var map: Map<String, Int32>
  override class func _realmObjectName() -> String? { "Number" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Wide: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var plain: Int64
  @Persisted var maybe: Int?
  @Persisted(indexed: true) var indexed: Int
  @Persisted var list: List<Int>
  @Persisted var optionals: List<Int64?>
  @Persisted var set: MutableSet<Int64>
  @Persisted var map: Map<String, Int>
  override class func _realmObjectName() -> String? { "Number" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ThingWithoutKey: Object {
  @Persisted var code: Int
  @Persisted var name: String
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ThingWithKey: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ThingWithOtherKey: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var name: String
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ThingWithEven: Object {
  @Persisted var code: Int
  @Persisted var name: String
  @Persisted var even: EvenCount
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ThingWithTwoEvens: Object {
  @Persisted var code: Int
  @Persisted var name: String
  @Persisted var even: EvenCount
  @Persisted var other: EvenCount
  @Persisted var known = EvenCount(2)
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class ThingWithMaybeEven: Object {
  @Persisted var code: Int
  @Persisted var name: String
  @Persisted var even: EvenCount?
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct SchemaChangeTests {
  private func refusal(_ file: TemporaryFile, _ type: ObjectBase.Type, version: UInt64) -> String {
    let error = #expect(throws: Realm.Error.self) { try open(file, [type], version: version) { _ in } }
    #expect(error?.code == .schemaMismatch)
    return error?.localizedDescription ?? ""
  }

  @Test func `all properties without a value for older objects are named at once`() throws {
    let file = TemporaryFile()
    try open(file, [ThingWithoutKey.self]) { realm in
      try realm.write { _ = realm.create(ThingWithoutKey.self) }
    }
    let told = refusal(file, ThingWithTwoEvens.self, version: 1)
    #expect(told.contains("Thing.even, Thing.other have no value") && !told.contains("known"))
    // The file was not changed.
    try open(file, [ThingWithoutKey.self]) { #expect($0.objects(ThingWithoutKey.self).count == 1) }
  }

  @Test(arguments: 0...3)
  func `a primary key is added if the objects have different values for it`(_ count: Int) throws {
    for (before, after, name) in [
      (ThingWithoutKey.self, ThingWithKey.self, "id"), (ThingWithKey.self, ThingWithOtherKey.self, "_id"),
    ] as [(Object.Type, Object.Type, String)] {
      let file = TemporaryFile()
      try open(file, [before]) { realm in
        try realm.write { for number in 0..<count { realm.create(before, value: [number, "x"]) } }
      }
      guard count > 1 else {
        try open(file, [after], version: 1) { realm in
          #expect(realm.objects(after).count == count)
          #expect((realm.object(ofType: after, forPrimaryKey: 0) != nil) == (count == 1))
          try realm.verify()
        }
        continue
      }
      let message = refusal(file, after, version: 1)
      for part in ["property Thing.\(name) is the primary key", "the same value in it: 0.", "migrationBlock"]
      {
        #expect(message.contains(part), "'\(message)' lacks '\(part)'")
      }
      try open(file, [before]) { realm in #expect(realm.objects(before).count == count) }
    }
  }

  @Test func `a missing value for older objects is reported only if there are such objects`() throws {
    let file = TemporaryFile()
    try open(file, [ThingWithoutKey.self]) { _ in }
    try open(file, [ThingWithEven.self], version: 1) { realm in
      try realm.write { realm.create(ThingWithEven.self, value: ["even": EvenCount(2)]) }
      #expect(realm.objects(ThingWithEven.self)[0].even == EvenCount(2))
    }
    // The property becomes optional and required again. No object has nil the first time, and one has it the second
    // time.
    try open(file, [ThingWithMaybeEven.self], version: 2) { _ in }
    try open(file, [ThingWithEven.self], version: 3) { realm in
      #expect(realm.objects(ThingWithEven.self)[0].even == EvenCount(2))
    }
    try open(file, [ThingWithMaybeEven.self], version: 4) { realm in
      try realm.write { _ = realm.create(ThingWithMaybeEven.self) }
    }
    #expect(refusal(file, ThingWithEven.self, version: 5).contains("Thing.even has no value"))
    let other = TemporaryFile()
    try open(other, [ThingWithoutKey.self]) { realm in
      try realm.write { _ = realm.create(ThingWithoutKey.self) }
    }
    #expect(refusal(other, ThingWithEven.self, version: 1).contains("Thing.even has no value"))
    try open(other, [ThingWithoutKey.self]) { realm in
      #expect(realm.objects(ThingWithoutKey.self).count == 1)
    }
  }

  private func open<Result>(
    _ file: TemporaryFile, _ types: [ObjectBase.Type], version: UInt64 = 0, readOnly: Bool = false,
    _ body: (Realm) throws -> Result
  ) throws -> Result {
    let configuration = Realm.Configuration(
      fileURL: file.url, readOnly: readOnly, schemaVersion: version, objectTypes: types)
    return try autoreleasing { try body(Realm(configuration: configuration)) }
  }

  private func expectStop(
    _ file: TemporaryFile, _ parts: [String], _ read: @escaping @Sendable (Results<Narrow>) -> Void
  ) {
    let url = file.url
    MisuseTests().expectStop(parts) {
      let realm = try Realm(configuration: .init(fileURL: url, objectTypes: [Narrow.self]))
      read(realm.objects(Narrow.self))
    }
  }

  @Test func `an added property reads the default of its class if its type has no zero`() throws {
    let file = TemporaryFile()
    try open(file, [AnimalBefore.self, TagBefore.self]) { realm in
      try realm.write {
        for number in 0..<3 {
          realm.create(AnimalBefore.self, value: ["name": "a\(number)", "tag": ["number": number]])
        }
      }
    }
    try open(file, [AnimalAfter.self, TagAfter.self], version: 1) { realm in
      let animals = realm.objects(AnimalAfter.self)
      for animal in animals {
        #expect(
          animal.kind == .dog && animal.mood == .calm && animal.even == EvenCount(4) && animal.indexed == .dog
        )
        #expect(animal.maybe == nil && animal.kinds.isEmpty && animal.tag?.kind == .dog)
        #expect(!animal.description.isEmpty)
      }
      #expect(animals.where { $0.kind == .dog }.count == 3 && animals.where { $0.indexed == .dog }.count == 3)
      #expect(animals.where { $0.mood == .calm }.count == 3 && animals.where { $0.kind == .cat }.isEmpty)
      #expect(animals.sorted(by: \.mood).count == 3)
      try realm.write {
        animals[1].kind = .cat
        realm.create(AnimalAfter.self, value: animals[0])
      }
      #expect(animals.map(\.kind) == [.dog, .cat, .dog, .dog])
      try realm.verify()
    }
    try open(file, [AnimalAfter.self, TagAfter.self], version: 1) { realm in
      #expect(realm.objects(AnimalAfter.self).map(\.kind) == [.dog, .cat, .dog, .dog])
    }
  }

  @Test func `properties become optional and required, and existing values stay`() throws {
    let file = TemporaryFile()
    try open(file, [RequiredThing.self]) { realm in
      try realm.write {
        for id in 1...600 {
          realm.create(
            RequiredThing.self,
            value: ["id": id, "name": "n\(id % 7)", "score": Double(id), "kind": PetKind.cat, "gone": [id]])
        }
      }
    }
    try open(file, [OptionalThing.self], version: 1) { realm in
      let things = realm.objects(OptionalThing.self)
      #expect(things.count == 600 && things[5].id == 6 && things[5].name == "n6" && things[5].score == 6)
      #expect(things.where { $0.name == "n3" }.count == 86)
      #expect(realm.object(ofType: OptionalThing.self, forPrimaryKey: 77)?.score == 77)
      try realm.write {
        realm.create(OptionalThing.self, value: ["id": nil as Int?])
        (things[0].name, things[0].score, things[0].kind) = (nil, nil, nil)
      }
      #expect(things.where { $0.name == nil }.count == 2)
      try realm.verify()
    }
    try open(file, [RequiredThing.self], version: 2) { realm in
      let things = realm.objects(RequiredThing.self)
      #expect(things.count == 601 && things[5].name == "n6" && things[5].score == 6 && things[5].kind == .cat)
      #expect(things[0].name == "" && things[0].score == 0 && things[0].kind == .cat)
      #expect(things[600].id == 0 && things[600].at == Date(timeIntervalSince1970: 0))
      #expect(things[600].bytes == Data() && things[600].gone.isEmpty)
      #expect(things.where { $0.name == "" }.count == 2)
      #expect(realm.object(ofType: RequiredThing.self, forPrimaryKey: 0)?.name == "")
      try realm.verify()
    }
  }

  @Test func `a primary key that nil and zero would share is refused, and nothing is changed`() throws {
    let file = TemporaryFile()
    try open(file, [OptionalThing.self]) { realm in
      try realm.write {
        realm.create(OptionalThing.self, value: ["id": nil as Int?])
        realm.create(OptionalThing.self, value: ["id": 0])
      }
    }
    let message = refusal(file, RequiredThing.self, version: 1)
    #expect(message.contains("Thing.id is the primary key") && message.contains("the same value in it: 0."))
    try open(file, [OptionalThing.self]) { realm in #expect(realm.objects(OptionalThing.self).count == 2) }
  }

  @Test func `integers of all widths are one type in a file`() throws {
    let file = TemporaryFile()
    let value: [String: Any] = [
      "id": 5, "plain": 7, "maybe": -9, "indexed": 11, "list": [1, 2], "optionals": [3, nil] as [Int?],
      "set": [4],
      "map": ["a": 6],
    ]
    try open(file, [Narrow.self]) { realm in try realm.write { _ = realm.create(Narrow.self, value: value) } }
    try open(file, [Wide.self]) { realm in
      let wide = realm.objects(Wide.self)[0]
      #expect(wide.id == 5 && wide.plain == 7 && wide.maybe == -9 && wide.indexed == 11)
      #expect(Array(wide.list) == [1, 2] && Array(wide.optionals) == [3, nil] && wide.set.contains(4))
      #expect(wide.map["a"] == 6 && realm.object(ofType: Wide.self, forPrimaryKey: 5) == wide)
      try realm.write {
        (wide.plain, wide.maybe, wide.indexed) = (300, 70_000, 1 << 40)
        wide.list.append(300)
        wide.optionals.append(300)
        wide.map["b"] = 1 << 40
        realm.create(Wide.self, value: ["id": 1 << 40])
      }
      #expect(realm.objects(Wide.self).where { $0.indexed == 1 << 40 }.count == 1)
    }
    try open(file, [Narrow.self]) { realm in
      let narrow = realm.objects(Narrow.self)[0]
      #expect(narrow.id == 5 && narrow.list[1] == 2 && narrow.optionals[1] == nil && narrow.map["a"] == 6)
      #expect(realm.objects(Narrow.self).where { $0.indexed == 11 }.isEmpty)
      expectStop(file, ["Number.plain", "300", "-128...127"]) { _ = $0[0].plain }
      expectStop(file, ["Number.maybe", "70000"]) { _ = $0[0].maybe }
      expectStop(file, ["Number.indexed"]) { _ = $0[0].indexed }
      expectStop(file, ["Number.id"]) { _ = $0[1].id }
      expectStop(file, ["Int8", "300"]) { _ = $0[0].list[2] }
      expectStop(file, ["Int8", "300"]) { _ = $0[0].optionals[2] }
      expectStop(file, ["Int32"]) { _ = $0[0].map["b"] }
      try realm.write { narrow.plain = -1 }
      #expect(narrow.plain == -1)
    }
  }

  @Test func `a read-only realm ignores properties that only the file has`() throws {
    let file = TemporaryFile()
    try open(file, [AnimalAfter.self, TagAfter.self]) { realm in
      try realm.write { _ = realm.create(AnimalAfter.self, value: ["name": "a", "tag": ["number": 3]]) }
    }
    try open(file, [AnimalBefore.self, TagBefore.self], readOnly: true) { realm in
      #expect(realm.objects(AnimalBefore.self)[0].tag?.number == 3)
    }
    let old = TemporaryFile()
    try open(old, [AnimalBefore.self, TagBefore.self]) { _ in }
    let error = #expect(throws: Realm.Error.self) {
      try open(old, [AnimalAfter.self, TagAfter.self], readOnly: true) { _ in }
    }
    for part in ["Animal.kind: Int was added", "Tag.kind: Int was added", "open it once without readOnly"] {
      #expect(error?.localizedDescription.contains(part) == true)
    }
  }
}
