import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Club: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var members: MutableSet<Dog>
  @Persisted var colors: MutableSet<String>
  @Persisted var numbers: MutableSet<Int?>
  @Persisted var weights: MutableSet<Double>
  @Persisted var moods: MutableSet<Mood>
  @Persisted var ranks: Map<String, Int>
  @Persisted var notes: Map<String, String?>
  @Persisted var posts: Map<String, Dog?>
}

@Suite struct SetTests {
  @Test func `an unmanaged set that was assigned finds objects that are added to a realm later`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let (rex, max) = (Dog(), Dog())
    let (assigned, made) = (Club(), Club(value: ["members": [rex]]))
    let set: MutableSet<Dog> = [rex, max]
    assigned.members = set
    let values = MutableSet<AnyRealmValue>()
    values._assign([.object(rex)])
    #expect(assigned.members == set)
    try realm.write { realm.add(rex) }
    for members in [assigned.members, made.members] {
      #expect(members.contains(rex))
      let count = members.count
      members.insert(rex)
      #expect(members.count == count)
    }
    #expect(values.contains(.object(rex)))
    values.insert(.object(rex))
    #expect(values.count == 1)
    // This set is filled after the object was added.
    let later: MutableSet<Dog> = [rex, max]
    #expect(assigned.members == later && later == set)
    try realm.write { realm.add(max) }
    #expect(later == [max, rex] && set == later && assigned.members.contains(max))
    assigned.members.remove(rex)
    #expect(!assigned.members.contains(rex) && assigned.members.count == 1 && assigned.members != set)
  }

  @Test func `a managed or unmanaged set holds each value once`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let club = Club()
    club.colors.insert(objectsIn: ["red", "blue", "red"])
    #expect(club.colors.count == 2 && Array(club.colors) == ["red", "blue"])
    club.numbers.insert(nil)
    club.numbers.insert(nil)
    #expect(club.numbers.count == 1 && club.numbers.contains(nil))
    try realm.write { realm.add(club) }
    #expect(Array(club.colors) == ["blue", "red"], "in the order of the values")
    #expect(Array(club.numbers) == [nil])
    try realm.write {
      club.colors.insert("red")
      club.colors.insert("green")
      club.colors.remove("blue")
      club.colors.remove("none such")
      #expect(Array(club.colors) == ["green", "red"])
    }
    #expect(club.colors.contains("red") && !club.colors.contains("blue"))
    #expect(club.colors.index(of: "red") == 1 && club.colors.index(of: "blue") == nil)
    try realm.write { club.colors.removeAll() }
    #expect(club.colors.isEmpty)
  }

  @Test(arguments: 0..<6)
  func `random operations agree with a set of the standard library`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let (managed, plain) = (Club(), Club())
    try realm.write { realm.add(managed) }
    var model = Set<Int?>()
    for _ in 0..<60 {
      let some = (0..<generator.below(14)).map { _ in
        generator.chance(10) ? nil : Optional(generator.below(20))
      }
      let other = MutableSet<Int?>()
      other.insert(objectsIn: some)
      let choice = generator.below(7)
      try realm.write {
        for set in [managed.numbers, plain.numbers] {
          switch choice {
          case 0: set.insert(objectsIn: some)
          case 1: some.forEach { set.insert($0) }
          case 2: some.forEach { set.remove($0) }
          case 3: set.formUnion(other)
          case 4: set.subtract(other)
          case 5: set.formIntersection(other)
          default: if generator.chance(5) { set.removeAll() }
          }
        }
      }
      switch choice {
      case 0, 1, 3: model.formUnion(some)
      case 2, 4: model.subtract(some)
      case 5: model.formIntersection(some)
      default: if managed.numbers.isEmpty { model = [] }
      }
      if choice == 6 {
        try realm.write {
          plain.numbers.removeAll(); plain.numbers.insert(objectsIn: managed.numbers)
        }
      }
      #expect(Set(managed.numbers) == model && managed.numbers.count == model.count, "seed \(seed)")
      #expect(Set(plain.numbers) == model && plain.numbers.count == model.count, "seed \(seed)")
      #expect(managed.numbers.intersects(other) == !model.isDisjoint(with: some))
      #expect(managed.numbers.isSubset(of: other) == model.isSubset(of: some))
      for number in -1..<20 { #expect(managed.numbers.contains(number) == model.contains(number)) }
    }
  }

  @Test func `a set of objects has each object once, and loses deleted objects`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let dogs = (0..<4).map { Dog(value: ["name": "dog \($0)"]) }
    let club = Club(value: ["id": 1, "members": [dogs[0], dogs[1], dogs[0]]])
    try realm.write { realm.add(club) }
    #expect(club.members.count == 2 && realm.objects(Dog.self).count == 2)
    try realm.write {
      club.members.insert(dogs[2])
      club.members.insert(dogs[0])
    }
    #expect(club.members.count == 3 && club.members.contains(dogs[2]) && !club.members.contains(dogs[3]))
    #expect(club.members.where { $0.name == "dog 2" }.count == 1)
    #expect(club.members.sorted(byKeyPath: "name", ascending: false).first?.name == "dog 2")
    try realm.write { realm.delete(dogs[0]) }
    #expect(club.members.map(\.name).sorted() == ["dog 1", "dog 2"])
    try realm.write { realm.delete(club.members) }
    #expect(club.members.isEmpty && realm.objects(Dog.self).isEmpty)
  }

  @Test func `equal numbers are one element of a set, and so are all NaNs`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let club = Club()
    try realm.write {
      realm.add(club)
      club.weights.insert(objectsIn: [0.0, -0.0, .nan, 1, .nan, 1])
    }
    #expect(club.weights.count == 3)
    #expect(club.weights.contains(.nan) && club.weights.contains(-0.0))
  }

  @Test func `a set is assigned by its content, and survives coding, cancelled writes and another opening`()
    throws
  {
    let file = TemporaryFile()
    let configuration = Realm.Configuration(
      fileURL: file.url, objectTypes: [Club.self, Dog.self, Person.self])
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      let club = Club()
      let colors = club.colors
      try realm.write { realm.add(club) }
      #expect(club.colors === colors)
      try realm.write {
        club.colors = ["b", "a"]
        club.moods.insert(.merry)
      }
      #expect(club.colors === colors && Array(colors) == ["a", "b"])
      realm.beginWrite()
      club.colors.insert("c")
      realm.cancelWrite()
      #expect(Array(club.colors) == ["a", "b"])
      let coded = try JSONDecoder().decode(
        MutableSet<String>.self, from: JSONEncoder().encode(club.colors))
      #expect(Set(coded) == ["a", "b"])
      #expect(club.colors.description == "MutableSet<String> (\n\t[0] a,\n\t[1] b\n)")
    }
    let realm = try Realm(configuration: configuration)
    let club = try #require(realm.objects(Club.self).first)
    #expect(Array(club.colors) == ["a", "b"] && Array(club.moods) == [.merry])
    #expect(club.objectSchema["colors"]?.isSet == true && club.objectSchema["ranks"]?.isMap == true)
    try realm.verify()
  }
}

@Suite struct MapTests {
  @Test func `a managed or unmanaged map holds values by keys`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let club = Club()
    club.ranks["b"] = 2
    club.ranks["a"] = 1
    club.ranks.updateValue(3, forKey: "c")
    club.ranks["b"] = nil
    #expect(club.ranks.keys == ["a", "c"] && club.ranks.values == [1, 3] && club.ranks["b"] == nil)
    try realm.write { realm.add(club) }
    #expect(club.ranks.keys == ["a", "c"] && club.ranks.values == [1, 3] && club.ranks.count == 2)
    try realm.write {
      club.ranks["a"] = 10
      club.ranks.removeObject(for: "c")
      club.ranks.removeObject(for: "none such")
      club.ranks.merge([(key: "a", value: 5), (key: "d", value: 7)]) { $0 + $1 }
    }
    #expect(club.ranks["a"] == 15 && club.ranks["d"] == 7 && club.ranks["c"] == nil)
    #expect(club.ranks.map { "\($0.key)=\($0.value)" } == ["a=15", "d=7"])
    #expect(club.ranks.asKeyValueSequence().map { $0.key + "\($0.value)" } == ["a15", "d7"])
    try realm.write { club.ranks.removeAll() }
    #expect(club.ranks.isEmpty)
  }

  @Test func `nil removes a key, and can also be a value`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let club = Club()
    try realm.write {
      realm.add(club)
      club.notes["a"] = "x"
      club.notes.updateValue(nil, forKey: "b")
    }
    #expect(club.notes.keys == ["a", "b"])
    #expect(club.notes["b"] == .some(nil))
    try realm.write {
      club.notes["a"] = nil
      club.notes["b"] = nil
    }
    #expect(club.notes.isEmpty)
  }

  @Test func `the key of a deleted object stays in a map`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let dog = Dog(value: ["name": "Rex"])
    let club = Club(value: ["posts": ["guard": dog, "cook": ["name": "Ada"]] as [String: Any]])
    try realm.write { realm.add(club) }
    #expect(club.posts["guard"]??.name == "Rex" && club.posts["cook"]??.name == "Ada")
    try realm.write { realm.delete(dog) }
    #expect(club.posts.keys == ["cook", "guard"] && club.posts["guard"] == .some(nil))
    try realm.write { realm.delete(club.posts) }
    #expect(club.posts.keys.count == 2 && realm.objects(Dog.self).isEmpty)
    try realm.verify()
  }

  @Test(arguments: 0..<4)
  func `random operations agree with a dictionary`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let (managed, plain) = (Club(), Club())
    try realm.write { realm.add(managed) }
    var model: [String: Int] = [:]
    for _ in 0..<100 {
      let key = ["", "a", "é", "z", "A", "key"][generator.below(6)]
      let value = generator.chance(30) ? nil : Optional(generator.below(9))
      realm.beginWrite()
      let before = model
      for map in [managed.ranks, plain.ranks] { map[key] = value }
      model[key] = value
      if generator.chance(20) {
        realm.cancelWrite()
        model = before
        plain.ranks.removeAll()
        for entry in managed.ranks { plain.ranks[entry.key] = entry.value }
      } else {
        try realm.commitWrite()
      }
      for map in [managed.ranks, plain.ranks] {
        #expect(map.keys == model.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "seed \(seed)")
        #expect(map.values == map.keys.map { model[$0] }, "seed \(seed)")
      }
    }
  }

  @Test func `equivalent keys are two keys if their bytes differ`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self])
    let (club, other) = (Club(value: ["id": 1]), Club(value: ["id": 2]))
    try realm.write {
      realm.add([club, other])
      club.ranks["\u{e9}"] = 1
      club.ranks["e\u{301}"] = 2
      other.ranks = club.ranks
    }
    #expect(other.ranks.count == 2 && other.ranks["\u{e9}"] == 1 && other.ranks["e\u{301}"] == 2)
    let copy = Club(value: club)
    #expect(copy.ranks.count == 2 && copy.ranks["\u{e9}"] == 1 && copy.ranks["e\u{301}"] == 2)
    let elsewhere = try memoryRealm([Club.self, Dog.self, Person.self])
    try elsewhere.write { elsewhere.create(Club.self, value: club) }
    #expect(elsewhere.objects(Club.self)[0].ranks.count == 2)
    let set: MutableSet<String> = ["\u{e9}", "e\u{301}", "\u{e9}"]
    #expect(set.count == 2)
  }

  @Test func `an unmanaged set has an object once, even if it was added to a realm meanwhile`() throws {
    let realm = try memoryRealm([Club.self, Dog.self, Person.self, Keyed.self])
    let set = MutableSet<Keyed>()
    let (one, two) = (Keyed(value: [1]), Keyed(value: [2]))
    set.insert(objectsIn: [one, two, one])
    try realm.write { realm.add(one) }
    set.insert(one)
    set.insert(realm.objects(Keyed.self)[0])
    #expect(set.count == 2 && set.contains(one) && set.contains(realm.objects(Keyed.self)[0]))
    set.remove(one)
    #expect(set.count == 1 && set.contains(two) && !set.contains(one))
  }

  @Test func `a map is coded as a dictionary, and described by its entries`() throws {
    let map: Map<String, Int> = ["b": 2, "a": 1]
    let coded = try JSONEncoder().encode(map)
    #expect(try JSONDecoder().decode([String: Int].self, from: coded) == ["a": 1, "b": 2])
    #expect(try JSONDecoder().decode(Map<String, Int>.self, from: coded) == map)
    #expect(map.description == "Map<String, Int> {\n\t[a]: 1\n\t[b]: 2\n}")
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Map<String, Int>.self, from: Data("{\"a.b\":1}".utf8))
    }
  }
}

extension MisuseTests {
  @Test func `a key with a dot, or that begins with a dollar sign, stops the program`() {
    expectStop(["Invalid key", "a.b"]) { Map<String, Int>()["a.b"] = 1 }
    expectStop(["Invalid key", "$a"]) { Map<String, Int>()["$a"] = 1 }
  }

  @Test func `sets and maps can be changed only in a write transaction`() throws {
    expectStop(["Not in a write transaction", "Club.colors"]) {
      let realm = try! memoryRealm([Club.self, Dog.self, Person.self])
      let club = Club()
      try! realm.write { realm.add(club) }
      club.colors.insert("x")
    }
    expectStop(["Not in a write transaction", "Club.ranks"]) {
      let realm = try! memoryRealm([Club.self, Dog.self, Person.self])
      let club = Club()
      try! realm.write { realm.add(club) }
      club.ranks["x"] = 1
    }
  }
}
