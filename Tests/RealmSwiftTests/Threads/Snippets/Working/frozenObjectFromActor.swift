// Answers: Ada
import Foundation
import RealmSwift

extension Store {
  fileprivate func frozenAda() -> sending Person { ada.freeze() }
}

func frozenObjectFromActor() async throws -> String {
  let store = Store()
  try await store.open()
  return await store.frozenAda().name
}
