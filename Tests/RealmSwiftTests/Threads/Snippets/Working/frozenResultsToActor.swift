// Answers: Ada Grace
import Foundation
import RealmSwift

private actor Counter {
  func names(_ people: sending Results<Person>) -> String { people.map(\.name).joined(separator: " ") }
}

extension Store {
  fileprivate func counted(_ counter: Counter) async throws -> String {
    try await add(2, "Grace")
    let frozen = realm.objects(Person.self).sorted(byKeyPath: "id").freeze()
    async let names = counter.names(frozen)
    try await add(3, "Alan")
    return await names
  }
}

func frozenResultsToActor() async throws -> String {
  let store = Store()
  try await store.open()
  return try await store.counted(Counter())
}
