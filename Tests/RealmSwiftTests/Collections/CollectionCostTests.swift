import Foundation
import RealmSwift
import RealmTestSupport
import Testing

/// The cost of loops over collections. It is proportional to the number of elements, so ten times as many elements must
/// not take a hundred times as long.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["REALM_SLOW_TESTS"] != nil))
struct CollectionCostTests {
  /// The factor by which the time grows with ten times as many elements, as the best of three.
  private func growth(of count: Int, _ body: (Int) throws -> Void) throws -> Double {
    func seconds(_ count: Int) throws -> Double {
      try (0..<3).map { _ in
        let start = ContinuousClock.now
        try body(count)
        let time = ContinuousClock.now - start
        return Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)
      }.min() ?? 0
    }
    return try seconds(10 * count) / seconds(count)
  }

  // The limit is far from both 10 and 100, because other tests run meanwhile.
  private let most = 45.0

  @Test func `reading a list by its places in a transaction`() throws {
    let ratio = try growth(of: 200) { count in
      let realm = try memoryRealm([Person.self, Dog.self])
      let person = Person(id: 1, name: "", age: 1)
      try realm.write {
        realm.add(person)
        person.dogs.append(objectsIn: (0..<count).map { _ in Dog() })
      }
      try realm.write { for index in 0..<count { person.dogs[index].weight += 1 } }
    }
    #expect(ratio < most)
  }

  @Test func `updating objects while a list grows`() throws {
    let ratio = try growth(of: 100) { count in
      let realm = try memoryRealm([Person.self, Dog.self, Node.self])
      let root = Node("root")
      try realm.write {
        realm.add(root)
        for index in 0..<count { realm.create(Node.self, value: ["key": "\(index)"]) }
      }
      try realm.write {
        for index in 0..<count {
          let node = realm.create(Node.self, value: ["key": "\(index)", "note": "x"], update: .modified)
          root.others.append(node)
        }
      }
    }
    #expect(ratio < most)
  }

  @Test func `growing a list of an embedded object`() throws {
    let ratio = try growth(of: 200) { count in
      let realm = try memoryRealm([Household.self, Address.self, Room.self, Dog.self, Person.self])
      let home = Household(value: ["id": 1, "home": ["street": "A"]] as [String: Any])
      try realm.write {
        realm.add(home)
        for index in 0..<count { home.home?.rooms.append(Room(value: ["name": "\(index)"])) }
      }
    }
    #expect(ratio < most)
  }

  @Test func `walking dictionaries in a list of any values`() throws {
    let ratio = try growth(of: 100) { count in
      let realm = try memoryRealm([Box.self, Dog.self, Person.self])
      let box = Box()
      box.any = .fromArray((0..<count).map { .fromDictionary(["n": .int($0)]) })
      try realm.write { realm.add(box) }
      var sum = 0
      for item in try #require(box.any.listValue) { sum += item.dictionaryValue?["n"]?.intValue ?? 0 }
      #expect(sum == count * (count - 1) / 2)
    }
    #expect(ratio < most)
  }

  @Test func `deleting the objects of a list`() throws {
    let ratio = try growth(of: 200) { count in
      let realm = try memoryRealm([Person.self, Dog.self])
      let person = Person(id: 1, name: "", age: 1)
      try realm.write {
        realm.add(person)
        person.dogs.append(objectsIn: (0..<count).map { _ in Dog() })
      }
      try realm.write { realm.delete(person.dogs) }
      #expect(person.dogs.isEmpty && realm.objects(Dog.self).isEmpty)
    }
    #expect(ratio < most)
  }
}
