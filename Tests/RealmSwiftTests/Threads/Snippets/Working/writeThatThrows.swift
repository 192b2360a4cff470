// Answers: refused 1
import Foundation
import RealmSwift

private struct Refusal: Error {}

extension Store {
  fileprivate func addAndThrow() async throws {
    try await realm.asyncWrite {
      realm.add(Person(2, "Grace"))
      throw Refusal()
    }
  }
}

func writeThatThrows() async throws -> String {
  let store = Store()
  try await store.open()
  do { try await store.addAndThrow() } catch is Refusal { return "refused \(await store.count)" }
  return "added"
}
