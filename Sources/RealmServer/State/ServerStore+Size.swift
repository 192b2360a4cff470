import RealmStorage

/// The size of the history. The number that stands with each version is the size of all history up to it that was ever
/// made, including what was removed. So the size of any part is one subtraction, and a few lookups find how much has to
/// be removed.
extension ServerStore {
  /// The size in bytes of the history up to a version, including what was removed. It is 0 for a version that was
  /// integrated before sizes were noted.
  func bytes(upTo version: UInt64) throws(StorageError) -> UInt64 {
    guard let bytes = try tree.value(for: key(Kind.size, version)) else { return 0 }
    var reader = ByteReader(bytes)
    guard let size = reader.varint(), reader.isAtEnd else { throw tree.damaged }
    return size
  }

  /// Notes how many bytes the history of a version takes.
  func note(bytes count: Int, of version: UInt64) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendVarint(try self.bytes(upTo: version - 1) &+ UInt64(count))
    try tree.set(bytes, for: key(Kind.size, version))
  }
}

extension ServerState {
  /// The size of the history that is kept in bytes, about. It includes the entries and the keys by which they are
  /// found.
  ///
  /// - Throws: `StorageError`.
  package func historyBytes(_ transaction: WriteTransaction) throws(StorageError) -> UInt64 {
    let store = try ServerStore(transaction, settings)
    return try bytes(behind: horizon, store)
  }

  private func bytes(behind version: UInt64, _ store: ServerStore) throws(StorageError) -> UInt64 {
    let (first, last) = (try store.bytes(upTo: version), try store.bytes(upTo: self.version))
    return last - min(first, last)
  }

  /// The least horizon behind which the history has at most `most` bytes.
  ///
  /// - Throws: `StorageError`.
  package func leastHorizon(
    keeping most: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> UInt64 {
    let store = try ServerStore(transaction, settings)
    var (low, high) = (horizon, version)
    while low < high {
      let middle = low + (high - low) / 2
      if try bytes(behind: middle, store) <= most { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The number of replicas that are not retired and may need history up to a version.
  ///
  /// - Throws: `StorageError`.
  package func replicas(
    behind version: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> Int {
    let store = try ServerStore(transaction, settings)
    var count = 0
    for replica in replicas.values where !replica.isRetired {
      if let session = try store.session(replica.ordinal), session.version < version { count += 1 }
    }
    return count
  }
}
