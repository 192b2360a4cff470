// Answers: Ada
import Foundation
import RealmSwift

extension Store {
  fileprivate func reference() -> ThreadSafeReference<Person> { ThreadSafeReference(to: ada) }
}

func referenceInTask() async throws -> String {
  let store = Store()
  try await store.open()
  let (reference, configuration) = (await store.reference(), store.configuration)
  let task = Task { @MainActor in
    let realm = try await Realm(configuration: configuration)
    return realm.resolve(reference)?.name ?? "gone"
  }
  return try await task.value
}
