import Foundation
import RealmSwift

/// The place of a person.
final class FixturePlace: EmbeddedObject {
  @Persisted var city: String
  @Persisted var floor: Int?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A place in the program's own type.
struct FixtureAddress: CustomPersistable, Equatable {
  var city: String
  var floor: Int?
  init(city: String, floor: Int? = nil) { (self.city, self.floor) = (city, floor) }
  init(persistedValue: FixturePlace) { (city, floor) = (persistedValue.city, persistedValue.floor) }
  var persistableValue: FixturePlace {
    let place = FixturePlace()
    (place.city, place.floor) = (city, floor)
    return place
  }
}

final class FixtureDog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
  @Persisted var good: Bool
  @Persisted var toys: List<String>
  @Persisted(originProperty: "dogs") var people: LinkingObjects<FixturePerson>
  @Persisted var owner: FixturePerson?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

enum FixtureKind: Int, PersistableEnum { case low = 1, high = 9 }

final class FixturePerson: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var nick: String?
  @Persisted var age: Int
  @Persisted var height: Double
  @Persisted var vip: Bool
  @Persisted var score: Int?
  @Persisted var born: Date
  @Persisted var bytes: Data?
  @Persisted var dog: FixtureDog?
  @Persisted var dogs: List<FixtureDog>
  @Persisted var tags: List<String>
  @Persisted var nums: List<Int>
  @Persisted var kinds: MutableSet<Int>
  @Persisted var prefs: Map<String, Int>
  @Persisted var friends: Map<String, FixtureDog?>
  @Persisted var mix: AnyRealmValue
  @Persisted var place: FixturePlace?
  @Persisted var address: FixtureAddress?
  @Persisted var home = FixtureAddress(city: "")
  @Persisted var kind = FixtureKind.low
  @Persisted var otherKinds: List<FixtureKind>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  override class func propertiesMapping() -> [String: String] { ["nick": "stored_nick"] }
}

/// Three people and two dogs:
///
/// - A: 1 "Ann" nil 30 1.7 true 5, Rex, [Rex, Ida], ["a", "b"], [1, 2, 3], {1, 2}, {x: 1, y: 2}, 42
/// - B: 2 "Bob" "bo" 40 1.5 false nil, no dogs, "Hi"
/// - C: 3 "Élan" "" 25 2.0 true 7, Ida, [Ida, Ida], ["b", "B"], [5], {5}, {x: 9}, {"k": [10, {"d": true}]}
struct QueryFixture {
  let realm: Realm
  let rex: FixtureDog
  let ida: FixtureDog
  var people: Results<FixturePerson> { realm.objects(FixturePerson.self) }
  var dogs: Results<FixtureDog> { realm.objects(FixtureDog.self) }

  init() throws {
    let realm = try memoryRealm([FixturePerson.self, FixtureDog.self, FixturePlace.self])
    let (rex, ida) = (FixtureDog(), FixtureDog())
    (rex.name, rex.age, ida.name, ida.age) = ("Rex", 3, "Ida", 7)
    rex.good = true
    rex.toys.append("ball")
    let (ann, bob, elan) = (FixturePerson(), FixturePerson(), FixturePerson())
    (ann.id, ann.name, ann.age, ann.height, ann.vip, ann.score) = (1, "Ann", 30, 1.7, true, 5)
    (bob.id, bob.name, bob.nick, bob.age, bob.height) = (2, "Bob", "bo", 40, 1.5)
    (elan.id, elan.name, elan.nick, elan.age, elan.height, elan.vip) = (3, "Élan", "", 25, 2, true)
    elan.score = 7
    ann.born = Date(timeIntervalSince1970: 0)
    bob.born = Date(timeIntervalSince1970: 100)
    elan.born = Date(timeIntervalSince1970: -1)
    (ann.dog, elan.dog) = (rex, ida)
    ann.dogs.append(objectsIn: [rex, ida])
    elan.dogs.append(objectsIn: [ida, ida])
    ann.tags.append(objectsIn: ["a", "b"])
    elan.tags.append(objectsIn: ["b", "B"])
    ann.nums.append(objectsIn: [1, 2, 3])
    elan.nums.append(5)
    ann.kinds.insert(objectsIn: [1, 2])
    elan.kinds.insert(5)
    (ann.prefs["x"], ann.prefs["y"], elan.prefs["x"]) = (1, 2, 9)
    ann.friends["b"] = .some(ida)
    ann.friends["a"] = .some(rex)
    ann.friends["c"] = .some(nil)
    ann.mix = .int(42)
    bob.mix = .string("Hi")
    let (inner, list, map) = (
      Map<String, AnyRealmValue>(), List<AnyRealmValue>(), Map<String, AnyRealmValue>()
    )
    inner["d"] = .bool(true)
    list.append(objectsIn: [.int(10), .dictionary(inner)])
    map["k"] = .list(list)
    elan.mix = .dictionary(map)
    ann.place = FixturePlace()
    ann.place?.city = "Ulm"
    (ann.address, bob.home) = (FixtureAddress(city: "Ulm", floor: 3), FixtureAddress(city: "Rom"))
    (elan.kind, ann.bytes) = (.high, Data([1, 2]))
    ann.otherKinds.append(.high)
    try realm.write { realm.add([ann, bob, elan]) }
    (self.realm, self.rex, self.ida) = (realm, rex, ida)
  }

  /// The people as the letters of their names, in their order.
  func letters(_ people: some Sequence<FixturePerson>) -> String {
    people.map { ["", "A", "B", "C"][$0.id] }.joined()
  }
}
