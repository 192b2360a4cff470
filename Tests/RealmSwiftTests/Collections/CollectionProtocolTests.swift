import RealmSwift
import Testing

/// Generic functions that take any collection, any map or any class.
@Suite struct CollectionProtocolTests {
  private func names<C: RealmCollection>(_ dogs: C) -> [String] where C.Element == Dog {
    var names: [String] = []
    for index in dogs.startIndex..<dogs.endIndex { names.append(dogs[index].name) }
    return names
  }

  private func total<Numbers: RealmKeyedCollection>(_ map: Numbers) -> Int where Numbers.Value == Int {
    map.values.reduce(0, +)
  }

  private func count<Model: Object & RealmFetchable>(_ type: Model.Type, _ realm: Realm) -> Int {
    realm.objects(type).count
  }

  private func list<Element: RealmCollectionValue>(of elements: Element...) -> List<Element> {
    let list = List<Element>()
    list.append(objectsIn: elements)
    return list
  }

  @Test func `generic code uses the protocols of collections and classes`() throws {
    let realm = try memoryRealm([Dog.self, Person.self, Club.self])
    let person = Person(id: 1, name: "Ann", age: 30)
    person.dogs.append(objectsIn: ["Rex", "Ida"].map { Dog(value: ["name": $0]) })
    let club = Club(
      value: ["id": 1, "ranks": ["a": 2, "b": 3], "members": Array(person.dogs)] as [String: Any])
    try realm.write { realm.add([person] as [Object] + [club]) }
    #expect(names(realm.objects(Dog.self)) == ["Rex", "Ida"] && names(person.dogs) == ["Rex", "Ida"])
    #expect(names(club.members).count == 2 && names(AnyRealmCollection(person.dogs)) == ["Rex", "Ida"])
    #expect(person.dogs[0].people[0] == person && club.members[1].name == "Ida")
    #expect(AnyRealmCollection(realm.objects(Dog.self))[1].name == "Ida")
    #expect(total(club.ranks) == 5 && club.ranks["b"] == 3 && count(Dog.self, realm) == 2)
    #expect(list(of: 1, 2, 3)[1] == 2)
    let entry: SingleMapEntry<String, Int> = try #require(Array(club.ranks).first)
    #expect(entry.key == "a" && entry.value == 2)
  }
}
