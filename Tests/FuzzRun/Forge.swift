import RealmStorage
import RealmTestSupport

/// A plain file whose nodes are known, so that it can be changed and then given fitting checksums, up to the meta
/// pages.
///
/// It reads and writes the layout by its own code. `Ref.swift`, `NodeView.swift` and `MetaPage.swift` describe the
/// layout.
struct Forge {
  private(set) var bytes: [UInt8]
  /// The nodes of the newest version as they were before any change, parents before children.
  let nodes: [Node]

  struct Node {
    /// The offset of the ref that names the node.
    let slot: Int
    /// The index of the node that holds this ref; nil for the catalogue, which the meta pages name.
    let parent: Int?
    let ref: Ref
    let refCount: Int

    var start: Int { Int(ref.offset) }
    var end: Int { start + ref.length }
    var body: Range<Int> { start + Header.size + refCount * Forge.refWidth..<end }
  }

  enum Header {
    static let identity = 0
    static let level = 7
    static let length = 8
    static let refCount = 12
    static let reserved = 14
    static let size = 16
  }

  enum Meta {
    static let flags = 48
    static let version = 56
    static let greatest = 64
    static let durable = 72
    static let pageCount = 80
    static let root = 96
    static let checksum = 464
  }

  static let refWidth = 24

  /// - Throws: `Violation` if the layout of the file is not as described, or if its checksums differ from those of this
  ///   code.
  init(_ bytes: [UInt8]) throws {
    for page in 0..<2 {
      let start = page * FilePlace.page
      let sum = LocalChecksum.of(bytes[start..<start + Meta.checksum])
      guard sum == bytes.load(UInt64.self, at: start + Meta.checksum) else {
        throw Violation("meta page \(page) has another checksum than ours")
      }
    }
    var nodes: [Node] = []
    try Self.collect(Meta.root, parent: nil, of: bytes, &nodes)
    self.bytes = bytes
    self.nodes = nodes
  }

  private static func collect(_ slot: Int, parent: Int?, of bytes: [UInt8], _ nodes: inout [Node]) throws {
    let ref = loadRef(at: slot, of: bytes)
    let start = Int(ref.offset)
    let end = start + ref.length
    guard start >= 2 * FilePlace.page, end <= bytes.count, LocalChecksum.of(bytes[start..<end]) == ref.check
    else {
      throw Violation("the node at \(start) is not what its ref says")
    }
    let refCount = Int(bytes.load(UInt16.self, at: start + Header.refCount))
    let index = nodes.count
    nodes.append(Node(slot: slot, parent: parent, ref: ref, refCount: refCount))
    for child in 0..<refCount {
      try collect(start + Header.size + child * refWidth, parent: index, of: bytes, &nodes)
    }
  }

  // MARK: - Refs

  private static func loadRef(at slot: Int, of bytes: [UInt8]) -> Ref {
    Ref(
      place: bytes.load(UInt64.self, at: slot), identity: bytes.load(UInt64.self, at: slot + 8),
      check: bytes.load(UInt64.self, at: slot + 16), check2: 0)
  }

  private static func store(_ ref: Ref, at slot: Int, of bytes: inout [UInt8]) {
    bytes.store(ref.place, at: slot)
    bytes.store(ref.identity, at: slot + 8)
    bytes.store(ref.check, at: slot + 16)
  }

  /// The indexes of a node's children.
  func children(of node: Int) -> [Int] { nodes.indices.filter { nodes[$0].parent == node } }

  // MARK: - Changing

  mutating func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    bytes.store(value, at: offset)
  }

  /// Replaces the ref that names a node with another ref, unchanged, and makes the checksums of the holder fit.
  mutating func redirect(_ node: Int, to ref: Ref) {
    pad()
    Self.store(ref, at: nodes[node].slot, of: &bytes)
    if let parent = nodes[node].parent {
      vouch(for: parent)
    } else {
      vouchForMetaPages()
    }
  }

  /// Replaces a ref like `redirect`, and raises the levels of the nodes above so that they stay above.
  mutating func replace(_ node: Int, with ref: Ref) {
    var level = ref.level
    var next = nodes[node].parent
    while let index = next {
      level = max(bytes[nodes[index].start + Header.level], level == .max ? level : level + 1)
      bytes[nodes[index].start + Header.level] = level
      // This byte is the last one of the identity in the node's ref.
      bytes[nodes[index].slot + 15] = level
      next = nodes[index].parent
    }
    redirect(node, to: ref)
  }

  /// Adds a node at the end of the file. Returns a ref with the node's checksum.
  mutating func append(_ kind: NodeKind, level: UInt8, refs: [Ref] = [], body: [UInt8]) -> Ref {
    // The node is older than all nodes that may name it.
    let identity = Ref.identity(birth: 1, kind: kind, level: level)
    var node = [UInt8](repeating: 0, count: Header.size + refs.count * Self.refWidth)
    node.store(identity, at: Header.identity)
    for (index, ref) in refs.enumerated() {
      Self.store(ref, at: Header.size + index * Self.refWidth, of: &node)
    }
    node += body
    while node.count % 8 != 0 { node.append(0) }
    node.store(UInt32(node.count), at: Header.length)
    node.store(UInt16(refs.count), at: Header.refCount)
    while bytes.count % Ref.unit != 0 { bytes.append(0) }
    let place = UInt64(bytes.count / Ref.unit) | (UInt64(node.count / 8 - 1) << 42)
    bytes += node
    return Ref(place: place, identity: identity, check: LocalChecksum.of(node[...]), check2: 0)
  }

  /// Pads the file to whole pages, and stores the number of pages in both meta pages.
  private mutating func pad() {
    while bytes.count % FilePlace.page != 0 { bytes.append(0) }
    for page in 0..<2 {
      bytes.store(UInt64(bytes.count / FilePlace.page), at: page * FilePlace.page + Meta.pageCount)
    }
  }

  /// Changes a field of meta pages, and makes their checksums fit.
  mutating func changeMeta(_ field: Int, pages: Range<Int> = 0..<2, _ change: (UInt64) -> UInt64) {
    for page in pages {
      let offset = page * FilePlace.page + field
      let value = change(bytes.load(UInt64.self, at: offset))
      bytes.store(value, at: offset)
    }
    sealMetaPages()
  }

  /// Makes the file one that a killed process leaves. Its nodes younger than `durable` are verified when it is opened.
  mutating func makeUnclean(durable: UInt64) {
    changeMeta(Meta.flags) { $0 & ~2 }
    changeMeta(Meta.durable) { _ in durable }
  }

  // MARK: - Vouching

  /// Computes the checksums of a node and of all nodes above it.
  mutating func vouch(for node: Int) {
    var next: Int? = node
    while let index = next {
      vouchForTarget(of: nodes[index].slot)
      next = nodes[index].parent
    }
    vouchForMetaPages()
  }

  /// Computes the checksum of the node that a ref names, if the node lies in the file.
  mutating func vouchForTarget(of slot: Int) {
    let ref = Self.loadRef(at: slot, of: bytes)
    let start = Int(ref.offset)
    guard start + ref.length <= bytes.count else { return }
    let sum = LocalChecksum.of(bytes[start..<start + ref.length])
    bytes.store(sum, at: slot + 16)
  }

  /// Makes both meta pages name the root that the first one names.
  private mutating func vouchForMetaPages() {
    let root = Self.loadRef(at: Meta.root, of: bytes)
    Self.store(root, at: FilePlace.page + Meta.root, of: &bytes)
    sealMetaPages()
  }

  private mutating func sealMetaPages() {
    for page in 0..<2 {
      let start = page * FilePlace.page
      let sum = LocalChecksum.of(bytes[start..<start + Meta.checksum])
      bytes.store(sum, at: start + Meta.checksum)
    }
  }
}
