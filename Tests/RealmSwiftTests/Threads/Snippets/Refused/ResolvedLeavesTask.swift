// Refused: non-Sendable type | conformance of 'ObjectBase' to 'Sendable' is unavailable
import Foundation
import RealmSwift

extension Store {
  func snippet() async {
    let reference = ThreadSafeReference(to: ada)
    let realm = realm!
    let task = Task { realm.resolve(reference) }
    print(await task.value?.name ?? "")
  }
}
