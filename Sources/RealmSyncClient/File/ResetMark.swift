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

  private static let key: [UInt8] = [6]

  /// Nil where there is none.
  static func read(from tree: some ReadableTree) throws(StorageError) -> ResetMark? {
    guard let bytes = try tree.value(for: key) else { return nil }
    var reader = ByteReader(bytes)
    guard let flags = reader.integer(UInt8.self), flags < 2, let last = reader.varint(), last < 1 << 62,
      reader.count == 0
    else { throw tree.damaged }
    return ResetMark(hasDropped: flags == 1, last: last)
  }

  func store(in tree: WritableTree) throws(StorageError) {
    var bytes: [UInt8] = [hasDropped ? 1 : 0]
    bytes.appendVarint(last)
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
