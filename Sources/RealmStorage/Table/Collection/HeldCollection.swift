/// A list, set or map of the open transaction as it was when this was made, though the transaction changes it: for loops that
/// change what they walk over. Its elements are read as many at a time as stand together, and none is copied before.
///
/// While one is kept, changes of nodes that were there before are made in copies: each changed leaf costs its bytes once more until
/// then. When the transaction ends, what is kept still is read into memory.
public final class HeldCollection: NodeHolder {
  private enum Content {
    case values([SortedEntry])
    case tree(Ref)
    /// It could not be read when the transaction ended.
    case failed(StorageError)
  }

  private var content: Content
  private let column: Column
  private let editor: NodeEditor
  /// How many elements there are, or keys.
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

  /// The elements, or values of a map, from a position on, as many as stand together; none behind the last. O(log n) beside the elements.
  ///
  /// - Throws: `.corrupted`.
  public func elements(from position: Int) throws(StorageError) -> [Value] {
    if case .tree(let root) = content, column.collection == .list {
      guard position < count else { return [] }
      return try ListTree.values(from: position, of: root, column.element, editor.access())
    }
    return try entries(from: position).map { $0.value }
  }

  /// The same of a map with their keys; of lists and sets no keys.
  ///
  /// - Throws: `.corrupted`.
  public func entries(from position: Int) throws(StorageError) -> [(key: String?, value: Value)] {
    switch content {
    case .values(let entries): return entries.dropFirst(position).map { ($0.key, $0.value) }
    case .tree(let root): return try entries(from: position, in: root)
    case .failed(let error): throw error
    }
  }

  /// The element, or value of a map, at a position. O(log n).
  ///
  /// - Precondition: there is one.
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

  /// So many entries of a set or map are read at a time.
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
