import CRealmPlatform

/// The access to nodes for the length of a function.
///
/// Views live no longer than the access. To take one costs a few loads. As long as it lives, the nodes that it reads stay in the
/// cache of decrypted nodes.
@usableFromInline
package struct NodeAccess: ~Copyable, ~Escapable {
  fileprivate let reach: NodeReach
  /// The store, if this access is what keeps it alive.
  private let keeper: Unmanaged<NodeStore>?
  private let slot: ReaderCounts.Slot?

  /// Makes an access that counts no reference, because `owner` keeps the store alive. If the reach ends at 0, every read throws.
  @inline(__always)
  @_lifetime(borrow owner)
  init<Owner: ~Copyable & ~Escapable>(_ reach: NodeReach, keptBy owner: borrowing Owner) {
    self.reach = reach
    slot = reach.regions.decrypted?.enter()
    keeper = nil
  }

  @_lifetime(immortal)
  init(_ store: NodeStore, _ regions: Unmanaged<NodeStore.Regions>, end: UInt64, arena: NodeArena?) {
    reach = NodeReach(store, regions, end: end, arena: arena)
    slot = regions.lend { $0.decrypted?.enter() }
    keeper = .passRetained(store)
  }

  /// Makes an access within another one, which keeps the nodes that are read.
  @inline(__always)
  @_lifetime(copy outer)
  package init(within outer: LentAccess) {
    reach = outer.reach
    keeper = nil
    slot = nil
  }

  deinit {
    slot?.leave()
    keeper?.release()
  }

  /// The offset in the file at which nodes end.
  package var end: UInt64 { reach.end }

  /// An access for views that read more nodes by themselves. It ends with this one.
  @inline(__always)
  package var lent: LentAccess { @_lifetime(borrow self) get { LentAccess(self) } }

  /// The node that `ref` vouches for.
  ///
  /// - Throws: `.corrupted` when the bytes at its place are not that node.
  @inline(__always)
  @_lifetime(borrow self)
  package func node(_ ref: Ref) throws(StorageError) -> NodeView { try reach.node(ref, borrowing: self) }

  /// The node that `ref` vouches for, which its place in the tree says is of `kind`.
  @inline(__always)
  @_lifetime(borrow self)
  package func node(_ ref: Ref, _ kind: NodeKind) throws(StorageError) -> NodeView {
    guard ref.rawKind == kind.rawValue else { throw corrupted(.structure, ref) }
    return try node(ref)
  }

  /// Asks the processor for bytes of a node that will be read soon, so that all of their cache lines come at once. The function
  /// verifies nothing and reads nothing, so the place may be guessed.
  @inline(__always)
  package func prefetch(_ ref: Ref, at offset: Int = 0, count: Int) {
    reach.prefetch(ref, at: offset, count: count)
  }

  /// Asks the processor for bytes of the body of a node without refs, as `prefetch(_:at:count:)` does.
  @inline(__always)
  package func prefetch(_ ref: Ref, inBody offset: Int, count: Int) {
    prefetch(ref, at: NodeView.Layout.size + offset, count: count)
  }

  package func corrupted(_ finding: Corruption.Finding, _ ref: Ref) -> StorageError {
    reach.store.corrupted(finding, ref)
  }

  /// The path of the database, for errors.
  var storagePath: String { reach.store.storage.path }

  /// The error for a feature of the file that this version of the library does not know.
  package func unknown(_ feature: StorageError.Feature) -> StorageError {
    .unknownFeature(feature, path: storagePath)
  }

  /// Whether `noteKnown` was called for the tree below `root`, and for no other tree since.
  package func isKnown(_ root: Ref) -> Bool { reach.store.knownTree == root }

  /// Notes that the tree below `root` was searched for unknown features, and that it has none that prevent reading the file.
  package func noteKnown(_ root: Ref) {
    // Another node gets the place of a node that is not written yet.
    if !root.isDirty { reach.store.knownTree = root }
  }
}

/// A `NodeAccess`, lent to a view that lives no longer than it.
package struct LentAccess: ~Escapable, BitwiseCopyable {
  fileprivate let reach: NodeReach

  @inline(__always)
  @_lifetime(borrow access)
  fileprivate init(_ access: borrowing NodeAccess) { reach = access.reach }

  /// A node without bytes.
  package var noNode: NodeView {
    @_lifetime(copy self) get { _overrideLifetime(reach.noNode(borrowing: self), copying: self) }
  }

  /// The place of a node's bytes, to prefetch them; nil for a node that can't be prefetched.
  @inline(__always)
  @_lifetime(copy self)
  package func upcoming(_ ref: Ref) -> UpcomingBytes? {
    guard let start = reach.start(of: ref) else { return nil }
    return _overrideLifetime(
      UpcomingBytes(start, length: ref.length, isVerified: false, borrowing: self), copying: self)
  }

  /// The place of the bytes of a parent node, to prefetch them, and its children if the node was verified before. The bytes of a
  /// node that was not verified may be unreadable, so they name no children.
  @inline(__always)
  @_lifetime(copy self)
  package func upcomingParent(_ ref: Ref) -> UpcomingBytes? {
    guard let start = reach.start(of: ref) else { return nil }
    return _overrideLifetime(
      UpcomingBytes(start, length: ref.length, isVerified: reach.isVerified(ref), borrowing: self),
      copying: self)
  }

  /// See `NodeAccess.node(_:)`.
  @inline(__always)
  @_lifetime(copy self)
  package func node(_ ref: Ref) throws(StorageError) -> NodeView {
    _overrideLifetime(try reach.node(ref, borrowing: self), copying: self)
  }

  /// See `NodeAccess.node(_:_:)`.
  @inline(__always)
  @_lifetime(copy self)
  package func node(_ ref: Ref, _ kind: NodeKind) throws(StorageError) -> NodeView {
    guard ref.rawKind == kind.rawValue else { throw corrupted(.structure, ref) }
    return try node(ref)
  }

  package func corrupted(_ finding: Corruption.Finding, _ ref: Ref) -> StorageError {
    reach.store.corrupted(finding, ref)
  }
}

/// The bytes of a node that will be read soon. They can be prefetched, so that all of their cache lines come at once. Their
/// content decides only what else is prefetched.
package struct UpcomingBytes: ~Escapable, BitwiseCopyable {
  private let start: UnsafeRawPointer
  private let length: Int
  private let isVerified: Bool

  @inline(__always)
  @_lifetime(borrow owner)
  fileprivate init<Owner: ~Copyable & ~Escapable>(
    _ start: UnsafeRawPointer, length: Int, isVerified: Bool, borrowing owner: borrowing Owner
  ) {
    self.start = start
    self.length = length
    self.isVerified = isVerified
  }

  /// Prefetches the cache line of a byte. The offset may be guessed.
  @inline(__always)
  package func prefetch(_ offset: Int) { prefetch(offset, count: 1) }

  /// Prefetches the cache lines of `count` bytes. The offset may be guessed.
  @inline(__always)
  package func prefetch(_ offset: Int, count: Int) {
    if offset >= 0, offset < length { cp_prefetch(start + offset, min(count, length &- offset)) }
  }

  /// The ref of a child, as the bytes seem to say; nil if it would lie outside of the node, or if the node was not verified
  /// yet.
  @inline(__always)
  package func child(_ index: Int) -> Ref? {
    let at = NodeView.Layout.size &+ index &* RefWidth.plain.bytes
    guard isVerified, index >= 0, at &+ RefWidth.plain.bytes <= length else { return nil }
    return Ref(
      place: UInt64(littleEndian: start.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
      identity: UInt64(littleEndian: start.loadUnaligned(fromByteOffset: at &+ 8, as: UInt64.self)),
      check: 0, check2: 0)
  }
}

/// The memory in which an access finds nodes.
struct NodeReach: BitwiseCopyable {
  // Kept by the access's keeper, or by the owner that it is not to outlive; a store keeps all regions it ever had.
  unowned(unsafe) let regions: NodeStore.Regions
  unowned(unsafe) let store: NodeStore
  /// Nodes that may be read start before this unit.
  private let endUnit: UInt64
  private let arenaBase: UnsafeRawPointer?

  @inline(__always)
  init(_ store: NodeStore, _ regions: Unmanaged<NodeStore.Regions>, end: UInt64, arena: NodeArena?) {
    self.store = store
    self.regions = regions._withUnsafeGuaranteedRef { $0 }
    let (units, rest) = end.quotientAndRemainder(dividingBy: UInt64(Ref.unit))
    endUnit = min(units + (rest > 0 ? 1 : 0), regions._withUnsafeGuaranteedRef { $0.mappedUnits })
    arenaBase = arena?.base.map { UnsafeRawPointer($0) }
  }

  /// The offset in the file at which nodes end. Versions end at the end of a page.
  var end: UInt64 { endUnit &* UInt64(Ref.unit) }

  @inline(__always)
  @_lifetime(borrow owner)
  func node<Owner: ~Copyable & ~Escapable>(
    _ ref: Ref, borrowing owner: borrowing Owner
  ) throws(StorageError) -> NodeView {
    // A dirty ref's bit makes it greater than any unit.
    let unit = ref.place & (Ref.unitMask | Ref.dirtyBit)
    if _slowPath(unit >= endUnit || !regions.seen.contains(unit: unit, birth: ref.birth)) {
      if ref.isDirty { return dirtyNode(ref, borrowing: owner) }
      try store.verify(ref, in: regions, below: end)
    }
    let base = regions.content + Int(truncatingIfNeeded: unit &* UInt64(Ref.unit))
    // A forged ref may start where a good one does.
    guard _fastPath(NodeView.isNode(of: ref, at: base)) else { throw store.corrupted(.header, ref) }
    // A node of level 0 has no refs, so where its body stands is known before its header is read.
    let refCount = ref.level == 0 ? 0 : NodeView.refCount(at: base)
    return NodeView(
      base, length: ref.length, refCount: refCount, refWidth: regions.refWidth, borrowing: owner)
  }

  @_lifetime(borrow owner)
  func noNode<Owner: ~Copyable & ~Escapable>(borrowing owner: borrowing Owner) -> NodeView {
    NodeView(
      regions.content, length: NodeView.Layout.size, refCount: 0, refWidth: store.refWidth, borrowing: owner)
  }

  @inline(__always)
  func prefetch(_ ref: Ref, at offset: Int, count: Int) {
    guard let base = start(of: ref) else { return }
    let start = max(0, min(offset, ref.length))
    cp_prefetch(base + start, min(max(count, 0), ref.length - start))
  }

  @inline(__always)
  func start(of ref: Ref) -> UnsafeRawPointer? {
    let unit = ref.place & (Ref.unitMask | Ref.dirtyBit)
    guard unit < endUnit else { return nil }
    return regions.content + Int(truncatingIfNeeded: unit &* UInt64(Ref.unit))
  }

  /// Whether a node of a plain file was verified, so that all of it can be read.
  @inline(__always)
  func isVerified(_ ref: Ref) -> Bool {
    let unit = ref.place & (Ref.unitMask | Ref.dirtyBit)
    guard store.refWidth == .plain, unit < endUnit, regions.seen.contains(unit: unit, birth: ref.birth) else {
      return false
    }
    return NodeView.isNode(of: ref, at: regions.content + Int(truncatingIfNeeded: unit &* UInt64(Ref.unit)))
  }

  @_lifetime(borrow owner)
  private func dirtyNode<Owner: ~Copyable & ~Escapable>(
    _ ref: Ref, borrowing owner: borrowing Owner
  ) -> NodeView {
    guard let arenaBase else { preconditionFailure("a dirty ref outside of its transaction") }
    return NodeView(
      arenaBase + Int(ref.offset), length: ref.length, refWidth: store.refWidth, borrowing: owner)
  }
}
