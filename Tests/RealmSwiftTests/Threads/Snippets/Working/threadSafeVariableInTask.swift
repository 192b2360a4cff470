// Answers: Ada gone
import Foundation
import RealmSwift

extension Store {
  fileprivate func named() async throws -> String {
    @ThreadSafe var person = ada
    let variable = $person
    let before = await Task.detached { variable.wrappedValue?.name ?? "gone" }.value
    try await realm.asyncWrite { realm.delete(ada) }
    let after = await Task.detached { variable.wrappedValue?.name ?? "gone" }.value
    return "\(before) \(after)"
  }
}

func threadSafeVariableInTask() async throws -> String {
  let store = Store()
  try await store.open()
  return try await store.named()
}
