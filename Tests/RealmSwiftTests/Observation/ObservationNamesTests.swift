import Foundation
import RealmSwift
import Testing

/// Programs that keep changes in variables of the types that RealmSwift names.
@Suite struct ObservationNamesTests {
  private func memory() throws -> QueueRealm {
    try QueueRealm(
      Realm.Configuration(
        inMemoryIdentifier: "names \(UUID())",
        objectTypes: [Person.self, Dog.self, Household.self, Address.self, Room.self]))
  }

  @Test func `changes are kept in variables of their types`() throws {
    let realm = try memory()
    let heard = Heard<String>()
    try realm.write { realm in
      realm.add(Person(id: 1, name: "a", age: 1))
      realm.add(Household(value: ["id": 1, "home": ["street": "A"]]))
    }
    let tokens = realm.run { realm -> [NotificationToken] in
      let person = realm.objects(Person.self)[0]
      let household = realm.objects(Household.self)[0]
      let told: (ObjectChange<Person>) -> Void = { change in
        guard case .change(_, let changes) = change else { return }
        let first: PropertyChange = changes[0]
        heard.add("object \(first.name)")
      }
      let map: (RealmMapChange<Map<String, Address?>>) -> Void = { change in
        if case .update(_, _, let insertions, _) = change { heard.add("map \(insertions)") }
      }
      let whole: NotificationBlock = { notification, _ in heard.add("realm \(notification)") }
      let part: (ObjectChange<Address>) -> Void = { _ in heard.add("part") }
      return [
        person.observe(keyPaths: [\Person.name], told), household.byName.observe(map), realm.observe(whole),
        household.home!.observe(part), keyed(household.byName) { heard.add("keyed") },
      ]
    }
    realm.settle()
    try realm.write { realm in
      realm.objects(Person.self)[0].name = "b"
      let household = realm.objects(Household.self)[0]
      household.byName["x"] = Address(value: ["street": "X"])
      household.home?.street = "B"
    }
    let limit = Date(timeIntervalSinceNow: 120)
    while heard.all.count < 5, Date() < limit { Thread.sleep(forTimeInterval: 0.01) }
    #expect(Set(heard.all) == ["object name", "map [\"x\"]", "realm didChange", "part", "keyed"])
    withExtendedLifetime(tokens) {}
  }

  private func keyed<Collection: RealmKeyedCollection>(
    _ collection: Collection, _ heard: @escaping () -> Void
  ) -> NotificationToken {
    collection.observe { (change: RealmMapChange<Collection>) in if case .update = change { heard() } }
  }

  @Test func `one section can be observed without the others`() throws {
    let realm = try memory()
    let heard = Heard<[IndexPath]>()
    try realm.write { realm in for id in 0..<6 { realm.add(Person(id: id, name: "", age: id / 2)) } }
    let token = realm.run { realm -> NotificationToken in
      let sections = realm.objects(Person.self).sectioned(by: \.age)
      let section: ResultsSection<Int, Person> = sections[1]
      #expect(section[0].id == 2 && Array(section).count == 2 && section.key == 1)
      return observe(section) { heard.add($0) }
    }
    realm.settle()
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 0)?.name = "other section" }
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 3)?.name = "x" }
    #expect(heard.wait(1) == [[IndexPath(indexes: [1, 1])]])
    withExtendedLifetime(token) {}
  }

  private func observe<Section: RealmSectionedResult>(
    _ section: Section, _ told: @escaping ([IndexPath]) -> Void
  ) -> NotificationToken {
    section.observe { change in
      if case .update(_, _, _, let modifications, _, _) = change { told(modifications) }
    }
  }
}
