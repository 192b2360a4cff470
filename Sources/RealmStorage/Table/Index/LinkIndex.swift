/// The index of the links to the rows of a table: an ordered tree of (target row, source table, source column, source
/// row). The value is the number of links, or empty if there is one link (FORMAT.md, "Links").
///
/// A key is the target row in 8 bytes, the table in 4 and the column in 2, all with the highest byte first, and
/// then the source row in the form of an index entry. So the sources of one row, and among them those of one
/// column, are next to each other.
enum LinkIndex {
  static let headLength = 14

  static func head(target: UInt64, table: UInt32, column: UInt16) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    bytes.appendHighestFirst(target)
    bytes.appendHighestFirst(table)
    bytes.appendHighestFirst(column)
    return bytes
  }

  static func targetHead(_ target: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: target >> UInt64(56 - 8 * $0)) }
  }

  /// The links from a column of a source row to a target row, and their number.
  struct Entry: Equatable {
    var target: UInt64
    var table: UInt32
    var column: UInt16
    var source: UInt64
    var count: UInt64
  }

  static func decode(_ key: [UInt8], _ value: [UInt8]) -> Entry? {
    guard let source = IndexKey.row(LeafKey(key.span.bytes), after: headLength), let count = count(value)
    else {
      return nil
    }
    let number: (Range<Int>) -> UInt64 = { key[$0].reduce(0) { $0 << 8 | UInt64($1) } }
    return Entry(
      target: number(0..<8), table: UInt32(number(8..<12)), column: UInt16(number(12..<14)), source: source,
      count: count)
  }

  static func count(_ value: [UInt8]) -> UInt64? {
    if value.isEmpty { return 1 }
    var reader = ByteReader(value)
    guard let count = reader.varint(), reader.isAtEnd, count > 1, count < 1 << 48 else { return nil }
    return count
  }

  static func encode(count: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    if count > 1 { bytes.appendVarint(count) }
    return bytes
  }

  /// The number of entries whose key starts with `head`. Takes O(log n).
  static func count(
    _ head: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    var end = head
    // The byte behind a head is less than ff.
    end.append(0xff)
    return try OrderedTree.count(
      from: end.span.bytes.extracting(first: head.count), below: end.span.bytes, in: root, access)
  }

  /// Calls `body` with each entry whose key starts with `head`, until `body` returns false.
  static func forEach(
    _ head: [UInt8], in root: Ref, _ access: borrowing NodeAccess,
    _ body: (Entry) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard !root.isNull else { return }
    var cursor = TreeCursor(root)
    try cursor.seek(head.span.bytes, access)
    while cursor.isValid {
      let (key, value) = try cursor.withEntry(access) { leaf, index in
        (leaf.key(index), leaf.value(index).bytes.array)
      }
      guard key.starts(with: head) else { return }
      // Callers visit each link of an entry by itself, so a forged count could keep them busy without end.
      guard let entry = decode(key, value), entry.count >> 6 <= access.end else {
        throw access.corrupted(.structure, root)
      }
      guard try body(entry) else { return }
      try cursor.next(access)
    }
  }
}

extension LinkIndex {
  /// Calls `body` with each entry of a target row, without making arrays for its bytes. The count in
  /// these entries is always 1.
  static func forEachSource(
    of target: UInt64, in root: Ref, _ access: borrowing NodeAccess, _ body: (Entry) -> Void
  ) throws(StorageError) {
    var cursor = TreeCursor(root)
    let head = targetHead(target)
    try cursor.seek(head.span.bytes, access)
    var isDone = false
    while cursor.isValid, !isDone {
      let isOver = try cursor.forEachInLeaf(access) { (leaf, index) throws(StorageError) in
        let key = LeafKey(leaf, index)
        guard key.count > headLength, (0..<8).allSatisfy({ key.byte($0) == head[$0] }) else {
          isDone = true
          return false
        }
        guard let source = IndexKey.row(key, after: headLength) else {
          throw access.corrupted(.structure, root)
        }
        var table: UInt32 = 0
        for place in 8..<12 { table = table << 8 | UInt32(key.byte(place)) }
        body(
          Entry(
            target: target, table: table, column: UInt16(key.byte(12)) << 8 | UInt16(key.byte(13)),
            source: source,
            count: 1))
        return true
      }
      if !isOver { break }
    }
  }
}

/// The link index of a table in a transaction that changes it.
final class LinkIndexWriter {
  @exclusivity(unchecked) private(set) var root: Ref
  private let editor: NodeEditor
  private let run = EntryRun()

  init(root: Ref, editor: NodeEditor) {
    self.root = root
    self.editor = editor
  }

  func settle(_ named: (Ref) -> Ref) { root = named(root) }

  func add(target: UInt64, table: UInt32, column: UInt16, source: UInt64) throws(StorageError) {
    var key = LinkIndex.head(target: target, table: table, column: column)
    IndexKey.appendRow(source, to: &key)
    run.append(key)
    if run.bytes > EntryRun.maximumBytes { try flush() }
  }

  /// Removes one link.
  func remove(target: UInt64, table: UInt32, column: UInt16, source: UInt64) throws(StorageError) {
    try flush()
    var key = LinkIndex.head(target: target, table: table, column: column)
    IndexKey.appendRow(source, to: &key)
    let old = try OrderedTree.find(key.span.bytes, in: root, editor.access()) { $0.bytes.array }
    guard let old, let count = LinkIndex.count(old) else { return }
    if count == 1 {
      root = try OrderedTree.remove(key.span.bytes, from: root, shape: .small, editor: editor)
    } else {
      let value = LinkIndex.encode(count: count - 1)
      root = try OrderedTree.set(
        TreeValue(bytes: value.span.bytes), for: key.span.bytes, in: root, shape: .small, editor: editor)
    }
  }

  /// The entries of all links to a row.
  func links(to target: UInt64) throws(StorageError) -> [LinkIndex.Entry] {
    try flush()
    var found: [LinkIndex.Entry] = []
    try LinkIndex.forEach(LinkIndex.targetHead(target), in: root, editor.access()) { entry in
      found.append(entry)
      return true
    }
    return found
  }

  func isEmpty() throws(StorageError) -> Bool {
    try flush()
    return root.isNull
  }

  func removeAll() throws(StorageError) {
    run.removeAll()
    try editor.freeTree(root)
    root = .null
  }

  /// Removes all links of one source column. Takes time in proportion to the number of all links to the table.
  func removeAll(table: UInt32, column: UInt16) throws(StorageError) {
    try flush()
    let source = LinkIndex.head(target: 0, table: table, column: column)[8...]
    root = try OrderedTree.filter(root, shape: .small, editor: editor) { (leaf, places) in
      for index in 0..<leaf.count {
        let key = LeafKey(leaf, index)
        let isOther =
          key.count < LinkIndex.headLength || source.indices.contains { key.byte($0) != source[$0] }
        if isOther { places.append(UInt16(index)) }
      }
    }
  }

  /// The most entries that are put into the tree one by one. A merge makes the leaves on the way
  /// anew from their entries.
  private static let fewEntries = 4

  /// Adds one link to the count of its entry.
  private func put(_ key: [UInt8]) throws(StorageError) {
    let old = try OrderedTree.find(key.span.bytes, in: root, editor.access()) { $0.bytes.array }
    let value = LinkIndex.encode(count: (old.flatMap(LinkIndex.count) ?? 0) + 1)
    root = try OrderedTree.set(
      TreeValue(bytes: value.span.bytes), for: key.span.bytes, in: root, shape: .small, editor: editor)
  }

  func flush() throws(StorageError) {
    guard run.count > 0 else { return }
    try editor.checkRoom(for: 2 * run.bytes)
    guard run.count > Self.fewEntries || root.isNull else {
      let keys = run.sorted()
      run.removeAll()
      for index in 0..<keys.count { try put(keys.key(index).array) }
      return
    }
    root = try OrderedTree.merge(run.sorted(), into: root, shape: .small, editor: editor) { old, repeats in
      LinkIndex.encode(count: (old.flatMap(LinkIndex.count) ?? 0) + UInt64(repeats))
    }
    run.removeAll()
  }
}
