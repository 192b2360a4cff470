import RealmStorage

/// How many bytes the history takes. With each version stands how many the history has had up to it, of all that was ever made: so the size of any part of it is one subtraction, and how much is
/// to be forgotten is found by few lookups.
extension ServerStore {
  /// Bytes of the history up to a version, also of what is forgotten. 0 of a version that the file was at before sizes were noted.
  func bytes(upTo version: UInt64) throws(StorageError) -> UInt64 {
    guard let bytes = try tree.value(for: key(Kind.size, version)) else { return 0 }
    var reader = ByteReader(bytes)
    guard let size = reader.varint(), reader.isAtEnd else { throw tree.damaged }
    return size
  }

  /// Notes how many bytes a version takes.
  func note(bytes count: Int, of version: UInt64) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendVarint(try self.bytes(upTo: version - 1) &+ UInt64(count))
    try tree.set(bytes, for: key(Kind.size, version))
  }
}

extension ServerState {
  /// Bytes of the history that is kept, about: of its entries and of what they are found by.
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

  /// The least horizon behind which the history has so many bytes at most.
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

  /// How many replicas that are not retired may need what is before a version.
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
