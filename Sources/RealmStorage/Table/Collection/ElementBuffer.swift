/// Elements of a list in memory, for changes: those of one leaf of its tree, or all elements of a list that is not a
/// tree.
struct ElementBuffer {
  /// The column that stores the elements, one in each row: see `Column.element`.
  private let column: Column
  private let isVarying: Bool
  private var fixed: FixedBuffer
  private var varying = PieceBuffer()

  /// - Parameter element: the column that stores the elements.
  init(_ element: Column) {
    column = element
    isVarying = element.storage.hasPieces
    fixed = FixedBuffer(absent: element, rows: 0)
  }

  /// Reads the elements of a leaf.
  init(leaf ref: Ref, _ element: Column, _ editor: NodeEditor) throws(StorageError) {
    self.init(element)
    let access = editor.access()
    if element.storage == .integers, let numbers = try Self.integers(leaf: ref, element, access) {
      fixed = numbers
      return
    }
    let cluster = try Cluster(ref, access)
    guard isVarying else {
      fixed = try cluster.unpack(column, editor)
      return
    }
    for piece in cluster.pieces(column) ?? [] { try varying.append(piece: piece.ref, access) }
    guard varying.rows == cluster.rows else { throw access.corrupted(.rows, ref) }
  }

  /// Reads a leaf of whole numbers or links directly from its node, without a `Cluster` that copies the whole leaf; nil
  /// if some elements are null.
  private static func integers(
    leaf ref: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> FixedBuffer? {
    let node = ClusterNode(try access.node(ref, .cluster))
    guard let part = node.integers(of: element.id), part.nullCount == 0 else { return nil }
    // A buffer of codes is a buffer of whole numbers, so it also fits here.
    var numbers = FixedBuffer(codesOf: node.rows)
    for number in node.integers(part) { numbers.append(number) }
    return numbers
  }

  var count: Int { isVarying ? varying.rows : fixed.rows }

  func value(_ index: Int, _ access: borrowing NodeAccess) throws(StorageError) -> Value {
    guard isVarying else { return fixed.value(index, of: column) }
    guard let bytes = try varying.content(index, access) else { return .null }
    guard let value = column.value(varying: bytes) else { throw access.corrupted(.structure, .null) }
    return value
  }

  /// All elements, in order.
  func values(_ access: borrowing NodeAccess) throws(StorageError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in 0..<count { values.append(try value(index, access)) }
    return values
  }

  // MARK: - Changing

  mutating func append(_ value: Value, _ editor: NodeEditor) throws(StorageError) {
    if isVarying { try varying.append(value, of: column, editor: editor) } else { fixed.append(value) }
  }

  mutating func append(contentsOf other: ElementBuffer) {
    if isVarying { varying.append(contentsOf: other.varying) } else { fixed.append(contentsOf: other.fixed) }
  }

  mutating func insert(_ value: Value, at index: Int, _ editor: NodeEditor) throws(StorageError) {
    if index == count { return try append(value, editor) }
    if isVarying {
      try varying.insert(value, at: index, of: column, editor: editor)
    } else {
      fixed.insert(value, at: index)
    }
  }

  mutating func set(_ value: Value, at index: Int, _ editor: NodeEditor) throws(StorageError) {
    guard isVarying else { return fixed.set(value, at: index) }
    if let long = try varying.replace(index, with: value, of: column, editor: editor) {
      try editor.freeTree(long)
    }
  }

  mutating func remove(_ range: Range<Int>, _ editor: NodeEditor) throws(StorageError) {
    guard isVarying else { return fixed.remove(range) }
    for long in varying.remove(range) { try editor.freeTree(long) }
  }

  /// Removes all elements except those at `places`, which are in ascending order.
  mutating func keep(_ places: [UInt16], _ editor: NodeEditor) throws(StorageError) {
    guard isVarying else { return fixed.keep(places) }
    for long in varying.keep(places.map { Int($0) }) { try editor.freeTree(long) }
  }

  // MARK: - Leaves

  /// The greatest number of elements of a leaf. A commit that changes one element writes its whole leaf.
  static let leafElements = ClusterNode.maximumRows
  /// The greatest number of bytes of a leaf's elements of varying size, unless the leaf has only one element.
  static let leafBytes = 4096

  /// Whether the buffer holds so much that leaves should be made of it when elements are added one by one.
  var isLarge: Bool { count >= 2 * Self.leafElements || varying.heapBytes >= 4 * Self.leafBytes }

  /// Whether all elements fit into one leaf.
  var fitsOneLeaf: Bool { count <= Self.leafElements && varying.heapBytes <= Self.leafBytes }

  /// Makes as many leaves as the elements need.
  ///
  /// - Parameter areLast: whether the elements are the last ones of the list. Then the leaves are filled, because the
  ///   list is likely to grow at its end. Otherwise the elements are spread evenly.
  func makeLeaves(areLast: Bool, _ editor: NodeEditor) throws(StorageError) -> [PositionChild] {
    if count == 0 { return [] }
    if fitsOneLeaf { return [try makeLeaf(editor)] }
    var made: [PositionChild] = []
    for range in parts(areLast: areLast) {
      var part = self
      if isVarying {
        part.varying.keep(range)
      } else {
        part.fixed.remove(range.upperBound..<count)
        part.fixed.remove(0..<range.lowerBound)
      }
      made.append(try part.makeLeaf(editor))
    }
    return made
  }

  /// The ranges of elements that the leaves get.
  private func parts(areLast: Bool) -> [Range<Int>] {
    var (elements, bytes) = (Self.leafElements, Self.leafBytes)
    if !areLast {
      let leaves = max((count + elements - 1) / elements, (varying.heapBytes + bytes - 1) / bytes)
      elements = (count + leaves - 1) / leaves
      bytes = (varying.heapBytes + leaves - 1) / leaves
    }
    var parts: [Range<Int>] = []
    var start = 0
    while start < count {
      var (end, size) = (start, 0)
      while end < count, end - start < elements {
        let next = isVarying ? varying.bytes(end).byteCount : 0
        if end > start, size + next > max(bytes, 1) { break }
        size += next
        end += 1
      }
      parts.append(start..<end)
      start = end
    }
    return parts
  }

  private func makeLeaf(_ editor: NodeEditor) throws(StorageError) -> PositionChild {
    var cluster = Cluster(keys: Array(0..<UInt64(count)), columns: 1)
    if isVarying {
      cluster.setPieces(varying.makePieces(from: 0, editor: editor), of: column)
    } else {
      cluster.pack(fixed, as: column)
    }
    return PositionChild(count: UInt64(count), ref: cluster.write(editor))
  }

  /// Frees the nodes of a leaf whose elements were read. Long values are not freed, because they belong to the
  /// elements.
  static func free(leaf ref: Ref, _ editor: NodeEditor) throws(StorageError) {
    if ref.level > 0 { for piece in try editor.access().children(of: ref) { editor.free(piece) } }
    editor.free(ref)
  }
}

extension Column {
  /// The column in which the leaves of a tree store the elements of a list, one in each row.
  var element: Column {
    var element = Column("", type, isOptional: isOptional, target: target)
    element.id = 1
    return element
  }
}
