// Answers: done 1
import Foundation
import RealmSwift

func realmOfQueue() async throws -> String {
  let queue = DispatchQueue(label: "queue")
  let configuration = memory()
  return await withCheckedContinuation { continuation in
    queue.async {
      guard let realm = try? Realm(configuration: configuration, queue: queue) else { return }
      realm.writeAsync({ realm.add(Person(1, "Ada")) }) { error in
        let text = error == nil ? "done" : "failed"
        continuation.resume(returning: "\(text) \(realm.objects(Person.self).count)")
      }
    }
  }
}
