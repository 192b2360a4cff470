import Foundation
import RealmSwift
import RealmTestSupport
import Testing

@Suite struct SectionTests {
  private func realm() throws -> QueueRealm {
    try QueueRealm(
      Realm.Configuration(inMemoryIdentifier: "sections \(UUID())", objectTypes: [Person.self, Dog.self]))
  }

  private static func text(_ sections: SectionedResults<String, Person>) -> [String] {
    sections.map { section in "\(section.key): " + section.map { "\($0.id)" }.joined(separator: " ") }
  }

  private static func sections(_ realm: Realm) -> SectionedResults<String, Person> {
    realm.objects(Person.self).sectioned(
      by: { String($0.name.prefix(1)) },
      sortDescriptors: [SortDescriptor(keyPath: "name"), SortDescriptor(keyPath: "id")])
  }

  @Test func `objects are in sections by the value of a property, or by the result of a closure`() throws {
    let realm = try realm()
    try realm.write { realm in
      for (id, name) in ["bob", "ann", "bea", "cid"].enumerated() {
        realm.add(Person(id: id, name: name, age: id / 2))
      }
    }
    try realm.run { realm in
      #expect(Self.text(Self.sections(realm)) == ["a: 1", "b: 2 0", "c: 3"])
      let byAge = realm.objects(Person.self).sectioned(by: \.age, ascending: false)
      #expect(byAge.allKeys == [1, 0] && byAge[0].count == 2 && byAge[1].key == 0 && byAge[1].id == 0)
      #expect(byAge[IndexPath(indexes: [0, 1])].id == 3)
      let frozen = byAge.freeze()
      try realm.write { realm.objects(Person.self)[0].age = 5 }
      #expect(byAge.allKeys == [5, 1, 0] && frozen.allKeys == [1, 0] && frozen.isFrozen)
      #expect(frozen.thaw()?.allKeys == [5, 1, 0])
      let person = realm.objects(Person.self)[0]
      try realm.write { person.words.append(objectsIn: ["ab", "b", "aa"]) }
      let words = person.words.sectioned(by: { String($0.prefix(1)) })
      #expect(words.map { Array($0) } == [["aa", "ab"], ["b"]])
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `the older sections with the told changes are the newer sections`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let realm = try realm()
    try realm.write { realm in for id in 0..<8 { realm.add(Person(id: id, name: "a\(id)", age: 0)) } }
    final class Shadow: @unchecked Sendable {
      // Sendable: used on the queue.
      var sections: [[Int]] = []
      var faults: [String] = []
      var token: NotificationToken?
      var last: SectionedResults<String, Person>?
      var calls = 0
    }
    let shadow = Shadow()
    func tell(_ change: SectionedResultsChange<SectionedResults<String, Person>>) {
      shadow.calls += 1
      switch change {
      case .initial(let sections): shadow.sections = sections.map { $0.map(\.id) }
      case .error(let error): shadow.faults.append("\(error)")
      case .update(let sections, let deletions, let insertions, let modifications, let made, let gone):
        let old = shadow.sections
        let now = sections.map { $0.map(\.id) }
        for path in deletions.reversed() { shadow.sections[path[0]].remove(at: path[1]) }
        for section in gone.reversed() {
          if !shadow.sections[section].isEmpty {
            shadow.faults.append("section \(section) goes with elements")
          }
          shadow.sections.remove(at: section)
        }
        for section in made { shadow.sections.insert([], at: section) }
        for path in insertions { shadow.sections[path[0]].insert(now[path[0]][path[1]], at: path[1]) }
        if shadow.sections != now {
          shadow.faults.append("\(old) is \(shadow.sections), not \(now): \(change)")
        }
        for path in modifications where !now.flatMap({ $0 }).contains(old[path[0]][path[1]]) {
          shadow.faults.append("\(path) is modified, and gone")
        }
        shadow.sections = now
      }
    }
    realm.run { shadow.token = Self.sections($0).observe { tell($0) } }
    realm.settle()
    for _ in 0..<80 {
      try realm.write { realm in
        let people = realm.objects(Person.self)
        for _ in 0..<Int.random(in: 1...2, using: &random) {
          let person = people.isEmpty ? nil : people[Int.random(in: 0..<people.count, using: &random)]
          switch Int.random(in: 0..<4, using: &random) {
          case 0:
            realm.add(
              Person(id: Int.random(in: 0..<10_000, using: &random), name: "d", age: 0), update: .modified)
          case 1: if let person { realm.delete(person) }
          case 2: person?.age += 1
          default:
            person?.name =
              ["a", "b", "c", "e"].randomElement(using: &random)! + "\(Int.random(in: 0..<5, using: &random))"
          }
        }
      }
      if Bool.random(using: &random) { realm.settle() }
    }
    realm.settle()
    #expect(realm.run { _ in shadow.faults } == [], "seed \(seed)")
    #expect(realm.run { _ in shadow.calls } > 20)
    #expect(
      realm.run { realm in shadow.sections == Self.sections(realm).map { $0.map(\.id) } }, "seed \(seed)")
    realm.run { _ in shadow.token = nil }
  }
}
