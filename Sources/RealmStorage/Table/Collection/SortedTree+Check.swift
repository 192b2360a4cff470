extension SortedTree {
  /// Verifies a whole tree: the order of keys, the separators and the counts; that each entry is valid in the column,
  /// that its key is the key of its element or map key, and that it is stored as the writer stores it; that ordinals go
  /// up from 0 in the order of the bytes that the cut keys have no room for. So all elements of a set differ. Returns
  /// the number of entries.
  ///
  /// - Parameter body: called with each entry.
  static func check(
    _ root: Ref, of column: Column, _ reader: any NodeReader,
    _ body: (SortedEntry) throws(StorageError) -> Void = { _ in }
  ) throws(StorageError) -> UInt64 {
    let count = try OrderedTree.check(root, reader) { _, _ in }
    guard !root.isNull else { return count }
    var check = EntryCheck(column: column, reader: reader)
    try check.walk(root, body)
    return count
  }
}

/// Verifies the entries of a tree whose keys are known to be in order.
private struct EntryCheck {
  let column: Column
  let reader: any NodeReader
  /// The last cut key without its ordinal, the number of entries that have it so far, and the bytes that the last of
  /// them has no room for.
  private var head: [UInt8] = []
  private var count: UInt32 = 0
  private var rest: ArraySlice<UInt8> = []

  init(column: Column, reader: any NodeReader) {
    self.column = column
    self.reader = reader
  }

  /// Reads each leaf with an access of its own, so that the decrypted nodes can be dropped after it.
  mutating func walk(
    _ ref: Ref, _ body: (SortedEntry) throws(StorageError) -> Void
  ) throws(StorageError) {
    let reader = reader
    guard ref.isBranch else { return try check(ref, reader.access(), body) }
    for child in try reader.access().children(of: ref) { try walk(child, body) }
  }

  private mutating func check(
    _ ref: Ref, _ access: borrowing NodeAccess, _ body: (SortedEntry) throws(StorageError) -> Void
  ) throws(StorageError) {
    let leaf = try OrderedTree.leaf(ref, access)
    for index in 0..<leaf.count {
      let (key, stored) = (leaf.key(index), leaf.value(index))
      let value = try stored.contents(access)
      guard (stored.ref != nil) == (value.count > OrderedTree.maximumInlineValue),
        let entry = EntryCoding.entry(key, value, of: column), isWritten(entry, key, value)
      else { throw access.corrupted(.structure, ref) }
      try body(entry)
    }
  }

  /// Whether the writer stores the entry with this key and value.
  private mutating func isWritten(_ entry: SortedEntry, _ key: [UInt8], _ value: [UInt8]) -> Bool {
    let made = entry.key.map { ElementKey(mapKey: $0) } ?? ElementKey(entry.value, of: column)
    let stored =
      entry.key == nil
      ? EntryCoding.value(of: entry.value, made, column) : EntryCoding.value(entry.value, of: made, column)
    guard stored == value else { return false }
    guard let rest = made.rest else { return made.bytes == key }
    let isFirst = made.bytes != head
    if isFirst { (head, count) = (made.bytes, 0) }
    var expected = head
    expected.appendHighestFirst(count)
    guard expected == key, isFirst || self.rest.span.bytes.compare(rest.span.bytes) < 0 else { return false }
    self.rest = rest
    guard count < .max else { return false }
    count += 1
    return true
  }
}
