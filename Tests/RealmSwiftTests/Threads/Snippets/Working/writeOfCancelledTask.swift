// Answers: cancelled 1
import Foundation
import RealmSwift

func writeOfCancelledTask() async throws -> String {
  let store = Store()
  try await store.open()
  let task = Task {
    while !Task.isCancelled { await Task.yield() }
    try await store.add(2, "Grace")
  }
  task.cancel()
  do { try await task.value } catch is CancellationError { return "cancelled \(await store.count)" }
  return "added"
}
