// Answers: 0 1
import Foundation
import RealmSwift

extension Store {
  fileprivate func befriended() async throws -> String {
    let frozen = ada.friends.freeze()
    try await realm.asyncWrite { ada.friends.append(Person(2, "Grace")) }
    return await Task.detached {
      // No await comes between, so that the live list is used on one thread.
      "\(frozen.count) \(frozen.thaw()?.count ?? -1)"
    }.value
  }
}

func frozenListThawsInTask() async throws -> String {
  let store = Store()
  try await store.open()
  return try await store.befriended()
}
