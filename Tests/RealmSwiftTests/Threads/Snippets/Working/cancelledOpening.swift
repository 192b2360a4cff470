// Answers: cancelled
import Foundation
import RealmSwift

@MainActor func cancelledOpening() async throws -> String {
  let task = Task { @MainActor in
    while !Task.isCancelled { await Task.yield() }
    return try await Realm(configuration: memory()).isEmpty
  }
  task.cancel()
  do { _ = try await task.value } catch is CancellationError { return "cancelled" }
  return "opened"
}
