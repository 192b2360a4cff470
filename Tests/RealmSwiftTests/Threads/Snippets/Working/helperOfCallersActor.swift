// Answers: Ada 2
import Foundation
import RealmSwift

private func addGrace(
  _ realm: Realm, _ actor: isolated any Actor = #isolation
) async throws -> Person? {
  await Task.yield()
  try await realm.asyncWrite { realm.add(Person(2, "Grace")) }
  return realm.object(ofType: Person.self, forPrimaryKey: 1)
}

private func size(_ realm: Realm) -> Int { realm.objects(Person.self).count }

extension Store {
  fileprivate func helped() async throws -> String {
    "\(try await addGrace(realm)?.name ?? "") \(size(realm))"
  }
}

func helperOfCallersActor() async throws -> String {
  let store = Store()
  try await store.open()
  return try await store.helped()
}
