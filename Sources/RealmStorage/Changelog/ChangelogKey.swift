/// The keys of the changelog's tree. A key is a byte for the kind, followed by numbers with the highest byte first.
enum ChangelogKey: Equatable {
  /// A run of the index: its level (1 byte) and the sequence of its newest changeset (8).
  case run(UInt8, UInt64)
  /// A long value of a changeset: the sequence (8) and the hash (32).
  case chunk(UInt64, [UInt8])
  /// A changeset: its sequence (8). Changesets are the last kind, so that a new one comes behind all other keys.
  case changeset(UInt64)

  private enum Kind {
    static let run: UInt8 = 0
    static let chunk: UInt8 = 1
    static let changeset: UInt8 = 2
  }

  init?(_ bytes: [UInt8]) {
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    switch (bytes.first, bytes.count) {
    case (Kind.run, 10): self = .run(bytes[1], number(2..<10))
    case (Kind.chunk, 9 + ChangesetTag.hashLength): self = .chunk(number(1..<9), Array(bytes[9...]))
    case (Kind.changeset, 9): self = .changeset(number(1..<9))
    default: return nil
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(13)
    switch self {
    case .run(let level, let sequence):
      bytes.append(Kind.run)
      bytes.append(level)
      bytes.appendHighestFirst(sequence)
    case .chunk(let sequence, let hash):
      bytes.append(Kind.chunk)
      bytes.appendHighestFirst(sequence)
      bytes += hash
    case .changeset(let sequence):
      bytes.append(Kind.changeset)
      bytes.appendHighestFirst(sequence)
    }
    return bytes
  }
}

extension ChangelogKey {
  /// Removes an entry that is in the tree, and its long value if it has one.
  func remove(from tree: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    let bytes = bytes
    let long = try OrderedTree.find(bytes.span.bytes, in: tree, editor.access()) { $0.ref } ?? nil
    let left = try OrderedTree.removeFound(bytes.span.bytes, from: tree, editor: editor)
    if let long { try editor.freeTree(long) }
    return left
  }
}
