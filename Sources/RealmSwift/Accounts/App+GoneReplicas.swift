import Synchronization

/// Files of users that are gone. The server is told of them when the user connects, so that it keeps no history for them.
extension App {
  func note(goneReplica number: UInt64, of userID: String) {
    users.withLock { _ = $0.gone[userID, default: []].insert(number) }
    metadata.add(goneReplica: number, of: userID)
  }

  /// Those of a user that the server was not told of.
  func goneReplicas(of userID: String) -> [UInt64] { users.withLock { $0.gone[userID]?.sorted() ?? [] } }

  /// The server knows that a file is gone.
  func forget(goneReplica number: UInt64, of userID: String) {
    let wasKnown = users.withLock { $0.gone[userID]?.remove(number) != nil }
    if wasKnown { metadata.remove(goneReplica: number) }
  }
}
