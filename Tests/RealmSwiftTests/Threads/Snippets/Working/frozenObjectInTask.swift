// Answers: Ada Ada
import Foundation
import RealmSwift

extension Store {
  fileprivate func frozenName() async throws -> String {
    let frozen = ada.freeze()
    let task = Task.detached { frozen.name }
    let other = ada.freeze()
    try await realm.asyncWrite { ada.name = "Countess" }
    let later = Task { other.name }
    return await "\(task.value) \(later.value)"
  }
}

func frozenObjectInTask() async throws -> String {
  let store = Store()
  try await store.open()
  return try await store.frozenName()
}
