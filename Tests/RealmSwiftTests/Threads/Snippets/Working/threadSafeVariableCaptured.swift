// Answers: Ada
import Foundation
import RealmSwift

extension Store {
  fileprivate func captured() async -> String {
    @ThreadSafe var person = ada
    return await Task.detached { person?.name ?? "gone" }.value
  }
}

func threadSafeVariableCaptured() async throws -> String {
  let store = Store()
  try await store.open()
  return await store.captured()
}
