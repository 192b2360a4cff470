import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private enum Kind: String, PersistableEnum, Codable { case cat, dog }
private enum AnimalLevel: Int, PersistableEnum, Codable { case low = 1, high = 2 }
private struct Even: FailableCustomPersistable, Codable, Hashable {
  var half: Int
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0 else { return nil }
    half = persistedValue / 2
  }
  var persistableValue: Int { half * 2 }
  init(from decoder: any Decoder) throws { half = try decoder.singleValueContainer().decode(Int.self) / 2 }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(persistableValue)
  }
}

/// The class of another version of the program.
private class WideAnimal: Object, Codable {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var kind: String
  @Persisted var level: Int?
  @Persisted var even: Int
  @Persisted var kinds: List<String>
  @Persisted var levels: MutableSet<Int>
  @Persisted var maybes: List<String?>
  @Persisted var map: Map<String, String>
  @Persisted var note = ""
  override class func _realmObjectName() -> String? { "Animal" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Animal: Object, Codable {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var kind = Kind.cat
  @Persisted var level: AnimalLevel?
  @Persisted var even = Even(persistedValue: 4)!
  @Persisted var kinds: List<Kind>
  @Persisted var levels: MutableSet<AnimalLevel>
  @Persisted var maybes: List<Kind?>
  @Persisted var map: Map<String, Kind>
  @Persisted var note = ""
}

/// A file with a row whose values are unknown to the narrow classes.
private func narrowRealm(_ file: TemporaryFile) throws -> Realm {
  var configuration = file.configuration
  configuration.objectTypes = [WideAnimal.self]
  try autoreleasing {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      realm.create(
        WideAnimal.self,
        value: [
          "id": 1, "kind": "lynx", "level": 7, "even": 3, "kinds": ["cat", "lynx", "dog"], "levels": [1, 9],
          "maybes": ["lynx", NSNull(), "cat"] as [Any], "map": ["a": "lynx", "b": "dog"], "note": "n",
        ] as [String: Any])
      realm.create(
        WideAnimal.self, value: ["id": 2, "kind": "dog", "even": 6, "kinds": ["dog"]] as [String: Any])
    }
  }
  configuration.objectTypes = [Animal.self]
  return try Realm(configuration: configuration)
}

@Suite struct UnknownValueTests {
  private func expectRaw(_ animal: Animal, _ what: String) {
    #expect(animal["kind"] as? String == "lynx" && animal.persistedValue(of: \.kind) == "lynx", "\(what)")
    #expect(
      animal["level"] as? Int == 7 && animal.persistedValue(of: \.level) == 7 && animal.level == nil,
      "\(what)")
    #expect(animal["even"] as? Int == 3 && animal.persistedValue(of: \.even) == 3, "\(what)")
    #expect(animal.kinds.persistedValues == ["cat", "lynx", "dog"] && animal.kinds.count == 3, "\(what)")
    #expect(Set(animal.levels.persistedValues) == [1, 9] && animal.levels.count == 2, "\(what)")
    #expect(
      animal.maybes.persistedValues == ["lynx", nil, "cat"] && Array(animal.maybes) == [nil, nil, .cat])
    #expect(
      animal.map.persistedValues.map(\.value) == ["lynx", "dog"] && animal.map.keys == ["a", "b"], "\(what)")
    #expect(animal.kinds[0] == .cat && animal.kinds[2] == .dog && animal.map["b"] == .dog, "\(what)")
    let text = animal.description
    for part in ["kind = lynx", "level = 7", "even = 3", "[1] lynx", "[a]: lynx", "note = n"] {
      #expect(text.contains(part), "\(what): \(text) lacks \(part)")
    }
    #expect(animal.kinds.description.contains("lynx") && animal.levels.description.contains("9"), "\(what)")
    #expect(animal.map.description.contains("lynx"), "\(what)")
  }

  @Test func `a raw value that the program has no case for is printed, copied and encoded as it is stored`()
    throws
  {
    let file = TemporaryFile()
    let realm = try narrowRealm(file)
    let animal = try #require(realm.object(ofType: Animal.self, forPrimaryKey: 1))
    expectRaw(animal, "managed")
    let copy = Animal(value: animal)
    expectRaw(copy, "unmanaged")
    expectRaw(Animal(value: copy), "a copy of a copy")
    let other = try memoryRealm([Animal.self])
    try other.write {
      expectRaw(other.create(Animal.self, value: animal), "created elsewhere")
      expectRaw(other.create(Animal.self, value: copy, update: .modified), "updated elsewhere")
      expectRaw(other.create(Animal.self, value: animal, update: .all), "replaced elsewhere")
      other.deleteAll()
      other.add(copy)
    }
    expectRaw(copy, "added")
    try realm.write {
      copy.realm.map { _ in }
      let second = Animal(value: animal)
      second.id = 3
      realm.add(second)
      expectRaw(second, "added where it came from")
    }
    for one in [animal, Animal(value: animal)] {
      let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(one)) as? [String: Any]
      #expect(json?["kind"] as? String == "lynx" && json?["level"] as? Int == 7 && json?["even"] as? Int == 3)
      #expect(json?["kinds"] as? [String] == ["cat", "lynx", "dog"])
      #expect((json?["levels"] as? [Int]).map { Set($0) } == [1, 9])
      #expect(json?["map"] as? [String: String] == ["a": "lynx", "b": "dog"])
    }
  }

  @Test func `collections with unknown raw values change as others do`() throws {
    let file = TemporaryFile()
    let realm = try narrowRealm(file)
    let animal = try #require(realm.object(ofType: Animal.self, forPrimaryKey: 1))
    func change(_ animal: Animal) {
      animal.kinds.append(.dog)
      animal.kinds.move(from: 1, to: 0)
      animal.kinds.remove(at: 1)
      #expect(animal.kinds.persistedValues == ["lynx", "dog", "dog"] && animal.kinds.index(of: .dog) == 1)
      animal.levels.insert(.high)
      animal.levels.remove(.low)
      #expect(Set(animal.levels.persistedValues) == [2, 9] && animal.levels.contains(.high))
      #expect(!animal.levels.contains(.low))
      animal.map["a2"] = .cat
      animal.map.removeObject(for: "b")
      #expect(animal.map.persistedValues.map(\.key) == ["a", "a2"])
      #expect(animal.map.persistedValues.map(\.value) == ["lynx", "cat"])
      animal.kind = .dog
      animal.even = Even(persistedValue: 8)!
      #expect(animal.kind == .dog && animal["kind"] as? Kind == .dog && animal.even.half == 4)
      #expect(animal.persistedValue(of: \.kind) == "dog")
    }
    let copy = Animal(value: animal)
    change(copy)
    try realm.write { change(animal) }
    let other = try memoryRealm([Animal.self])
    try other.write { other.add(copy) }
    #expect(
      copy.kinds.persistedValues == ["lynx", "dog", "dog"] && copy.map.persistedValues.first?.value == "lynx")
    copy.realm?.invalidate()
    // The loop stops before the element that can't be read.
    var seen: [Kind] = []
    for kind in animal.kinds.reversed() {
      seen.append(kind)
      if seen.count == 2 { break }
    }
    #expect(seen == [.dog, .dog])
  }

  @Test func `unmanaged copies read unknown raw values that were replaced`() {
    // The leak checker of the memory tests looks for leaks. This test only checks that nothing crashes.
    for _ in 0..<3 {
      let object = Animal()
      object["kind"] = "dog"
      #expect(Animal(value: object).kind == .dog)
    }
  }
}

extension MisuseTests {
  @Test func `only a read of an unknown raw value stops the program, with class, property and value`() throws
  {
    // Each call has a file of its own, because the threads that stop keep theirs open.
    @Sendable func animal() throws -> Animal {
      try #require(narrowRealm(TemporaryFile()).object(ofType: Animal.self, forPrimaryKey: 1))
    }
    expectStop(["Unreadable value", "Animal.kind", "'lynx'", "Kind", "persistedValue(of: \\.kind)"]) {
      _ = try animal().kind
    }
    expectStop(["Unreadable value", "Animal.kind", "'lynx'"]) { _ = Animal(value: try animal()).kind }
    expectStop(["Unreadable value", "Animal.even", "3", "Even"]) { _ = try animal().even }
    expectStop(["Unreadable value", "Animal.kinds[1]", "'lynx'", "persistedValues"]) {
      _ = Array(try animal().kinds)
    }
    expectStop(["Unreadable value", "Animal.map[\"a\"]", "'lynx'"]) { _ = try animal().map["a"] }
    expectStop(["Unreadable value", "'lynx'", "Kind"]) { _ = Animal(value: try animal()).kinds[1] }
  }

  @Test func `an unknown raw value is refused where it could not be read, and the message lists the cases`() {
    let remedy = ["Invalid value", "Animal."]
    expectStop(remedy + ["level", "seven", "1, 2"]) { Animal()["level"] = "seven" }
    expectStop(remedy + ["level", "7.5"]) { _ = Animal(value: ["level": 7.5]) }
    expectStop(remedy + ["kind", "lynx", "cat, dog"]) { Animal()["kind"] = "lynx" }
    expectStop(remedy + ["even", "3", "Even", "Int"]) { _ = Animal(value: ["even": 3]) }
    expectStop(remedy + ["kinds", "lynx", "cat, dog"]) { _ = Animal(value: ["kinds": ["lynx"]]) }
    expectStop(remedy + ["maybes", "9"]) { Animal()["maybes"] = [9] }
    expectStop(remedy + ["levels", "9"]) { Animal()["levels"] = [9] }
    expectStop(remedy + ["map", "lynx"]) { Animal()["map"] = ["a": "lynx"] }
    expectStop(remedy + ["level", "seven"]) {
      let realm = try memoryRealm([Animal.self])
      try realm.write { realm.create(Animal.self, value: ["id": 1])["level"] = "seven" }
    }
  }
}
