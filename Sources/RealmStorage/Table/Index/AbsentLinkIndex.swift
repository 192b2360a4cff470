/// The index of the cells that link by primary key to rows of a table that do not exist: an ordered tree of (primary
/// key, source table, source column, source row), without values (FORMAT.md, "Links to rows that are not there").
///
/// A key begins with the primary key, encoded as in the index of a mixed column, whatever the type of the primary key
/// is. So some different primary keys have one encoding, and the cell itself tells to which one it links.
enum AbsentLinkIndex {
  /// A cell that has links to rows that do not exist.
  struct Source: Hashable {
    var table: UInt32
    /// The id of the column whose companion has the links.
    var column: UInt16
    var row: UInt64
  }

  private static let keyColumn = Column("", .mixed)

  static func head(_ primaryKey: Value) -> [UInt8] { IndexKey.encode(primaryKey, of: keyColumn) }

  static func key(_ primaryKey: Value, _ source: Source) -> [UInt8] {
    var bytes = head(primaryKey)
    bytes.appendHighestFirst(source.table)
    bytes.appendHighestFirst(source.column)
    IndexKey.appendRow(source.row, to: &bytes)
    return bytes
  }

  /// The cells with links to rows whose primary key has the same encoding as `primaryKey`, in order.
  static func sources(
    of primaryKey: Value, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Source] {
    var found: [Source] = []
    guard !root.isNull else { return found }
    let head = head(primaryKey)
    var cursor = TreeCursor(root)
    try cursor.seek(head.span.bytes, access)
    while cursor.isValid {
      let key = try cursor.withEntry(access) { leaf, index in leaf.key(index) }
      guard key.starts(with: head) else { break }
      guard let source = source(key, after: head.count) else { throw access.corrupted(.structure, root) }
      found.append(source)
      try cursor.next(access)
    }
    return found
  }

  /// All cells with links to rows of the table that do not exist, each once, in the order of their first entries. Takes
  /// time in proportion to the number of links.
  static func sources(in root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> [Source] {
    var (found, known): ([Source], Set<Source>) = ([], [])
    guard !root.isNull else { return found }
    var cursor = TreeCursor(root)
    try cursor.seekFirst(access)
    while cursor.isValid {
      let key = try cursor.withEntry(access) { leaf, index in leaf.key(index) }
      guard let length = IndexKey.valueLength(key.span.bytes, of: keyColumn),
        let source = source(key, after: length)
      else { throw access.corrupted(.structure, root) }
      if known.insert(source).inserted { found.append(source) }
      try cursor.next(access)
    }
    return found
  }

  private static func source(_ key: [UInt8], after length: Int) -> Source? {
    guard let row = IndexKey.row(LeafKey(key.span.bytes), after: length + 6) else { return nil }
    let number: (Range<Int>) -> UInt64 = { key[$0].reduce(0) { $0 << 8 | UInt64($1) } }
    return Source(
      table: UInt32(number(length..<length + 4)), column: UInt16(number(length + 4..<length + 6)), row: row)
  }
}

/// The index of absent links of a table in a transaction that changes it.
final class AbsentLinkIndexWriter {
  @exclusivity(unchecked) private(set) var root: Ref
  private let editor: NodeEditor

  init(root: Ref, editor: NodeEditor) {
    self.root = root
    self.editor = editor
  }

  var isEmpty: Bool { root.isNull }

  func settle(_ named: (Ref) -> Ref) { root = named(root) }

  func sources(of primaryKey: Value) throws(StorageError) -> [AbsentLinkIndex.Source] {
    try AbsentLinkIndex.sources(of: primaryKey, in: root, editor.access())
  }

  func sources() throws(StorageError) -> [AbsentLinkIndex.Source] {
    try AbsentLinkIndex.sources(in: root, editor.access())
  }

  func add(_ key: [UInt8]) throws(StorageError) {
    root = try OrderedTree.set(
      TreeValue(bytes: [UInt8]().span.bytes), for: key.span.bytes, in: root, shape: .small, editor: editor)
  }

  func remove(_ key: [UInt8]) throws(StorageError) {
    root = try OrderedTree.remove(key.span.bytes, from: root, shape: .small, editor: editor)
  }
}
