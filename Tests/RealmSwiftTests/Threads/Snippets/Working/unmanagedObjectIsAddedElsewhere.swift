// Answers: 2
import Foundation
import RealmSwift

extension Store {
  fileprivate func add(_ person: sending Person) async throws {
    try await realm.asyncWrite { realm.add(person) }
  }
}

func unmanagedObjectIsAddedElsewhere() async throws -> String {
  let store = Store()
  try await store.open()
  try await store.add(Person(2, "Grace"))
  return String(await store.count)
}
