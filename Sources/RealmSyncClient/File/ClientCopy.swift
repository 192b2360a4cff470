import RealmStorage
import RealmSync

/// Copies of a client's file for other users and devices. Each copy is a client of its own, which goes on from the
/// copied state.
///
/// A copy has no number before it connects. When it is registered, it tells the server the version and the query set
/// that it shows, and the server sends what has changed since. The server resets the file if it can't tell what the
/// file shows. This is so with subscriptions, which the server does not have for a new file, and with rights that
/// differ from user to user.
package enum ClientCopy {
  /// True if a version of a client's file has changes that no server is known to have decided.
  package static func hasPending(_ snapshot: Snapshot) throws(StorageError) -> Bool {
    guard let changelog = try snapshot.changelog() else { return false }
    return try changelog.count(snapshot) > 0
  }

  /// The property that tells the partition of an object; nil for a file without a partition, and for one that was never
  /// connected.
  package static func partitionProperty(of snapshot: Snapshot) throws(StorageError) -> String? {
    try ClientPosition(snapshot.tree(ClientPosition.tree)).partition?.property
  }

  /// Writes a copy.
  ///
  /// - Parameters:
  ///   - source: a version of a client's file without pending changes.
  ///   - path: the path of the new file. There must be no file yet. The file appears there at once and whole, or not at
  ///     all.
  ///   - origin: the path of the file whose mode the new file gets.
  /// - Throws: `.system` with `EEXIST` if there is a file already; `.corrupted`; what copying and committing throw.
  package static func write(
    _ source: Snapshot, to path: String, like origin: String, encryptionKey: [UInt8]?
  ) throws(StorageError) {
    var options = DatabaseOptions(encryptionKey: encryptionKey)
    options.history = .synced
    try Database.make(at: path, like: origin, options: options, copying: source) {
      (database) throws(StorageError) in
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      try becomeCopy(transaction)
      try transaction.commit()
    }
  }

  /// Turns a copy of a client's file into a client of its own.
  private static func becomeCopy(_ transaction: WriteTransaction) throws(StorageError) {
    let tree = try transaction.tree(ClientPosition.tree)
    var position = try ClientPosition(tree)
    guard let state = try transaction.changesets()?.state, Int(state.replica) < position.replicas.count
    else { throw tree.damaged }
    // A file that was never connected contains nothing that others have made.
    guard position.version > 0 else { return }
    let own = position.becomeCopy(of: state)
    try position.store(in: tree)
    try transaction.changeChangelogState { state in
      (state.replica, state.nextElement) = (own, 1)
      // Another machine has another clock.
      state.clockOffset = 0
    }
    try RefusalStore(transaction).forget(upTo: .max)
    try ResetMark.remove(from: tree)
    try transaction.forgetStagedParts()
    // The records belong to changes that were pending.
    try MergeRecords(transaction).tree.removeAll()
  }
}
