// Answers: Ada on a queue
import Foundation
import RealmSwift

private func name(@ThreadSafe of person: Person?) async -> String {
  let variable = $person
  return await withCheckedContinuation { continuation in
    DispatchQueue(label: "names").async {
      continuation.resume(returning: (variable.wrappedValue?.name ?? "gone") + " on a queue")
    }
  }
}

extension Store {
  fileprivate func named() async -> String { await name(of: ada) }
}

func threadSafeParameter() async throws -> String {
  let store = Store()
  try await store.open()
  return await store.named()
}
