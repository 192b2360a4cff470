/// A list, set or map of an open transaction, with the elements that it had when this object was made, even if the transaction
/// changes it: for loops that change the collection that they go through. Elements are read in groups that are stored together,
/// and none is copied in advance.
///
/// While such an object exists, nodes that it may read are copied when they are changed: each changed leaf costs its size once
/// more. When the transaction ends, the elements of existing objects are read into memory.
public final class HeldCollection: NodeHolder {
  private enum Content {
    case values([SortedEntry])
    case tree(Ref)
    /// The elements could not be read when the transaction ended.
    case failed(StorageError)
  }

  private var content: Content
  private let column: Column
  private let editor: NodeEditor
  /// The number of elements, or of keys of a map.
  public let count: Int

  init(_ values: [SortedEntry], of column: Column, _ editor: NodeEditor) {
    (content, count) = (.values(values), values.count)
    (self.column, self.editor) = (column, editor)
  }

  init(tree: Ref, of column: Column, _ editor: NodeEditor) throws(StorageError) {
    content = .tree(tree)
    (self.column, self.editor) = (column, editor)
    count = try CollectionForm.count(tree, column, editor.access())
    editor.hold(self)
  }

  deinit { if case .tree = content { editor.releaseGone() } }

  /// A group of elements, or values of a map, from a position on: those that are stored together, and none after the last one.
  /// Takes O(log n), and time in proportion to the returned elements.
  ///
  /// - Throws: `.corrupted`.
  public func elements(from position: Int) throws(StorageError) -> [Value] {
    if case .tree(let root) = content, column.collection == .list {
      guard position < count else { return [] }
      return try ListTree.values(from: position, of: root, column.element, editor.access())
    }
    return try entries(from: position).map { $0.value }
  }

  /// A group of entries from a position on, like `elements(from:)`, with the keys of a map. The keys are nil for lists and sets.
  ///
  /// - Throws: `.corrupted`.
  public func entries(from position: Int) throws(StorageError) -> [(key: String?, value: Value)] {
    switch content {
    case .values(let entries): return entries.dropFirst(position).map { ($0.key, $0.value) }
    case .tree(let root): return try entries(from: position, in: root)
    case .failed(let error): throw error
    }
  }

  /// The element, or the value of a map, at a position. O(log n).
  ///
  /// - Precondition: `position` is in `0..<count`. Otherwise the program stops.
  /// - Throws: `.corrupted`.
  public func element(at position: Int) throws(StorageError) -> Value {
    precondition(
      position >= 0 && position < count, "there is no element \(position) in a collection of \(count)")
    switch content {
    case .values(let entries): return entries[position].value
    case .failed(let error): throw error
    case .tree(let root):
      let access = editor.access()
      if column.collection == .list {
        return try ListTree.value(at: position, of: root, column.element, access)
      }
      guard let entry = try SortedTree.entry(at: UInt64(position), in: root, of: column, access) else {
        throw access.corrupted(.rows, root)
      }
      return entry.value
    }
  }

  /// The number of entries of a set or map that are read at a time.
  static let entriesAtATime = 256

  private func entries(
    from position: Int, in root: Ref
  ) throws(StorageError) -> [(key: String?, value: Value)] {
    guard position < count else { return [] }
    let access = editor.access()
    guard column.collection != .list else {
      let values = try ListTree.values(from: position, of: root, column.element, access)
      return values.map { (nil, $0) }
    }
    return try SortedTree.entries(from: position, atMost: Self.entriesAtATime, in: root, of: column, access)
      .map { ($0.key, $0.value) }
  }

  func takeAll() {
    guard case .tree(let root) = content else { return }
    do throws(StorageError) {
      var all: [SortedEntry] = []
      all.reserveCapacity(count)
      while all.count < count {
        let entries = try entries(from: all.count, in: root)
        guard !entries.isEmpty else { throw editor.store.corrupted(.rows, root) }
        for entry in entries { all.append(SortedEntry(key: entry.key, value: entry.value)) }
      }
      content = .values(all)
    } catch {
      content = .failed(error)
    }
  }
}
