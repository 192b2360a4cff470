import RealmStorage

/// Says that a file was reset, until the server has decided what was written again then. A server that resets the file once more before that
/// would do so for ever.
///
/// It stands beside the position of the file, under the key 6.
package struct ResetMark: Sendable, Equatable {
  /// The changes that no server had decided were dropped; else they were written again.
  package var hasDropped: Bool
  /// The sequence of the last changeset that was written again, as it counts since; 0 where none was.
  package var last: UInt64
  /// When that was, in milliseconds since 1970.
  package var time: UInt64

  /// A server that resets a file again and again does so each time it connects. What is so many milliseconds old tells nothing of the next reset.
  private static let lifetime: UInt64 = 3_600_000

  /// Whether a reset that comes now would be one more of the same.
  ///
  /// - Parameter decided: the last changeset that the server has decided, as it tells with the new reset.
  func counts(at time: UInt64, decided: UInt64) -> Bool {
    (hasDropped || last > decided) && time - min(time, self.time) < Self.lifetime
  }

  private static let key: [UInt8] = [6]

  /// Nil where there is none.
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
  /// Nil of a file that was never reset, and of one whose last reset is over.
  package var resetMark: ResetMark? {
    get throws(ClientProblem) {
      try storing { () throws(StorageError) in
        try ResetMark.read(from: transaction.tree(ClientPosition.tree))
      }
    }
  }
}
