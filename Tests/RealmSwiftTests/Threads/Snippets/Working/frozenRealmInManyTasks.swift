// Answers: Ada Ada Ada Ada
import Foundation
import RealmSwift

func frozenRealmInManyTasks() async throws -> String {
  let store = Store()
  try await store.open()
  let names = await withTaskGroup(of: String.self) { group in
    for _ in 0..<4 {
      let realm = await store.frozen()
      group.addTask { realm.objects(Person.self).map(\.name).joined() }
    }
    return await group.reduce(into: []) { $0.append($1) }
  }
  return names.joined(separator: " ")
}

extension Store {
  fileprivate func frozen() -> sending Realm { realm.freeze() }
}
