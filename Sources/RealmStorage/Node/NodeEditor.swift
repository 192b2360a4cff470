/// Reads and makes nodes for a transaction, and notes which nodes of the file the transaction replaced.
package final class NodeEditor {
  package let store: NodeStore
  package let arena: NodeArena
  /// The nodes of the file and of sealed transactions that the new version no longer reaches.
  @exclusivity(unchecked) package private(set) var freed: [Ref] = []
  /// The offset at which the nodes of the file end.
  private var end: UInt64 = 0
  /// If the nodes of the transaction take more bytes in memory than this, complete subtrees are written to the file, and trees
  /// are made of the collected entries of indexes.
  private(set) var spillBytes = Int.max
  private var spill: Spill = { roots in roots }
  /// The bytes that the arena held when `spillIfLarge` was called last.
  private var liveBytesLast = 0
  private var holds = NodeHolds()

  /// Writes subtrees of the transaction to the file, and returns their refs there.
  package typealias Spill = ([Ref]) throws(StorageError) -> [Ref]

  package init(store: NodeStore, arena: NodeArena) {
    self.store = store
    self.arena = arena
  }

  /// Starts the transaction that will be version `birth`, on a file whose nodes end at `end`.
  ///
  /// - Throws: `.system` if no range of addresses is left for its nodes.
  package func begin(birth: UInt64, end: UInt64) throws(StorageError) {
    try arena.reset(birth: birth)
    freed.removeAll(keepingCapacity: true)
    liveBytesLast = 0
    self.end = end
  }

  /// Starts the transaction that will be version `birth` on nodes that are not written yet.
  package func resume(birth: UInt64) {
    arena.resume(birth: birth)
    freed.removeAll(keepingCapacity: true)
    liveBytesLast = 0
  }

  /// Ends the transaction and keeps its nodes. Returns the nodes that it freed.
  package func seal() -> [Ref] {
    arena.seal()
    return freed
  }

  /// Lets complete subtrees be written before the transaction commits, as soon as its nodes take more than `bytes`.
  package func onSpill(above bytes: Int, _ spill: @escaping Spill) {
    spillBytes = bytes
    self.spill = spill
  }

  /// If the transaction is large, writes subtrees that are not likely to change again. Returns the refs of the subtrees, new or
  /// old.
  package func spillIfLarge(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    defer { liveBytesLast = arena.liveBytes }
    return isLarge ? try spill(roots) : roots
  }

  /// Whether the nodes of the transaction take more than `spillBytes`, so that complete subtrees should be written.
  package var isLarge: Bool { arena.liveBytes > spillBytes }

  /// Whether the nodes have grown by more than `spillBytes` since the last `spillIfLarge`, so that it should be called again
  /// even if only few subtrees are complete.
  package var hasGrownLarge: Bool { arena.liveBytes - liveBytesLast > spillBytes }

  /// Notes that nodes of the transaction are in the file up to `end`.
  package func extend(to end: UInt64) { self.end = max(self.end, end) }

  /// The access to nodes. Its views must end before the node that they show is freed. Functions that small commits, merges and
  /// removals call for each node take the access as an argument, because the compiler would put a variable on the heap if a view
  /// is read from it into another variable.
  @_lifetime(immortal)
  package func access() -> NodeAccess { store.access(below: end, arena: arena) }

  package func free(_ ref: Ref) {
    if arena.owns(ref) { arena.free(ref) } else { freed.append(ref) }
  }

  /// Changes some refs or bytes of a node. A node of the transaction is changed in place. Any other node is copied, the copy is
  /// changed, and `ref` is freed. Returns the ref of the changed node.
  func change(_ ref: Ref, _ node: NodeView, _ body: (borrowing NodeWriter) -> Void) -> Ref {
    if arena.mayEdit(ref) {
      arena.edit(ref) { body($0) }
      return ref
    }
    let arena = arena
    let copy = arena.make(like: node)
    body(copy)
    free(ref)
    return copy.ref
  }

  /// Keeps the transaction's nodes as they are for a holder that reads them.
  func hold(_ holder: any NodeHolder) { holds.add(holder, mark: arena.hold()) }

  /// Lets go of the nodes of holders that no longer exist.
  func releaseGone() { arena.setHeld(to: holds.removeGone()) }

  /// Ends all holds, because the transaction is about to end and nobody reads its nodes any more.
  func endHolds() {
    guard !holds.isEmpty else { return }
    holds.end()
    arena.setHeld(to: 0)
  }

  /// The number of bytes of a node before its refs.
  package static var headerLength: Int { NodeView.Layout.size }

  /// Throws `.limitExceeded(.memory)` if the arena has no room for `bytes` more.
  package func checkRoom(for bytes: Int) throws(StorageError) {
    guard arena.hasRoom(for: bytes) else { throw .limitExceeded(.memory, path: store.storage.path) }
  }

  /// Copies a node and all nodes below it that are younger than `version`. Older nodes are shared.
  package func copy(_ ref: Ref, bornAfter version: UInt64) throws(StorageError) -> Ref {
    guard !ref.isNull, !ref.isDirty, ref.birth > version else { return ref }
    let children = try access().children(of: ref)
    var copies: [Ref] = []
    for child in children { copies.append(try copy(child, bornAfter: version)) }
    // A node without children was not read yet, and its copy belongs to the transaction, so it must be verified now.
    if ref.level == 0 { try touch(ref) }
    let copy = try copy(ref, children: copies)
    free(ref)
    return copy
  }

  /// Copies a node that does not belong to the transaction, with other refs in place of its own. The original stays. A node of
  /// the file is verified in its copy, which gets a new checksum.
  package func copy(_ ref: Ref, children: [Ref]) throws(StorageError) -> Ref {
    if ref.isDirty {
      let arena = arena
      let access = access()
      let copy = arena.make(like: try access.node(ref))
      for (index, child) in children.enumerated() { copy.setRef(index, to: child) }
      return copy.ref
    }
    guard store.cipher == nil else { return try copySealed(ref, children: children) }
    let arena = arena
    let access = access()
    let node = try access.node(ref)
    guard node.refCount == children.count else { throw store.corrupted(.header, ref) }
    // The system may have dropped the page from memory since the node was read first.
    try store.makeReadable(ref)
    guard let copy = arena.makeVerified(node, ref) else { throw store.corrupted(.checksum, ref) }
    for (index, child) in children.enumerated() { arena.setRef(index, of: copy, to: child) }
    return copy
  }

  /// Copies a node of an encrypted file. It decrypts the node again, and does not use the decrypted nodes that are kept.
  private func copySealed(_ ref: Ref, children: [Ref]) throws(StorageError) -> Ref {
    guard let kind = ref.kind else { throw store.corrupted(.structure, ref) }
    let content = try store.copyOut(ref)
    let bodyOffset = NodeView.Layout.size + children.count * store.refWidth.bytes
    guard bodyOffset <= content.count else { throw store.corrupted(.header, ref) }
    let arena = arena
    let writer = arena.make(
      kind: kind, level: ref.level, refCount: children.count, bodyLength: content.count - bodyOffset)
    for (index, child) in children.enumerated() { writer.setRef(index, to: child) }
    writer.copy(content.span.bytes.extracting(droppingFirst: bodyOffset), at: 0)
    return writer.ref
  }

  /// Verifies a node of the file if it was not read before.
  package func touch(_ ref: Ref) throws(StorageError) {
    let access = access()
    _ = try access.node(ref).length
  }

  /// Frees a node and all nodes below it.
  package func freeTree(_ ref: Ref) throws(StorageError) {
    guard !ref.isNull else { return }
    if ref.level > 0 {
      for child in try access().children(of: ref) { try freeTree(child) }
    }
    free(ref)
  }
}

extension NodeAccess {
  /// The refs a node holds.
  package func children(of ref: Ref) throws(StorageError) -> [Ref] {
    guard ref.level > 0 else { return [] }
    let view = try node(ref)
    var refs: [Ref] = []
    refs.reserveCapacity(view.refCount)
    for index in 0..<view.refCount { refs.append(view.ref(index)) }
    return refs
  }
}
