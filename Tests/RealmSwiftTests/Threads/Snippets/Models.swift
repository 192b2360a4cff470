import Foundation
import RealmSwift

class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var friends: List<Person>

  convenience init(_ id: Int, _ name: String) {
    self.init()
    (self.id, self.name) = (id, name)
  }
}

/// The configuration of a realm in memory that nobody else has.
func memory() -> Realm.Configuration {
  Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self])
}

/// An actor with a realm of its own, in which Ada is.
actor Store {
  let configuration: Realm.Configuration
  private(set) var realm: Realm!

  init(_ configuration: Realm.Configuration = memory()) { self.configuration = configuration }

  func open() async throws {
    realm = try await Realm(configuration: configuration, actor: self)
    try await realm.asyncWrite { realm.add(Person(1, "Ada"), update: .modified) }
  }

  var ada: Person { realm.objects(Person.self)[0] }
  var count: Int { realm.objects(Person.self).count }

  func add(_ id: Int, _ name: String) async throws {
    try await realm.asyncWrite { realm.add(Person(id, name)) }
  }
}

/// An actor that takes what others send.
actor Reader {
  private var kept: [Person] = []

  func name(_ person: sending Person) -> String {
    kept.append(person)
    return person.name
  }
  func names(_ people: Results<Person>) -> String { people.map(\.name).joined(separator: " ") }
  func names(_ people: List<Person>) -> String { people.map(\.name).joined(separator: " ") }
  func count(_ realm: Realm) -> Int { realm.objects(Person.self).count }
}
