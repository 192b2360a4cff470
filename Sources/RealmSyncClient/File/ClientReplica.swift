import RealmStorage

/// The number by which a server knows a client's file.
package enum ClientReplica {
  /// The number of the file; nil if no server has given it one, or if it is not synced.
  package static func number(in snapshot: Snapshot) throws(StorageError) -> UInt64? {
    guard let changelog = try snapshot.changelog() else { return nil }
    let tree = try snapshot.tree(ClientPosition.tree)
    let (position, own) = (try ClientPosition(tree), Int(changelog.state.replica))
    guard position.replicas.indices.contains(own) else { throw tree.damaged }
    let number = position.replicas[own]
    return number == .max ? nil : number
  }
}
