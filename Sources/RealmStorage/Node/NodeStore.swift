import Synchronization

/// The nodes of one file: verifies them at first touch, unseals them where they are sealed, and lends views of them.
package final class NodeStore: @unchecked Sendable {
  // Sendable: `regions` is behind a lock, all else never changes.
  package let storage: any Storage
  package let refWidth: RefWidth
  let cipher: NodeCipher?
  private let validators: NodeValidators
  private let decryptedLimit: Int
  private let regions: Mutex<Regions>

  /// The addresses nodes are read from. Replaced, never changed, when the file outgrows them.
  final class Regions: Sendable {
    let file: Mapping
    let seenMemory: Mapping
    let seen: SeenNodes
    let decrypted: DecryptedNodes?
    /// Kept, since readers may still use their addresses.
    let outgrown: Regions?

    init(file: Mapping, cipher: NodeCipher?, decryptedLimit: Int, outgrown: Regions?) throws(StorageError) {
      self.file = file
      guard let memory = Mapping.anonymous(SeenNodes.size(forBytes: file.size)) else {
        throw .system(call: .map, errno: 12, path: "memory", offset: nil)
      }
      seenMemory = memory
      seen = SeenNodes(memory)
      if cipher != nil {
        guard let decrypted = DecryptedNodes(size: file.size, limit: decryptedLimit) else {
          throw .system(call: .map, errno: 12, path: "memory", offset: nil)
        }
        self.decrypted = decrypted
      } else {
        decrypted = nil
      }
      self.outgrown = outgrown
    }
  }

  package init(
    storage: any Storage, cipher: NodeCipher?, validators: NodeValidators, decryptedLimit: Int
  ) throws(StorageError) {
    self.storage = storage
    self.cipher = cipher
    self.validators = validators
    self.decryptedLimit = decryptedLimit
    refWidth = cipher == nil ? .plain : .sealed
    regions = Mutex(
      try Regions(file: storage.mapping, cipher: cipher, decryptedLimit: decryptedLimit, outgrown: nil))
  }

  /// Bytes a node takes in the file: its content, and a nonce where it is sealed.
  package func extent(ofLength length: Int) -> Int { length + (cipher == nil ? 0 : NodeCipher.nonceLength) }
  package func units(ofLength length: Int) -> Int { (extent(ofLength: length) + Ref.unit - 1) / Ref.unit }

  /// Begins reading nodes that end below `end`, a byte of the file; with `arena`, dirty nodes too.
  package func access(below end: UInt64, arena: NodeArena? = nil) -> NodeAccess {
    NodeAccess(store: self, regions: regions.withLock { $0 }, end: end, arena: arena)
  }

  /// For a version that can't be believed any more: every read throws.
  package func expiredAccess() -> NodeAccess {
    NodeAccess(store: self, regions: regions.withLock { $0 }, end: 0, arena: nil, isExpired: true)
  }

  /// Follows the storage where the file has outgrown the addresses it was mapped at.
  package func reserve(_ length: UInt64) throws(StorageError) {
    try storage.reserve(length)
    let file = storage.mapping
    let current = regions.withLock { $0 }
    guard file !== current.file else { return }
    let grown = try Regions(file: file, cipher: cipher, decryptedLimit: decryptedLimit, outgrown: current)
    regions.withLock { $0 = grown }
  }

  // MARK: - First touch

  fileprivate func verify(_ ref: Ref, in regions: Regions, below end: UInt64) throws(StorageError) {
    guard end > 0 else { throw .snapshotExpired(path: storage.path) }
    let extent = UInt64(extent(ofLength: ref.length))
    guard ref.isWellFormed, ref.offset >= FilePlace.firstNode,
      ref.offset + extent <= min(end, UInt64(regions.file.size))
    else { throw corrupted(.place, ref) }
    do {
      try storage.populate(Int(extent), at: ref.offset)
    } catch {
      throw corrupted(.unreadable, ref)
    }
    let offset = Int(ref.offset)
    guard let cipher, let decrypted = regions.decrypted else {
      let view = NodeView(regions.file.base + offset, length: ref.length, refWidth: refWidth, borrowing: self)
      guard view.allBytes.checksum == ref.check else { throw corrupted(.checksum, ref) }
      try inspect(view, ref)
      regions.seen.insert(unit: ref.unit, birth: ref.birth)
      return
    }
    let place = offset..<offset + ref.length
    decrypted.willFill(place, seen: regions.seen)
    let out = decrypted.memory.base + offset
    guard cipher.unseal(regions.file.base + offset, length: ref.length, ref: ref, into: out) else {
      throw corrupted(.authentication, ref)
    }
    try inspect(NodeView(out, length: ref.length, refWidth: refWidth, borrowing: self), ref)
    decrypted.didFill(place, unit: ref.unit, birth: ref.birth, seen: regions.seen)
  }

  private func inspect(_ view: NodeView, _ ref: Ref) throws(StorageError) {
    guard view.hasSoundHeader(for: ref) else { throw corrupted(.header, ref) }
    guard view.hasSoundRefs() else { throw corrupted(.order, ref) }
    guard validators.isValid(view, kind: ref.rawKind) else { throw corrupted(.structure, ref) }
  }

  /// A node's content, verified on a copy of its own: for who writes it again under a new checksum.
  package func copyOut(_ ref: Ref) throws(StorageError) -> [UInt8] {
    let stored = try storage.read(extent(ofLength: ref.length), at: ref.offset)
    guard stored.count == extent(ofLength: ref.length) else { throw corrupted(.place, ref) }
    guard let cipher else {
      guard stored.span.bytes.checksum == ref.check else { throw corrupted(.checksum, ref) }
      return stored
    }
    var content = [UInt8](repeating: 0, count: ref.length)
    let isWhole = stored.withUnsafeBytes { sealed in
      content.withUnsafeMutableBytes { out in
        cipher.unseal(sealed.baseAddress!, length: ref.length, ref: ref, into: out.baseAddress!)
      }
    }
    guard isWhole else { throw corrupted(.authentication, ref) }
    return content
  }

  /// Takes a node just written as verified: this process made its bytes.
  package func adopt(_ ref: Ref, from dirty: Ref, of arena: NodeArena) {
    let regions = regions.withLock { $0 }
    let place = Int(ref.offset)..<Int(ref.offset) + ref.length
    guard place.upperBound <= regions.file.size else { return }
    guard let decrypted = regions.decrypted else {
      regions.seen.insert(unit: ref.unit, birth: ref.birth)
      return
    }
    let slot = decrypted.enter()
    defer { slot.leave() }
    decrypted.willFill(place, seen: regions.seen)
    (decrypted.memory.base + place.lowerBound).copyMemory(
      from: arena.memory.base + Int(dirty.offset), byteCount: place.count)
    decrypted.didFill(place, unit: ref.unit, birth: ref.birth, seen: regions.seen)
  }

  package func corrupted(_ finding: Corruption.Finding, _ ref: Ref) -> StorageError {
    .corrupted(
      Corruption(
        finding, offset: ref.isDirty ? nil : ref.offset, length: ref.length, birth: ref.birth,
        nodeKind: ref.kind?.name ?? "node of unknown kind \(ref.rawKind)"),
      path: storage.path)
  }
}

package enum FilePlace {
  /// Pages 0 and 1 are the meta pages.
  package static let firstNode = UInt64(8192)
  package static let page = 4096
  package static let unitsPerPage = 64
}

/// The right to read nodes, for the length of a function.
///
/// Views live no longer than it. Taking one costs a few loads; it keeps what it reads from being forgotten.
package struct NodeAccess: ~Copyable {
  private let store: NodeStore
  private let regions: NodeStore.Regions
  fileprivate let reach: NodeReach
  private let slot: ReaderCounts.Slot?

  fileprivate init(
    store: NodeStore, regions: NodeStore.Regions, end: UInt64, arena: NodeArena?, isExpired: Bool = false
  ) {
    self.store = store
    self.regions = regions
    slot = regions.decrypted?.enter()
    reach = NodeReach(
      store: store, regions: regions,
      content: UnsafeRawPointer(regions.decrypted?.memory.base ?? regions.file.base), seen: regions.seen,
      arenaBase: arena.map { UnsafeRawPointer($0.memory.base) }, end: end,
      mappedUnits: isExpired ? 0 : UInt64(regions.file.size / Ref.unit), refWidth: store.refWidth)
  }

  deinit { slot?.leave() }

  package var end: UInt64 { reach.end }

  /// The same right, for views that read more nodes themselves; it ends with this one.
  package var lent: LentAccess { @_lifetime(borrow self) get { LentAccess(self) } }

  /// The node that `ref` vouches for.
  ///
  /// - Throws: `.corrupted` when the bytes at its place are not that node.
  @inline(__always)
  @_lifetime(borrow self)
  package func node(_ ref: Ref) throws(StorageError) -> NodeView {
    try reach.node(ref, borrowing: self)
  }

  /// The node that `ref` vouches for, which its place in the tree says is of `kind`.
  @inline(__always)
  @_lifetime(borrow self)
  package func node(_ ref: Ref, _ kind: NodeKind) throws(StorageError) -> NodeView {
    guard ref.rawKind == kind.rawValue else { throw store.corrupted(.structure, ref) }
    return try node(ref)
  }

  package func corrupted(_ finding: Corruption.Finding, _ ref: Ref) -> StorageError {
    store.corrupted(finding, ref)
  }
}

/// A `NodeAccess`, lent to a view that lives no longer than it.
package struct LentAccess: ~Escapable {
  private let reach: NodeReach

  @_lifetime(borrow access)
  fileprivate init(_ access: borrowing NodeAccess) { reach = access.reach }

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
    guard ref.rawKind == kind.rawValue else { throw reach.store.corrupted(.structure, ref) }
    return try node(ref)
  }

  package func corrupted(_ finding: Corruption.Finding, _ ref: Ref) -> StorageError {
    reach.store.corrupted(finding, ref)
  }
}

/// Where an access finds nodes. The access holds what the references name.
private struct NodeReach {
  unowned(unsafe) let store: NodeStore
  unowned(unsafe) let regions: NodeStore.Regions
  let content: UnsafeRawPointer
  let seen: SeenNodes
  let arenaBase: UnsafeRawPointer?
  let end: UInt64
  let mappedUnits: UInt64
  let refWidth: RefWidth

  @inline(__always)
  @_lifetime(borrow owner)
  func node<Owner: ~Copyable & ~Escapable>(
    _ ref: Ref, borrowing owner: borrowing Owner
  ) throws(StorageError) -> NodeView {
    if ref.isDirty { return dirtyNode(ref, borrowing: owner) }
    if ref.unit >= mappedUnits || !seen.contains(unit: ref.unit, birth: ref.birth) {
      try store.verify(ref, in: regions, below: end)
    }
    let view = NodeView(content + Int(ref.offset), length: ref.length, refWidth: refWidth, borrowing: owner)
    // A forged ref may start where a good one does: then they differ in identity or length.
    guard view.hasSoundHeader(for: ref) else { throw store.corrupted(.header, ref) }
    return view
  }

  @_lifetime(borrow owner)
  private func dirtyNode<Owner: ~Copyable & ~Escapable>(
    _ ref: Ref, borrowing owner: borrowing Owner
  ) -> NodeView {
    guard let arenaBase else { preconditionFailure("a dirty ref outside of its transaction") }
    return NodeView(arenaBase + Int(ref.offset), length: ref.length, refWidth: refWidth, borrowing: owner)
  }
}
