/// The layout of a cluster's node that is to be made. The descriptors of all columns are known before any column is
/// packed, so each column is packed directly into the node.
struct ClusterLayout {
  /// The descriptors, in the order of the columns' ids. Their offsets count from the end of the last descriptor.
  private(set) var descriptors: [ClusterNode.Descriptor] = []
  /// The pieces and trees of all columns, in the order of the columns.
  private var pieces: [(firstRow: Int, ref: Ref)] = []
  private var length = 0

  /// Begins a node of rows with these keys. It reuses the memory of the node before.
  mutating func begin(_ keys: [UInt64]) {
    precondition(!keys.isEmpty && keys.count <= ClusterNode.maximumRows, "a cluster holds 1 to 512 rows")
    descriptors.removeAll(keepingCapacity: true)
    pieces.removeAll(keepingCapacity: true)
    length = 0
    guard keys[keys.count - 1] - keys[0] != UInt64(keys.count - 1) else { return }
    add(FixedBuffer.describe(keys.map { Int64(bitPattern: $0) }, [], as: ClusterNode.keyColumn))
  }

  /// The place of the first column's descriptor, which follows that of the keys if there is one.
  var firstColumn: Int { descriptors.first?.column == ClusterNode.keyColumn ? 1 : 0 }

  /// Adds a column, or a further descriptor of the column that was added last.
  mutating func add(_ descriptor: ClusterNode.Descriptor) {
    var descriptor = descriptor
    descriptor.offset = length
    length += descriptor.length
    descriptors.append(descriptor)
  }

  /// Adds a column of varying size. `body` appends its pieces to the list that it gets.
  mutating func addPieces(of column: UInt16, _ body: (inout [(firstRow: Int, ref: Ref)]) -> Void) {
    addRefs(of: column, .pieces, body)
  }

  /// Adds the trees of the column that was added last, if there are any.
  mutating func addTrees(of column: UInt16, _ trees: [CollectionTree]) {
    guard !trees.isEmpty else { return }
    addRefs(of: column, .trees) { refs in
      for tree in trees { refs.append((tree.row, tree.ref)) }
    }
  }

  private mutating func addRefs(
    of column: UInt16, _ encoding: ClusterNode.Encoding, _ body: (inout [(firstRow: Int, ref: Ref)]) -> Void
  ) {
    let first = pieces.count
    body(&pieces)
    add(
      ClusterNode.Descriptor(
        column: column, encoding: encoding, width: 0, nullCount: 0, least: Int64(first),
        greatest: Int64(pieces.count - first), offset: 0, length: 2 * (pieces.count - first)))
  }

  /// Makes the node, with its keys, pieces and trees. The caller packs the data of all other columns.
  @_lifetime(borrow arena)
  func make(_ keys: [UInt64], in arena: NodeArena) -> NodeWriter {
    typealias Layout = ClusterNode.Layout
    let head = self.head
    var level: UInt8 = 0
    for piece in pieces { level = max(level, piece.ref.level + 1) }
    let node = arena.make(kind: .cluster, level: level, refCount: pieces.count, bodyLength: head + length)
    node.store(UInt16(keys.count), at: Layout.rows)
    node.store(UInt16(descriptors.count), at: Layout.columnCount)
    node.store(UInt32(0), at: 4)
    node.store(keys[0], at: Layout.firstKey)
    var at = Layout.descriptors
    for descriptor in descriptors {
      node.store(descriptor.column, at: at)
      node.store(descriptor.encoding.rawValue, at: at + 2)
      node.store(descriptor.width, at: at + 3)
      node.store(descriptor.nullCount, at: at + 4)
      node.store(UInt16(0), at: at + 6)
      node.store(descriptor.least, at: at + 8)
      node.store(descriptor.greatest, at: at + 16)
      node.store(UInt32(head + descriptor.offset), at: at + 24)
      node.store(UInt32(descriptor.length), at: at + 28)
      at += Layout.descriptorSize
      guard descriptor.encoding.hasRefs else { continue }
      for place in 0..<Int(descriptor.greatest) {
        let index = Int(descriptor.least) + place
        node.store(UInt16(pieces[index].firstRow), at: head + descriptor.offset + 2 * place)
        node.setRef(index, to: pieces[index].ref)
      }
    }
    if firstColumn > 0 {
      PackedIntegers.pack(
        keys.map { Int64(bitPattern: $0) }, base: descriptors[0].least, width: Int(descriptors[0].width),
        into: node.bytes(at: offset(0), count: descriptors[0].length))
    }
    return node
  }

  /// The offset in the node's body of the data of the descriptor at `place`.
  func offset(_ place: Int) -> Int { head + descriptors[place].offset }

  private var head: Int {
    ClusterNode.Layout.descriptors + descriptors.count * ClusterNode.Layout.descriptorSize
  }
}
