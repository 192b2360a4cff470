/// An ordered tree of keys and values under a name of its own. Keys are compared byte by byte.
///
/// Keys have up to 1,024 bytes, values up to 2^40. A tree to which nothing was written is empty.
public protocol ReadableTree {
  /// What the functions of the tree read. Only types of this library can make one.
  var contents: TreeContents { get }
}

/// The root of a tree, and the snapshot or transaction that reads it.
public struct TreeContents {
  let root: Ref
  let reader: any NodeReader
}

extension ReadableTree {
  private var root: Ref { contents.root }

  /// The number of entries. O(1).
  ///
  /// - Throws: `.corrupted`; `.system` if the system refuses to read; `.snapshotExpired` after a failed sync. All functions that
  ///   read throw these.
  public func count() throws(StorageError) -> Int {
    let reader = contents.reader
    return Int(clamping: try OrderedTree.count(root, reader.access()))
  }

  /// The error for a tree whose entries do not have the form that their writer gives them.
  package var damaged: StorageError { contents.reader.access().corrupted(.structure, root) }

  /// The value for a key; nil if there is none. Takes O(log n), and time in proportion to the value.
  public func value(for key: [UInt8]) throws(StorageError) -> [UInt8]? {
    let reader = contents.reader
    let access = reader.access()
    return try OrderedTree.find(key.span.bytes, in: root, access) { (value) throws(StorageError) in
      try value.contents(access)
    }
  }

  /// The number of keys that are less than `key`. O(log n).
  public func rank(of key: [UInt8]) throws(StorageError) -> Int {
    let reader = contents.reader
    return Int(clamping: try OrderedTree.rank(key.span.bytes, in: root, reader.access()))
  }

  /// The entry with `position` entries before it; nil if there is none. O(log n).
  public func entry(at position: Int) throws(StorageError) -> (key: [UInt8], value: [UInt8])? {
    guard position >= 0 else { return nil }
    let reader = contents.reader
    let access = reader.access()
    var cursor = TreeCursor(root)
    try cursor.seek(position: UInt64(position), access)
    guard cursor.isValid else { return nil }
    return try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
      (leaf.key(index), try leaf.value(index).contents(access))
    }
  }

  /// Calls `body` with each entry in the order of the keys, from the first key that is not less than `start`, until it returns
  /// false. The tree must not be changed in `body`.
  public func forEach(
    from start: [UInt8] = [], _ body: (_ key: [UInt8], _ value: [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard !root.isNull else { return }
    let reader = contents.reader
    var cursor = TreeCursor(root)
    try cursor.seek(start.span.bytes, reader.access())
    while cursor.isValid {
      // A long walk renews its access now and then, so that decrypted nodes of earlier entries can be forgotten.
      let access = reader.access()
      var count = 0
      while cursor.isValid, count < 256 {
        let goesOn = try cursor.forEachInLeaf(access) { (leaf, index) throws(StorageError) in
          count += 1
          return try body(leaf.key(index), leaf.value(index).contents(access))
        }
        guard goesOn else { return }
      }
    }
  }
}

/// A named tree of a snapshot.
public struct Tree: ReadableTree {
  /// What the functions of the tree read.
  public let contents: TreeContents
}

/// A named tree of a transaction, with the changes made so far. It is used by the thread of the transaction, while the
/// transaction is open.
public struct WritableTree: ReadableTree {
  private let transaction: WriteTransaction
  private let index: Int

  init(transaction: WriteTransaction, index: Int) {
    self.transaction = transaction
    self.index = index
  }

  private var root: Ref {
    get { transaction.openTrees[index].root }
    nonmutating set { transaction.openTrees[index].root = newValue }
  }

  /// What the functions of the tree read, as changed so far.
  public var contents: TreeContents { TreeContents(root: root, reader: transaction) }

  /// Sets the value for a key. Takes O(log n), and time in proportion to the value.
  ///
  /// - Throws: `.limitExceeded` for a key over 1,024 bytes or a value over 2^40; `.corrupted`.
  public func set(_ value: [UInt8], for key: [UInt8]) throws(StorageError) {
    guard value.count <= LongValue.maximumLength else {
      throw .limitExceeded(
        .valueLength(value.count, maximum: LongValue.maximumLength),
        path: transaction.editor.store.storage.path)
    }
    let editor = transaction.editor
    try editor.checkRoom(for: value.count)
    let old = try longValue(of: key)
    root = try StoredValue.set(value, for: key, in: root, editor)
    if let old { try editor.freeTree(old) }
  }

  /// Removes a key and its value, if the tree has it. O(log n).
  public func removeValue(for key: [UInt8]) throws(StorageError) {
    let editor = transaction.editor
    let found = try OrderedTree.find(key.span.bytes, in: root, editor.access()) { $0.ref }
    guard let old = found else { return }
    root = try OrderedTree.removeFound(key.span.bytes, from: root, editor: editor)
    if let old { try editor.freeTree(old) }
  }

  /// Removes all entries. Takes time in proportion to the nodes that have refs to others.
  public func removeAll() throws(StorageError) {
    try transaction.editor.freeTree(root)
    root = .null
  }

  private func longValue(of key: [UInt8]) throws(StorageError) -> Ref? {
    try OrderedTree.find(key.span.bytes, in: root, transaction.editor.access()) { $0.ref } ?? nil
  }
}

extension Snapshot {
  /// The tree with a name. It is empty if nothing was written to it.
  public func tree(_ name: String) throws(StorageError) -> Tree {
    Tree(contents: TreeContents(root: try NamedTrees.root(of: name, in: self), reader: self))
  }

  /// The names of all trees, in their order.
  public func treeNames() throws(StorageError) -> [String] { try NamedTrees.names(in: self) }

  /// The differences of a tree between an older snapshot and this one, in the order of the keys.
  package func treeDifferences(
    _ name: String, since older: Snapshot
  ) throws(StorageError) -> [TreeDiff.Difference] {
    let access = access()
    let olderAccess = older.access()
    return try TreeDiff.differences(
      from: NamedTrees.root(of: name, in: older), olderAccess, to: NamedTrees.root(of: name, in: self), access
    ) { (old, new) throws(StorageError) in
      try old.contents(olderAccess) == new.contents(access)
    }
  }
}

/// The named trees of a version, and their roots.
enum NamedTrees {
  static func root(of name: String, in reader: any NodeReader) throws(StorageError) -> Ref {
    let access = reader.access()
    let trees = try Catalogue(reader.root, access).namedTrees
    return try OrderedTree.find(Array(name.utf8).span.bytes, in: trees, access) { $0.ref ?? .null } ?? .null
  }

  static func names(in reader: any NodeReader) throws(StorageError) -> [String] {
    let access = reader.access()
    return try all(in: Catalogue(reader.root, access), access).map { $0.name }
  }

  /// All trees. The root of an empty one is null.
  ///
  /// - Throws: `.corrupted`, also for a key that is not a valid name: under another name its content would be lost.
  static func all(
    in catalogue: Catalogue, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [(name: String, root: Ref)] {
    var cursor = TreeCursor(catalogue.namedTrees)
    var trees: [(name: String, root: Ref)] = []
    try cursor.seekFirst(access)
    while cursor.isValid {
      trees.append(
        try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
          let value = leaf.value(index)
          guard let name = Self.name(leaf.key(index)), value.bytes.byteCount == 0 else {
            throw access.corrupted(.structure, catalogue.namedTrees)
          }
          return (name, value.ref ?? .null)
        })
      try cursor.next(access)
    }
    return trees
  }

  /// The name of a key; nil if it is not a valid name.
  static func name(_ bytes: [UInt8]) -> String? {
    guard (1...Catalogue.maximumNameLength).contains(bytes.count) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Stores the root of a tree, which a transaction has changed, in the catalogue.
  static func set(_ tree: Ref, name: String, in root: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    var catalogue = try Catalogue(root, editor.access())
    let nothing: [UInt8] = []
    catalogue.namedTrees = try OrderedTree.set(
      TreeValue(bytes: nothing.span.bytes, ref: tree.isNull ? nil : tree), for: Array(name.utf8).span.bytes,
      in: catalogue.namedTrees, editor: editor)
    if !root.isNull { editor.free(root) }
    return catalogue.write(editor)
  }
}
