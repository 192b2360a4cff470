/// A writer's hands on nodes: reads them, makes new ones, and notes which of the file's it replaced.
package final class NodeEditor {
  package let store: NodeStore
  package let arena: NodeArena
  /// Nodes that the version being made no longer reaches: of the file, and of transactions that were sealed.
  @exclusivity(unchecked) package private(set) var freed: [Ref] = []
  /// Where the nodes of the file end.
  private var end: UInt64 = 0
  /// Beyond so much in memory what is complete is written; entries of indexes are made trees of.
  private(set) var spillBytes = Int.max
  private var spill: Spill = { roots in roots }
  /// What the arena held when subtrees were offered to be written last.
  private var liveBytesLast = 0
  private var holds = NodeHolds()

  /// Writes subtrees of the transaction to the file; answers the refs that name them there.
  package typealias Spill = ([Ref]) throws(StorageError) -> [Ref]

  package init(store: NodeStore, arena: NodeArena) {
    self.store = store
    self.arena = arena
  }

  /// Starts the transaction that will be version `birth`, on a file whose nodes end at `end`.
  ///
  /// - Throws: `.system` where no range of addresses is left for its nodes.
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

  /// Ends the transaction, whose nodes stay; answers what it freed.
  package func seal() -> [Ref] {
    arena.seal()
    return freed
  }

  /// From so many bytes of nodes on, subtrees that are complete are written before the transaction commits.
  package func onSpill(above bytes: Int, _ spill: @escaping Spill) {
    spillBytes = bytes
    self.spill = spill
  }

  /// Where the transaction holds much, writes subtrees that are not likely to change again; answers what names them.
  package func spillIfLarge(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    defer { liveBytesLast = arena.liveBytes }
    return isLarge ? try spill(roots) : roots
  }

  /// The transaction holds so much that what is complete is better written.
  package var isLarge: Bool { arena.liveBytes > spillBytes }

  /// So much was made since subtrees were offered last that others had better be, however few they are.
  package var hasGrownLarge: Bool { arena.liveBytes - liveBytesLast > spillBytes }

  /// The transaction's own nodes stand in the file up to `end`.
  package func extend(to end: UInt64) { self.end = max(self.end, end) }

  /// Views taken of it end before a node they show is freed. What small commits, merges and removals call for each node
  /// takes it as an argument: a variable, from which a view is read into another, would be put on the heap.
  @_lifetime(immortal)
  package func access() -> NodeAccess { store.access(below: end, arena: arena) }

  package func free(_ ref: Ref) {
    if arena.owns(ref) { arena.free(ref) } else { freed.append(ref) }
  }

  /// A node with some of its refs or bytes changed: in place where it is the transaction's own, else in a copy, and `ref`
  /// is free.
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

  /// The transaction's nodes stay as they are for somebody who reads them.
  func hold(_ holder: any NodeHolder) { holds.add(holder, mark: arena.hold()) }

  /// A holder has gone.
  func releaseGone() { arena.setHeld(to: holds.removeGone()) }

  /// The transaction is about to end: nobody reads its nodes any more.
  func endHolds() {
    guard !holds.isEmpty else { return }
    holds.end()
    arena.setHeld(to: 0)
  }

  /// Bytes of a node before its refs.
  package static var headerLength: Int { NodeView.Layout.size }

  /// Refuses more once a transaction nears what its arena holds.
  package func checkRoom(for bytes: Int) throws(StorageError) {
    guard arena.hasRoom(for: bytes) else { throw .limitExceeded(.memory, path: store.storage.path) }
  }

  /// Copies a node and all below it that is younger than `version`; the rest is shared.
  package func copy(_ ref: Ref, bornAfter version: UInt64) throws(StorageError) -> Ref {
    guard !ref.isNull, !ref.isDirty, ref.birth > version else { return ref }
    let children = try access().children(of: ref)
    var copies: [Ref] = []
    for child in children { copies.append(try copy(child, bornAfter: version)) }
    // Of a node without children nothing was looked at yet, and what is made of it is the transaction's own.
    if ref.level == 0 { try touch(ref) }
    let copy = try copy(ref, children: copies)
    free(ref)
    return copy
  }

  /// Copies a node that is not the transaction's own, which stays, with other refs in place of its own. What is copied of
  /// the file was verified on a copy of its own: it gets a new checksum.
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
    // Nobody asked for it: it may have left memory since it was looked at first.
    try store.makeReadable(ref)
    guard let copy = arena.makeVerified(node, ref) else { throw store.corrupted(.checksum, ref) }
    for (index, child) in children.enumerated() { arena.setRef(index, of: copy, to: child) }
    return copy
  }

  /// Unsealed once more, past what is kept of nodes that were read.
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

  /// Verifies a node of the file, should this be its first touch.
  package func touch(_ ref: Ref) throws(StorageError) {
    let access = access()
    _ = try access.node(ref).length
  }

  /// Frees a node and all below it.
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
