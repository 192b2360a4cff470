import Foundation
import RealmSwift
import Testing

/// Conditions that a program joins in loops, on a stack that is too small for a nested call for each of them.
@Suite struct ManyConditionsTests {
  private func onSmallStack(_ body: @escaping @Sendable (Realm) throws -> Void) throws {
    final class Outcome: @unchecked Sendable { var error: (any Error)? }
    let (outcome, done) = (Outcome(), DispatchSemaphore(value: 0))
    let thread = Thread {
      do {
        let realm = try memoryRealm([Person.self, Dog.self])
        try realm.write {
          for id in 0..<10 { realm.add(Person(id: id, name: "p\(id)", age: id)) }
        }
        try body(realm)
      } catch {
        outcome.error = error
      }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    if let error = outcome.error { throw error }
  }

  private func ids(_ results: Results<Person>) -> [Int] { results.map(\.id).sorted() }

  @Test func `many conditions are joined one by one, on the left and on the right`() throws {
    try onSmallStack { realm in
      let people = realm.objects(Person.self)
      let numbers = Array(0..<20_000)
      #expect(
        ids(
          people.where { person in numbers.dropFirst(7).reduce(person.age == 3) { $0 || person.age == $1 } })
          == [3, 7, 8, 9])
      #expect(
        ids(people.where { person in numbers.reduce(person.age == 3) { person.age == $1 + 8 || $0 } })
          == [3, 8, 9])
      #expect(
        ids(people.where { person in numbers.reduce(person.age < 5) { $0 && person.age != $1 + 2 } }) == [
          0, 1,
        ])
      #expect(
        people.where { person in numbers.reduce(person.age == -1) { $0 || person.name == "x\($1)" } }.isEmpty)
      #expect(people.where { $0.dogs.count.in(numbers) }.count == 10)
    }
  }

  @Test func `conditions that alternate, and negations of negations, may be nested to any depth`() throws {
    try onSmallStack { realm in
      let people = realm.objects(Person.self)
      let deep = people.where { person in
        (0..<20_000).reduce(person.age == 3) { query, level in
          level % 2 == 0 ? query || person.age == 4 : person.age < 6 && query
        }
      }
      #expect(ids(deep) == [3, 4] && deep.count == 2 && deep.first?.id == 3)
      #expect(
        ids(people.where { person in (0..<20_001).reduce(person.age < 8) { query, _ in !query } }) == [8, 9])
      #expect(
        ids(people.where { person in (0..<20_000).reduce(person.age < 8) { query, _ in query == true } })
          .count == 8)
      // This query is never used.
      var kept: Query<Bool>?
      _ = people.where { person in
        kept = (0..<50_000).reduce(person.age < 8) { query, _ in !query && person.age > 0 }
        return person.age == 0
      }
      let shared = kept
      kept = nil
      #expect(shared != nil)
    }
  }

  @Test func `many filters may follow one another`() throws {
    try onSmallStack { realm in
      var people = realm.objects(Person.self)
      for number in 0..<1_000 { people = people.where { $0.age != number + 5 } }
      #expect(ids(people) == [0, 1, 2, 3, 4])
    }
  }
}
