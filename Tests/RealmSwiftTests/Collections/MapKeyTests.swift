import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Maps: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var ints: Map<String, Int?>
  @Persisted var texts: Map<String, String?>
  @Persisted var dates: Map<String, Date?>
  @Persisted var moods: Map<String, Mood?>
  @Persisted var decimals: Map<String, Decimal128?>
  @Persisted var dogs: Map<String, Dog?>
  @Persisted var values: Map<String, AnyRealmValue>
  @Persisted var plain: Map<String, Int>
}

private let types: [ObjectBase.Type] = [Maps.self, Box.self, Dog.self, Person.self]
/// Two texts that people take for one text, and that files store as two.
private let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")

/// Checks the nil values of a map with optional values.
private func checkNil<Value>(_ map: Map<String, Value?>, _ some: Value) {
  let unknown: Value? = nil
  map["a"] = some
  map["b"] = unknown
  #expect(
    map.keys == ["a", "b"] && map["b"] != nil && map["b"]! == nil && map["c"] == nil,
    "\(Map<String, Value?>.self)")
  map["a"] = unknown
  #expect(map.count == 2 && map["a"] != nil && map.values.allSatisfy { $0 == nil })
  map["a"] = .some(.none)
  #expect(map.count == 2)
  map["a"] = nil
  #expect(map.keys == ["b"] && map["a"] == nil)
  map["b"] = .none
  #expect(map.isEmpty)
  for value in [some, nil] as [Value?] { map["x"] = value }
  #expect(map.count == 1)
  map.removeAll()
}

@Suite struct MapKeyTests {
  @Test func `a nil that is a value is stored, and the literal nil removes the key`() throws {
    let realm = try memoryRealm(types)
    let maps = Maps()
    realm.beginWrite()
    for _ in 0..<2 {
      checkNil(maps.ints, 1)
      checkNil(maps.texts, "x")
      checkNil(maps.dates, Date(timeIntervalSince1970: 5))
      checkNil(maps.moods, .merry)
      checkNil(maps.decimals, "1.5")
      checkNil(maps.dogs, Dog(value: ["name": "Rex"]))
      maps.values["a"] = AnyRealmValue.none
      #expect(maps.values.count == 1 && maps.values["a"] == AnyRealmValue.none)
      maps.values["a"] = nil
      #expect(maps.values.isEmpty)
      if maps.realm == nil { realm.add(maps) }
    }
    try realm.commitWrite()
    let copy = Maps(value: ["ints": ["a": Int?.none as Any, "b": 1]])
    #expect(copy.ints.keys == ["a", "b"] && copy.ints["a"] == .some(nil))
    try realm.verify()
  }

  @Test func `a key is accepted or refused with an error, and a refused key in a read stops nothing`() throws
  {
    let realm = try memoryRealm(types)
    let maps = Maps()
    realm.beginWrite()
    for _ in 0..<2 {
      for key in ["a.b", ".", "$", "$a", "a.", ".\u{301}", "$\u{301}x"] {
        do {
          try maps.plain.insert(1, forKey: key)
          Issue.record("\(key) was taken")
        } catch let error as Realm.Error {
          #expect(error.code == .invalidInput && error.localizedDescription.contains(key))
        }
        #expect(maps.plain[key] == nil)
        maps.plain[key] = nil
        maps.plain.removeObject(for: key)
        #expect(maps.plain.isEmpty)
      }
      for key in ["", "a", "a$", "é", "\u{301}"] {
        try maps.plain.insert(1, forKey: key)
        try maps.plain.insert(2, forKey: key)
        #expect(maps.plain[key] == 2)
      }
      #expect(maps.plain.count == 5)
      maps.plain.removeAll()
      if maps.realm == nil { realm.add(maps) }
    }
    try realm.commitWrite()
  }

  @Test func `keys that differ only in their bytes stay two keys, however a map is copied`() throws {
    let file = TemporaryFile()
    let (realm, other) = (
      try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: types)),
      try memoryRealm(types)
    )
    func check(_ box: Box, _ what: String) {
      for map in [
        box.map, box.any.dictionaryValue, box.list.first?.dictionaryValue, box.map["in"]?.dictionaryValue,
      ] {
        let keys = map?.keys.filter { $0 != "in" } ?? []
        #expect(keys.map { Array($0.utf8) } == [decomposed, composed].map { Array($0.utf8) }, "\(what)")
        #expect(map?[composed] == .int(1) && map?[decomposed] == .int(2), "\(what)")
      }
    }
    func both() -> Map<String, AnyRealmValue> {
      let map = Map<String, AnyRealmValue>()
      map[composed] = .int(1)
      map[decomposed] = .int(2)
      return map
    }
    let box = Box(value: ["id": 1])
    box.map.merge(both()) { first, _ in first }
    box.map["in"] = .dictionary(both())
    box.any = .dictionary(both())
    box.list.append(.dictionary(both()))
    check(box, "unmanaged")
    check(Box(value: box), "an unmanaged copy of an unmanaged object")
    try realm.write { realm.add(box) }
    check(box, "added")
    check(Box(value: box), "an unmanaged copy")
    try realm.write {
      check(realm.create(Box.self, value: box, update: .all), "updated by itself")
      check(
        realm.create(Box.self, value: ["id": 2, "any": box.any, "list": box.list, "map": box.map]),
        "created of its parts")
      let set = realm.create(Box.self, value: ["id": 3])
      set.any = box.any
      set.list = box.list
      set.map = box.map
      check(set, "set")
    }
    try other.write { check(other.create(Box.self, value: box), "in another realm") }
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(Maps(value: ["plain": both().count > 1 ? two() : two()]).plain)
    }
    try realm.verify()
  }

  private func two() -> Map<String, Int> {
    let map = Map<String, Int>()
    map[composed] = 1
    map[decomposed] = 2
    return map
  }

  @Test func `a map with two equivalent keys is not encoded, so that none is lost silently`() throws {
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(two()) }
    let one = Map<String, Int>()
    one[decomposed] = 2
    let coded = try JSONDecoder().decode(Map<String, Int>.self, from: JSONEncoder().encode(one))
    #expect(coded.keys.map { Array($0.utf8) } == [Array(decomposed.utf8)])
  }

  @Test func `the collections of two equivalent keys are different`() throws {
    let realm = try memoryRealm(types)
    let box = Box(value: ["id": 1])
    box.map[composed] = .fromArray([.int(1)])
    box.map[decomposed] = .fromArray([.int(2)])
    try realm.write { realm.add(box) }
    let (first, second) = (
      try #require(box.map[composed]?.listValue), try #require(box.map[decomposed]?.listValue)
    )
    #expect(first != second && first == box.map[composed]?.listValue)
    try realm.write { first.append(.int(3)) }
    #expect(first.count == 2 && second.count == 1)
  }

  @Test func `texts are compared by their bytes in sets, lists and maps, managed or not`() throws {
    let realm = try memoryRealm(types + [Club.self, Everything.self])
    let (club, lists) = (Club(), Everything())
    club.colors.insert(objectsIn: [composed, decomposed, composed])
    lists.optionalStrings.append(objectsIn: [nil, decomposed, composed])
    for _ in 0..<2 {
      #expect(club.colors.count == 2 && club.colors.contains(composed) && club.colors.contains(decomposed))
      #expect(
        lists.optionalStrings.index(of: composed) == 2 && lists.optionalStrings.index(of: decomposed) == 1)
      #expect(lists.optionalStrings.firstIndex(of: composed) == 2 && lists.optionalStrings.contains(nil))
      #expect(
        !lists.optionalStrings.dropLast(1).map { Array(($0 ?? "").utf8) }.contains(Array(composed.utf8)))
      if club.realm == nil { try realm.write { realm.add([club, lists]) } }
    }
    let (left, right) = (List<String>(), List<String>())
    left.append(composed)
    right.append(decomposed)
    #expect(left != right && left.contains(composed) && !left.contains(decomposed))
    #expect(MutableSet<String>(arrayLiteral: composed) != [decomposed])
    let (first, second) = (Map<String, String>(), Map<String, String>())
    (first["a"], second["a"]) = (composed, decomposed)
    #expect(first != second)
    #expect(SingleMapEntry(key: composed, value: 1) != SingleMapEntry(key: decomposed, value: 1))
  }
}

extension MisuseTests {
  @Test func `an invalid key stops the program, and the message names the function that throws instead`() {
    expectStop(["Invalid key", "a.b", "insert(_:forKey:)"]) { Maps().plain["a.b"] = 1 }
    expectStop(["Invalid key", "$a"]) { _ = Maps(value: ["plain": ["$a": 1]]) }
  }
}
