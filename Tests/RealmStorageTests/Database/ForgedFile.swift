import Foundation

@testable import RealmStorage

/// A file that another version of the library may have written. It has the nodes of a database, some of them changed,
/// and each ref has the checksum of its changed node.
struct ForgedFile {
  /// A node before it is written. The refs of its children are refs into the forged file.
  struct Node {
    let kind: NodeKind
    var children: [Ref]
    var body: [UInt8]
  }

  /// Copies the newest version of a database to a new file at `path`. `forge` may change each node; it gets children
  /// before parents.
  static func make(
    _ path: String, from database: Database, _ forge: (inout Node, NodeEditor) throws -> Void
  ) throws {
    let forged = try Database(path: path)
    defer { forged.close() }
    let transaction = try forged.beginWrite()
    defer { transaction.cancel() }
    let snapshot = try database.snapshot()
    transaction.begin(with: try copy(snapshot.root, snapshot, transaction.editor, forge))
    try transaction.commit()
  }

  private static func copy(
    _ ref: Ref, _ source: Snapshot, _ editor: NodeEditor, _ forge: (inout Node, NodeEditor) throws -> Void
  ) throws -> Ref {
    var children: [Ref] = []
    for child in try source.access().children(of: ref) {
      children.append(try copy(child, source, editor, forge))
    }
    let kind = ref.kind!
    let access = source.access()
    let view = try access.node(ref)
    var node = Node(kind: kind, children: children, body: view.bytes(at: 0, count: view.bodyLength).array)
    try forge(&node, editor)
    return write(node, editor)
  }

  static func write(_ node: Node, _ editor: NodeEditor) -> Ref {
    let level = node.children.map { $0.level + 1 }.max() ?? 0
    let arena = editor.arena
    let made = arena.make(
      kind: node.kind, level: level, refCount: node.children.count, bodyLength: node.body.count)
    for (index, child) in node.children.enumerated() { made.setRef(index, to: child) }
    made.copy(node.body, at: 0)
    return made.ref
  }

  /// Gives the catalogue named slots. The root of a slot is the tree below it, or null for a slot without nodes.
  static func addSlots(
    _ slots: [(name: String, rule: UInt8, root: Ref)], to node: inout Node, _ editor: NodeEditor
  ) throws {
    guard node.kind == .root else { return }
    var tree = Ref.null
    for slot in slots {
      let value: [UInt8] = [slot.rule, 1, 2, 3]
      let key = Array(slot.name.utf8)
      tree = try OrderedTree.set(
        TreeValue(bytes: value.span.bytes, ref: slot.root.isNull ? nil : slot.root), for: key.span.bytes,
        in: tree,
        editor: editor)
    }
    node.body.store(node.body.load(UInt32.self, at: 0) | 8, at: 0)
    node.children.append(tree)
  }

  /// An ordered tree of some entries, of the kind that a named slot may have below it.
  static func tree(_ editor: NodeEditor) throws -> Ref {
    var tree = Ref.null
    for number in UInt8(0)..<200 {
      tree = try StoredValue.set([number, number], for: [1, number], in: tree, editor)
    }
    return tree
  }
}
