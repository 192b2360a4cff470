@testable import RealmStorage

/// A file in memory to which nodes are written one by one, as a commit writes them, and from which they are read.
final class NodeFile {
  let storage: any Storage
  let store: NodeStore
  /// The page of the next node that is written without a given page.
  private(set) var nextPage = 2
  private let cipher: NodeCipher?
  private let arena: NodeArena
  private let run: RunBuffer

  init(storage: any Storage, cipher: NodeCipher?, decryptedLimit: Int = 1 << 24) throws {
    let store = try NodeStore(
      storage: storage, cipher: cipher, validators: .all, decryptedLimit: decryptedLimit)
    self.storage = storage
    self.store = store
    self.cipher = cipher
    arena = NodeArena(refWidth: store.refWidth, capacity: 1 << 24)
    run = RunBuffer(store: store, adopts: false)
  }

  convenience init(key: [UInt8]?, decryptedLimit: Int = 1 << 24) throws {
    let storage = try MemoryStorage()
    let cipher = try Self.cipher(key, fileID: 2)
    try self.init(storage: storage, cipher: cipher, decryptedLimit: decryptedLimit)
  }

  static func cipher(_ key: [UInt8]?, fileID: UInt8) throws -> NodeCipher? {
    guard let key else { return nil }
    return try NodeCipher(
      key: key, salt: [UInt8](repeating: 1, count: 16), fileID: [UInt8](repeating: fileID, count: 16))
  }

  /// The same file, opened anew, so that no node is verified yet.
  func reopened() throws -> NodeFile { try NodeFile(storage: storage, cipher: cipher) }

  // MARK: - Writing

  /// Writes a node. `forge` may change its bytes before the checksum for the ref is computed.
  func write(
    _ kind: NodeKind, body: [UInt8], children: [Ref] = [], birth: UInt64, page: Int? = nil,
    forging forge: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) throws -> Ref {
    let arena = arena
    try arena.reset(birth: birth)
    let level = children.map { $0.level + 1 }.max() ?? 0
    let node = arena.make(kind: kind, level: level, refCount: children.count, bodyLength: body.count)
    for (index, child) in children.enumerated() { node.setRef(index, to: child) }
    node.copy(body, at: 0)
    let dirty = node.ref
    forge(UnsafeMutableRawBufferPointer(start: arena.start + Int(dirty.offset), count: dirty.length))

    let page = page ?? nextPage
    let pages = (store.extent(ofLength: dirty.length) + FilePlace.page - 1) / FilePlace.page
    nextPage = max(nextPage, page + pages)
    let run = run
    run.begin([page..<page + pages])
    let ref = run.place(dirty, of: arena, at: UInt64(page * FilePlace.unitsPerPage), birth: birth)
    let storage = storage
    try run.finish { (bytes, offset) throws(StorageError) in try storage.write(bytes, at: offset) }
    return ref
  }

  func writeChunk(_ content: [UInt8], birth: UInt64, page: Int? = nil) throws -> Ref {
    try write(.chunk, body: Self.chunkBody(content), birth: birth, page: page)
  }

  static func chunkBody(_ content: [UInt8]) -> [UInt8] {
    var body = [UInt8](repeating: 0, count: 8)
    body.store(UInt32(content.count), at: 0)
    return body + content
  }

  /// The body of a chunk branch over chunks of `length` bytes.
  static func branchBody(_ children: [Ref], chunkLength length: Int) -> [UInt8] {
    var body = [UInt8](repeating: 0, count: 8 * children.count)
    for index in children.indices { body.store(UInt64(length), at: 8 * index) }
    return body
  }

  // MARK: - Reading

  /// The bytes of a node as they stand in the file.
  func raw(_ ref: Ref) throws -> [UInt8] {
    try storage.read(store.extent(ofLength: ref.length), at: ref.offset)
  }

  func overwrite(_ bytes: [UInt8], at offset: UInt64) throws { try storage.write(bytes, at: offset) }

  /// The bytes of a chunk, or of all chunks below a chunk branch.
  func content(of ref: Ref) throws -> [UInt8] {
    let end = try storage.length()
    let access = store.access(below: end)
    return try LongValue.read(ref, access)
  }

  func children(of ref: Ref) throws -> [Ref] {
    let end = try storage.length()
    let access = store.access(below: end)
    return try access.children(of: ref)
  }

  /// The fault of the node that `ref` names, or nil for a whole node.
  func finding(_ ref: Ref, below limit: UInt64 = .max) throws -> Corruption.Finding? {
    let end = min(limit, try storage.length())
    let access = store.access(below: end)
    do throws(StorageError) {
      _ = try access.node(ref).length
      return nil
    } catch {
      guard case .corrupted(let corruption, path: _) = error else { throw error }
      return corruption.finding
    }
  }
}
