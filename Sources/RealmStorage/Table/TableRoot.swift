/// What a table starts from: its rows, and the next key to give.
///
/// Body, after the ref of the cluster tree where there are rows (FORMAT.md, "Table"):
///
///     offset  size  field
///          0     8  nextKey  never goes back
///          8     8  rows
struct TableRoot: Equatable {
  var nextKey: UInt64 = 0
  var rows: UInt64 = 0
  var clusters = Ref.null

  /// Keys have 62 bits.
  static let maximumKey = UInt64(1) << 62

  init() {}

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    guard view.bodyLength >= 16, view.refCount <= 1 else { return false }
    let (nextKey, rows) = (view.load(UInt64.self, at: 0), view.load(UInt64.self, at: 8))
    return nextKey <= maximumKey && rows <= nextKey && (rows == 0) == (view.refCount == 0)
  }

  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    guard !ref.isNull else { return }
    let view = try access.node(ref, .table)
    nextKey = view.load(UInt64.self, at: 0)
    rows = view.load(UInt64.self, at: 8)
    if view.refCount > 0 { clusters = view.ref(0) }
  }

  func write(_ editor: NodeEditor) -> Ref {
    let arena = editor.arena
    let hasRows = !clusters.isNull
    let node = arena.make(
      kind: .table, level: hasRows ? clusters.level + 1 : 0, refCount: hasRows ? 1 : 0, bodyLength: 16)
    node.store(nextKey, at: 0)
    node.store(rows, at: 8)
    if hasRows { node.setRef(0, to: clusters) }
    return node.ref
  }
}
