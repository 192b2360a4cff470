// Answers: Ada 2 3
import Foundation
import RealmSwift

extension Store {
  fileprivate var names: String {
    realm.objects(Person.self).sorted(byKeyPath: "id").map(\.name).joined(separator: " ")
  }
}

func writeAndWaitForTurn() async throws -> String {
  let store = Store()
  try await store.open()
  let tasks = [2, 3].map { id in Task { try await store.add(id, "\(id)") } }
  for task in tasks { try await task.value }
  return await store.names
}
