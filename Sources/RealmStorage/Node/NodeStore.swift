import Synchronization

/// The nodes of one file. The store verifies each node at its first touch, unseals it in an encrypted file, and lends
/// views of it.
package final class NodeStore: @unchecked Sendable {
  // Sendable: `regions` changes under a lock, `current` changes atomically, and nothing else changes.
  package let storage: any Storage
  package let refWidth: RefWidth
  let cipher: NodeCipher?
  private let validators: NodeValidators
  private let decryptedLimit: Int
  /// The root of the tree that was noted last by `NodeAccess.noteKnown`.
  var knownTree: Ref {
    get { lockedKnownTree.withLock { $0 } }
    set { lockedKnownTree.withLock { $0 = newValue } }
  }
  private let lockedKnownTree = Mutex(Ref.null)
  /// The number of nodes that were touched for the first time.
  private let touches = Atomic<Int>(0)
  /// After this number of touches, a program is likely to touch many more nodes.
  private static let manyTouches = 128
  private let regions: Mutex<Regions>
  /// The value of `regions`, for readers, which take no lock and count no reference. The newest regions keep all
  /// earlier ones alive.
  private let current: Atomic<Unmanaged<Regions>>

  /// The addresses that nodes are read from. When the file outgrows them, they are replaced and not changed.
  final class Regions: Sendable {
    let file: Mapping
    let seenMemory: Mapping
    let seen: SeenNodes
    let decrypted: DecryptedNodes?
    /// The address of the content of nodes.
    nonisolated(unsafe) let content: UnsafeRawPointer
    let mappedUnits: UInt64
    let refWidth: RefWidth
    /// The earlier regions. They are kept because readers may still use their addresses.
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
        content = UnsafeRawPointer(decrypted.memory.base)
      } else {
        decrypted = nil
        content = UnsafeRawPointer(file.base)
      }
      mappedUnits = UInt64(file.size / Ref.unit)
      refWidth = cipher == nil ? .plain : .sealed
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
    let regions = try Regions(
      file: storage.mapping, cipher: cipher, decryptedLimit: decryptedLimit, outgrown: nil)
    current = Atomic(Unmanaged.passUnretained(regions))
    self.regions = Mutex(regions)
  }

  /// The number of bytes that a node takes in the file: its content, and a nonce if it is sealed.
  package func extent(ofLength length: Int) -> Int { length + (cipher == nil ? 0 : NodeCipher.nonceLength) }
  package func units(ofLength length: Int) -> Int { (extent(ofLength: length) + Ref.unit - 1) / Ref.unit }

  /// Makes an access to the nodes that end below `end`, an offset in the file. With `arena`, it reads dirty nodes too.
  @_lifetime(immortal)
  package func access(below end: UInt64, arena: NodeArena? = nil) -> NodeAccess {
    NodeAccess(self, current.load(ordering: .acquiring), end: end, arena: arena)
  }

  /// The nodes that may be read below `end`. It is valid for as long as the caller keeps the store.
  @inline(__always)
  func reach(below end: UInt64) -> NodeReach {
    NodeReach(self, current.load(ordering: .acquiring), end: end, arena: nil)
  }

  /// Takes over the storage's new mapping if the file has outgrown the addresses of the old one.
  package func reserve(_ length: UInt64) throws(StorageError) {
    let size = current.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.file.size }
    guard length > UInt64(size) else { return }
    try regions.withLock { (regions) throws(StorageError) in
      try storage.reserve(length)
      let file = storage.mapping
      guard file !== regions.file else { return }
      regions = try Regions(file: file, cipher: cipher, decryptedLimit: decryptedLimit, outgrown: regions)
      current.store(Unmanaged.passUnretained(regions), ordering: .releasing)
    }
  }

  /// The number of bytes of memory that decrypted nodes take.
  package var decryptedBytes: Int { regions.withLock { $0.decrypted?.residentBytes ?? 0 } }

  // MARK: - First touch

  /// Has the system read a node of the file, which may not be in memory. An unreadable node is an error here, while an
  /// access through the mapping would end the process.
  func makeReadable(_ ref: Ref) throws(StorageError) {
    do throws(StorageError) {
      try StorageError.askingAgain { () throws(StorageError) in
        try storage.populate(extent(ofLength: ref.length), at: ref.offset)
      }
    } catch {
      // Other errors say nothing about the bytes.
      throw error.isReadFailure ? corrupted(.unreadable, ref) : error
    }
  }

  func verify(_ ref: Ref, in regions: Regions, below end: UInt64) throws(StorageError) {
    guard end > 0 else { throw .snapshotExpired(path: storage.path) }
    let extent = UInt64(extent(ofLength: ref.length))
    guard ref.isWellFormed, ref.offset >= FilePlace.firstNode,
      ref.offset + extent <= min(end, UInt64(regions.file.size))
    else { throw corrupted(.place, ref) }
    if touches.wrappingAdd(1, ordering: .relaxed).newValue == Self.manyTouches { storage.expectMuchReading() }
    try makeReadable(ref)
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

  /// The content of a node, verified on a copy of its own. For callers that write it again under a new checksum.
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

  /// The refs in a node, verified on a copy. For callers that can't be sure that the node's place is not given out
  /// meanwhile.
  package func copiedChildren(of ref: Ref) throws(StorageError) -> [Ref] {
    guard ref.level > 0 else { return [] }
    guard ref.isWellFormed, ref.offset >= FilePlace.firstNode else { throw corrupted(.place, ref) }
    let content = try copyOut(ref)
    return try content.withUnsafeBytes { bytes -> Result<[Ref], StorageError> in
      let view = NodeView(bytes.baseAddress!, length: ref.length, refWidth: refWidth, borrowing: self)
      do throws(StorageError) { try inspect(view, ref) } catch { return .failure(error) }
      return .success((0..<view.refCount).map { view.ref($0) })
    }.get()
  }

  /// Marks a node that is about to be written as verified, because this process made its bytes. It is not read before
  /// it is written. If the writing fails, no ref names the node at this place: no other version gets its birth, and if
  /// the same version is written again, its nodes are adopted at the places where they are written then.
  func adopt(_ ref: Ref, _ content: UnsafeRawPointer) {
    // The store keeps all regions that it ever had.
    let regions = current.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0 }
    let place = Int(ref.offset)..<Int(ref.offset) + ref.length
    guard place.upperBound <= regions.file.size else { return }
    guard let decrypted = regions.decrypted else {
      regions.seen.insert(unit: ref.unit, birth: ref.birth)
      return
    }
    let slot = decrypted.enter()
    defer { slot.leave() }
    decrypted.willFill(place, seen: regions.seen)
    (decrypted.memory.base + place.lowerBound).copyMemory(from: content, byteCount: place.count)
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
