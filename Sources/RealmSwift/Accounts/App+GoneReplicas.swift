import Synchronization

/// Keeps the numbers of synced files that were deleted on this device. When their user connects, the session tells them to the
/// server, which then keeps no history for them.
extension App {
  func note(goneReplica number: UInt64, of userID: String) {
    users.withLock { _ = $0.gone[userID, default: []].insert(number) }
    metadata.add(goneReplica: number, of: userID)
  }

  /// The numbers of a user's deleted files that the server has not confirmed yet.
  func goneReplicas(of userID: String) -> [UInt64] { users.withLock { $0.gone[userID]?.sorted() ?? [] } }

  /// Forgets a deleted file, since the server has confirmed that it is gone.
  func forget(goneReplica number: UInt64, of userID: String) {
    let wasKnown = users.withLock { $0.gone[userID]?.remove(number) != nil }
    if wasKnown { metadata.remove(goneReplica: number) }
  }
}
