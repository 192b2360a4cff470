import RealmStorage

/// The mark of a file that was reset. It stays until the server has decided what was written again at the reset. If a
/// server resets the file once more before that, it would do so for ever.
///
/// The mark stands beside the position of the file, under the key 6.
package struct ResetMark: Sendable, Equatable {
  /// True if the changes that no server had decided were dropped, false if they were written again.
  package var hasDropped: Bool
  /// The sequence of the last changeset that was written again, as sequences count since the reset; 0 if there was
  /// none.
  package var last: UInt64
  /// The time of the reset, in milliseconds since 1970.
  package var time: UInt64

  /// The milliseconds after which a mark says nothing about the next reset. A server that resets a file again and again
  /// does so each time it connects.
  private static let lifetime: UInt64 = 3_600_000

  /// True if a reset that comes now would be one more of the same kind.
  ///
  /// - Parameter decided: the sequence of the last changeset that the server has decided, as the new reset tells it.
  func counts(at time: UInt64, decided: UInt64) -> Bool {
    (hasDropped || last > decided) && time - min(time, self.time) < Self.lifetime
  }

  private static let key: [UInt8] = [6]

  /// The mark of a file; nil if it has none.
  static func read(from tree: some ReadableTree) throws(StorageError) -> ResetMark? {
    guard let bytes = try tree.value(for: key) else { return nil }
    var reader = ByteReader(bytes)
    guard let flags = reader.integer(UInt8.self), flags < 2, let last = reader.varint(), last < 1 << 62,
      let time = reader.varint(), reader.count == 0
    else { throw tree.damaged }
    return ResetMark(hasDropped: flags == 1, last: last, time: time)
  }

  func store(in tree: WritableTree) throws(StorageError) {
    var bytes: [UInt8] = [hasDropped ? 1 : 0]
    bytes.appendVarint(last)
    bytes.appendVarint(time)
    try tree.set(bytes, for: Self.key)
  }

  static func remove(from tree: WritableTree) throws(StorageError) { try tree.removeValue(for: key) }
}

extension ClientFile {
  /// The mark of the last reset; nil if the file was never reset, or its last reset is over.
  package var resetMark: ResetMark? {
    get throws(ClientProblem) {
      try storing { () throws(StorageError) in
        try ResetMark.read(from: transaction.tree(ClientPosition.tree))
      }
    }
  }
}
