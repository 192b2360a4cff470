/// The index of one column being changed: its tree, and the entries not in it yet.
final class IndexWriter {
  let column: Column
  private(set) var root: Ref
  private let editor: NodeEditor
  private let run = EntryRun()
  /// Of a unique column, the rows whose entries are in the run, by what is encoded.
  private var pending: [[UInt8]: UInt64] = [:]

  init(column: Column, root: Ref, editor: NodeEditor) {
    self.column = column
    self.root = root
    self.editor = editor
  }

  func insert(_ encoded: [UInt8], row: UInt64) throws(StorageError) {
    var entry = encoded
    IndexKey.appendRow(row, to: &entry)
    run.append(entry)
    if column.index == .unique { pending[encoded] = row }
    if run.bytes > EntryRun.maximumBytes { try flush() }
  }

  func remove(_ encoded: [UInt8], row: UInt64) throws(StorageError) {
    try flush()
    var entry = encoded
    IndexKey.appendRow(row, to: &entry)
    root = try OrderedTree.remove(entry.span.bytes, from: root, editor: editor)
  }

  func removeAll() throws(StorageError) {
    run.removeAll()
    pending.removeAll()
    try editor.freeTree(root)
    root = .null
  }

  /// Whether a row may have what is encoded, of a unique column.
  func mayContain(_ encoded: [UInt8]) throws(StorageError) -> Bool {
    if pending[encoded] != nil { return true }
    guard !root.isNull else { return false }
    var found = false
    try IndexTree.forEachRow(encoded, in: root, editor.access()) { _ in
      found = true
      return false
    }
    return found
  }

  /// Puts all entries into the tree.
  func flush() throws(StorageError) {
    guard run.count > 0 else { return }
    try editor.checkRoom(for: 2 * run.bytes)
    root = try OrderedTree.merge(run, into: root, editor: editor) { _, _ in [] }
    run.removeAll()
    pending.removeAll(keepingCapacity: true)
  }
}
