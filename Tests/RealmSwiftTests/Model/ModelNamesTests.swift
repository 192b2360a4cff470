import RealmSwift
import Testing

/// Classes as programs write them for RealmSwift, with its names, labels and types.
@Suite struct ModelNamesTests {
  /// A class that gives its properties their values with the wrapper's own initializers.
  class Wrapped: Object {
    @Persisted(wrappedValue: 7, primaryKey: true) var id: Int
    @Persisted(wrappedValue: "x", indexed: true) var name: String
    @Persisted(wrappedValue: 1.5) var weight: Double
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  @Test func `a wrapper's initializers give values, indexes and keys`() throws {
    let realm = try memoryRealm([Wrapped.self])
    try realm.write { realm.add(Wrapped()) }
    let found = try #require(realm.object(ofType: Wrapped.self, forPrimaryKey: 7))
    #expect(found.name == "x" && found.weight == 1.5)
    #expect(realm.schema["Wrapped"]?["name"]?.isIndexed == true)
  }

  @Test func `objects are equal if their class says so`() throws {
    let realm = try memoryRealm([Dog.self, Person.self])
    try realm.write { realm.add(Person(id: 1, name: "Ann", age: 30)) }
    let (one, two) = (realm.objects(Person.self)[0], realm.objects(Person.self)[0])
    #expect(one.isEqual(two) && !one.isEqual(nil) && !one.isEqual("Ann"))
  }

  private func raw<Case: RawRepresentable & PersistableEnum>(_ value: Case) -> Case.RawValue {
    value.rawValue
  }

  @Test func `enumerations are stored by their raw values`() {
    #expect(raw(Mood.merry) == "merry" && Everything(value: ["mood": "merry"]).mood == .merry)
  }

  @Test func `an embedded object's properties are read by name too`() {
    let address = Address(value: ["street": "A"])
    address["street"] = "B"
    #expect(address["street"] as? String == "B" && address.isSameObject(as: address))
  }
}
