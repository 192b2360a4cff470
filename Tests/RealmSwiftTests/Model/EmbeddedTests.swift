import RealmSwift
import RealmTestSupport
import Testing

class Address: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var rooms: List<Room>
  @Persisted var keeper: Dog?
  @Persisted(originProperty: "home") var residents: LinkingObjects<Household>
}

class Room: EmbeddedObject {
  @Persisted var name = ""
}

class Household: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var home: Address?
  @Persisted var others: List<Address>
  @Persisted var byName: Map<String, Address?>
}

private let types: [ObjectBase.Type] = [Household.self, Address.self, Room.self, Dog.self, Person.self]

/// The number of all embedded objects of a realm, which has no results of embedded objects.
private func parts<Part: EmbeddedObject>(_ type: Part.Type, _ realm: Realm) -> Int {
  realm.objects(Household.self).reduce(0) { count, household in
    let addresses = [household.home] + Array(household.others) + household.byName.values
    return count
      + (type == Address.self
        ? addresses.compactMap { $0 }.count : addresses.reduce(0) { $0 + ($1?.rooms.count ?? 0) })
  }
}

@Suite struct EmbeddedTests {
  private func household(_ id: Int = 1) -> Household {
    Household(
      value: [
        "id": id, "home": ["street": "A", "rooms": [["name": "hall"], ["name": "loft"]]] as [String: Any],
        "others": [["street": "B"], ["street": "C", "rooms": [["name": "cellar"]]] as [String: Any]],
        "byName": ["work": ["street": "D"]],
      ] as [String: Any])
  }

  @Test func `embedded objects are added with their owner and read through it`() throws {
    let realm = try memoryRealm(types)
    let home = household()
    try realm.write { realm.add(home) }
    #expect(home.home?.street == "A" && home.home?.rooms.map(\.name) == ["hall", "loft"])
    #expect(home.others.map(\.street) == ["B", "C"] && home.others[1].rooms.first?.name == "cellar")
    #expect(home.byName["work"]??.street == "D")
    #expect(home.home?.residents.first == home)
    try realm.write {
      home.home?.street = "A2"
      home.others[0].rooms.append(Room(value: ["name": "attic"]))
    }
    #expect(home.home?.street == "A2" && home.others[0].rooms.map(\.name) == ["attic"])
    try realm.verify()
  }

  @Test func `an embedded object that its owner drops is deleted, with its own embedded objects`() throws {
    let realm = try memoryRealm(types)
    let home = household()
    try realm.write { realm.add(home) }
    let (old, room) = (try #require(home.home), try #require(home.home?.rooms.first))
    try realm.write {
      home.home = Address(value: ["street": "new"])
      #expect(old.isInvalidated && room.isInvalidated)
    }
    #expect(home.home?.street == "new")
    let (first, second) = (home.others[0], home.others[1])
    try realm.write {
      home.others.remove(at: 0)
      #expect(first.isInvalidated && !second.isInvalidated)
      home.others.swapAt(0, 0)
      home.others.removeAll()
      #expect(second.isInvalidated)
    }
    let work = try #require(home.byName["work"] ?? nil)
    try realm.write { home.byName["work"] = nil }
    #expect(work.isInvalidated && home.byName.isEmpty)
    try realm.write { home.home = nil }
    #expect(parts(Address.self, realm) == 0)
    try realm.verify()
  }

  @Test func `deleting an owner deletes its parts, and deleting a part takes it from its owner`() throws {
    let realm = try memoryRealm(types)
    let (one, two) = (household(1), household(2))
    try realm.write { realm.add([one, two]) }
    let (part, cellar) = (one.others[0], one.others[1].rooms[0])
    try realm.write { realm.delete(part) }
    #expect(one.others.map(\.street) == ["C"] && part.isInvalidated)
    try realm.write { realm.delete(try #require(one.home)) }
    #expect(one.home == nil)
    try realm.write { realm.delete(one) }
    #expect(cellar.isInvalidated && parts(Address.self, realm) == 4)
    try realm.write { realm.delete(realm.objects(Household.self)) }
    #expect(two.isInvalidated)
    try realm.verify()
    try realm.write {
      realm.add(household(3))
      realm.deleteAll()
    }
    #expect(realm.isEmpty)
    try realm.verify()
  }

  @Test func `an update of modified values keeps existing parts, and an update of all makes new ones`() throws
  {
    let realm = try memoryRealm(types)
    let home = household()
    try realm.write { realm.add(home) }
    let part = try #require(home.home)
    try realm.write {
      realm.create(
        Household.self, value: ["id": 1, "home": ["street": "changed"]] as [String: Any], update: .modified)
    }
    #expect(!part.isInvalidated && part.street == "changed" && home.others.count == 2)
    try realm.write {
      realm.create(
        Household.self, value: ["id": 1, "home": ["street": "again"]] as [String: Any], update: .all)
    }
    #expect(part.isInvalidated && home.home?.street == "again" && home.others.count == 2)
    try realm.verify()
  }

  @Test func `an update of modified values changes the parts of lists and maps in place`() throws {
    let realm = try memoryRealm(types)
    let home = household()
    try realm.write { realm.add(home) }
    let (second, work) = (home.others[1], try #require(home.byName["work"] ?? nil))
    let first = home.others[0]
    try realm.write {
      realm.create(
        Household.self,
        value: [
          "id": 1, "others": [["street": "B2"], ["street": "C2"], ["street": "new"]],
          "byName": ["work": ["street": "D2"], "play": ["street": "E"]],
        ] as [String: Any], update: .modified)
    }
    #expect(home.others.map(\.street) == ["B2", "C2", "new"] && first.street == "B2")
    #expect(!second.isInvalidated && second.street == "C2" && second.rooms.map(\.name) == ["cellar"])
    #expect(!work.isInvalidated && work.street == "D2" && home.byName.keys == ["play", "work"])
    try realm.write {
      realm.create(
        Household.self, value: ["id": 1, "others": [["street": "only"]]] as [String: Any], update: .modified)
    }
    #expect(home.others.map(\.street) == ["only"] && !first.isInvalidated && second.isInvalidated)
    // The value is the object itself, so nothing changes.
    try realm.write { realm.create(Household.self, value: home, update: .modified) }
    #expect(home.others.map(\.street) == ["only"] && home.home?.street == "A" && home.byName.count == 2)
    try realm.verify()
  }

  @Test func `a part that was removed from its list is invalid at once`() throws {
    let realm = try memoryRealm(types)
    let home = household()
    try realm.write { realm.add(home) }
    let (part, room) = (home.others[1], home.others[1].rooms[0])
    try realm.write {
      home.others.removeAll()
      #expect(part.isInvalidated && room.isInvalidated)
    }
    expectStopped(["Invalidated object", "Address.street"]) {
      let realm = try! memoryRealm(types)
      let home = Household(value: ["id": 1, "others": [["street": "B"]]] as [String: Any])
      try! realm.write {
        realm.add(home)
        let part = home.others[0]
        home.others.removeAll()
        part.street = "x"
      }
    }
  }

  private func expectStopped(_ parts: [String], _ body: @escaping @Sendable () throws -> Void) {
    MisuseTests().expectStop(parts, body)
  }

  @Test func `a part that a cancelled transaction removed is there again`() throws {
    let realm = try memoryRealm(types)
    let home = household()
    try realm.write { realm.add(home) }
    realm.beginWrite()
    home.home = nil
    home.others.removeAll()
    realm.cancelWrite()
    #expect(home.home?.street == "A" && home.others.count == 2)
    try realm.verify()
  }

  @Test func `parts are copied with init(value:), and with an object of another realm`() throws {
    let (realm, other) = (try memoryRealm(types), try memoryRealm(types))
    let home = household()
    try realm.write { realm.add(home) }
    try other.write { other.create(Household.self, value: home) }
    let copy = try #require(other.object(ofType: Household.self, forPrimaryKey: 1))
    #expect(copy.home?.street == "A" && copy.others.count == 2 && copy.byName["work"]??.street == "D")
    try realm.write { home.others.append(Address(value: home.others[0])) }
    #expect(home.others.map(\.street) == ["B", "C", "B"])
    try realm.verify()
    try other.verify()
  }

  @Test(arguments: 0..<8)
  func `random changes leave each part with one owner`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm(types)
    var model: [Int: (home: String?, others: [String], byName: [String: String])] = [:]
    var next = 0
    func address() -> (Address, String) {
      next += 1
      return (Address(value: ["street": "\(next)", "rooms": [["name": "r"]]] as [String: Any]), "\(next)")
    }
    for _ in 0..<60 {
      let before = model
      realm.beginWrite()
      for _ in 0..<(1 + generator.below(4)) {
        let id = generator.below(4)
        guard let home = realm.object(ofType: Household.self, forPrimaryKey: id) else {
          realm.add(household(id))
          model[id] = ("A", ["B", "C"], ["work": "D"])
          continue
        }
        let (part, street) = address()
        switch generator.below(8) {
        case 0:
          home.home = part
          model[id]?.home = street
        case 1:
          home.home = nil
          model[id]?.home = nil
        case 2:
          home.others.append(part)
          model[id]?.others.append(street)
        case 3 where !home.others.isEmpty:
          let place = generator.below(home.others.count)
          home.others.remove(at: place)
          model[id]?.others.remove(at: place)
        case 4:
          home.byName["k"] = part
          model[id]?.byName["k"] = street
        case 5:
          home.byName["k"] = nil
          model[id]?.byName["k"] = nil
        case 6 where home.others.count > 1:
          home.others.swapAt(0, 1)
          model[id]?.others.swapAt(0, 1)
        default:
          realm.delete(home)
          model[id] = nil
        }
      }
      if generator.chance(25) {
        realm.cancelWrite()
        model = before
      } else {
        try realm.commitWrite()
      }
      #expect(Set(realm.objects(Household.self).map(\.id)) == Set(model.keys), "seed \(seed)")
      for home in realm.objects(Household.self) {
        let expected = try #require(model[home.id])
        #expect(home.home?.street == expected.home, "seed \(seed)")
        #expect(home.others.map(\.street) == expected.others, "seed \(seed)")
        #expect(
          home.byName.map { "\($0.key)\($0.value?.street ?? "")" }
            == expected.byName.sorted { $0.key < $1.key }.map { $0.key + $0.value }, "seed \(seed)")
      }
    }
    // The check also counts the owners of each part.
    try realm.verify()
  }
}

class SelfOwner: EmbeddedObject {
  @Persisted var inner: SelfOwner?
}
class OwnerOfSelfOwner: Object {
  @Persisted var part: SelfOwner?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
class KeyedPart: EmbeddedObject {
  @Persisted(primaryKey: true) var id: Int
}
class OwnerOfKeyedPart: Object {
  @Persisted var part: KeyedPart?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
class OwnerOfSet: Object {
  @Persisted var parts: MutableSet<Room>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension MisuseTests {
  @Test func `an embedded object has one owner`() throws {
    expectStop(["Embedded object with an owner", "Address"]) {
      let realm = try! memoryRealm(types)
      let home = Household(value: ["id": 1, "home": ["street": "A"]] as [String: Any])
      try! realm.write {
        realm.add(home)
        home.others.append(home.home!)
      }
    }
    expectStop(["Embedded object with an owner", "Address"]) {
      let realm = try! memoryRealm(types)
      let (home, part) = (Household(), Address())
      home.home = part
      home.others.append(part)
      try! realm.write { realm.add(home) }
    }
  }

  @Test func `classes of embedded objects that can't be stored stop the program`() throws {
    expectStop(["Invalid schema", "SelfOwner", "circle"]) {
      _ = try! memoryRealm([OwnerOfSelfOwner.self, SelfOwner.self])
    }
    expectStop(["Invalid schema", "KeyedPart.id"]) {
      _ = try! memoryRealm([OwnerOfKeyedPart.self, KeyedPart.self])
    }
    expectStop(["Invalid schema", "OwnerOfSet.parts", "List of Room"]) {
      _ = try! memoryRealm([OwnerOfSet.self, Room.self])
    }
    expectStop(["Invalid schema", "Room", "no class of the realm"]) { _ = try! memoryRealm([Room.self]) }
  }
}
