/// A collection that is a tree: the row of a cluster that has it, and the root of the tree.
struct CollectionTree: Equatable {
  /// The position of the row in its cluster.
  var row: Int
  /// The root of the tree of the collection.
  var ref: Ref
}

/// A cluster in memory, for changes. A column stays packed until its values are changed.
struct Cluster {
  var keys: [UInt64]
  /// The columns, in the order of their ids.
  private var columns: [(id: UInt16, column: PackedColumn)] = []
  /// The collections that are trees, by column, and for each column in the order of their rows. Most clusters have
  /// none.
  private var trees: [(id: UInt16, trees: [CollectionTree])] = []

  /// A column in the form in which a cluster's node stores it.
  enum PackedColumn {
    case fixed([FixedPart])
    case pieces([(firstRow: Int, ref: Ref)])
  }

  /// One descriptor and its data.
  struct FixedPart {
    var encoding: ClusterNode.Encoding
    var width: UInt8
    var nullCount: UInt16
    var least: Int64
    var greatest: Int64
    var data: [UInt8]

    init(_ descriptor: ClusterNode.Descriptor, data: [UInt8]) {
      encoding = descriptor.encoding
      width = descriptor.width
      nullCount = descriptor.nullCount
      least = descriptor.least
      greatest = descriptor.greatest
      self.data = data
    }

    func descriptor(of column: UInt16) -> ClusterNode.Descriptor {
      ClusterNode.Descriptor(
        column: column, encoding: encoding, width: width, nullCount: nullCount, least: least,
        greatest: greatest,
        offset: 0, length: data.count)
    }

    /// The part with the values of some rows only.
    ///
    /// - Parameters:
    ///   - places: the positions of these rows, in ascending order.
    ///   - rows: the number of rows in `bytes`.
    ///   - bytes: the stored values of all rows, without the bits that mark nulls.
    /// - Precondition: the part has no nulls.
    fileprivate func kept(_ places: [UInt16], of rows: Int, in bytes: RawSpan) -> FixedPart {
      var part = self
      if encoding == .fixed {
        part.data = Gather.fixed(places, of: bytes, count: rows, size: Int(width))
      } else {
        let packed = Gather.packed(places, of: bytes, count: rows, width: Int(width), base: least)
        (part.data, part.width) = (packed.bytes, UInt8(packed.width))
        (part.least, part.greatest) = (packed.least, packed.greatest)
      }
      return part
    }
  }

  /// The node that the cluster was read from; null for a new cluster. Errors name it.
  private var source = Ref.null

  var rows: Int { keys.count }

  init() { keys = [] }

  /// Makes a cluster without columns, with room for `count` of them.
  init(keys: [UInt64], columns count: Int) {
    self.keys = keys
    columns.reserveCapacity(count)
  }

  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    let node = ClusterNode(try access.node(ref, .cluster))
    source = ref
    keys = node.keys()
    for index in 0..<node.columnCount {
      let descriptor = node.descriptor(index)
      guard descriptor.column != ClusterNode.keyColumn else { continue }
      if descriptor.encoding == .trees {
        trees.append((descriptor.column, node.trees(descriptor)))
      } else if descriptor.encoding == .pieces {
        set(.pieces(node.pieces(descriptor)), of: descriptor.column)
      } else {
        let part = FixedPart(
          descriptor, data: node.view.bytes(at: descriptor.offset, count: descriptor.length).array)
        if case .fixed(let parts) = column(descriptor.column) {
          set(.fixed(parts + [part]), of: descriptor.column)
        } else {
          set(.fixed([part]), of: descriptor.column)
        }
      }
    }
  }

  /// Makes a cluster of some rows of another one, with the columns of a schema. Values of a fixed size and codes are
  /// gathered directly from the node, without a copy of the whole column. A column with pieces keeps all of its pieces,
  /// so the caller has to remove the values of the other rows from them. The trees of the other rows are freed.
  ///
  /// - Parameters:
  ///   - places: the positions of the rows in the node, in ascending order.
  ///   - keys: the keys of all rows of the node.
  /// - Throws: `.corrupted` if the stored columns are not of the schema's types, or if a code is too great for a
  ///   dictionary.
  init(
    _ places: [UInt16], keys: [UInt64], of node: borrowing ClusterNode, at ref: Ref, _ schema: TableSchema,
    _ editor: NodeEditor
  ) throws(StorageError) {
    self.init(keys: places.map { keys[Int($0)] }, columns: schema.columns.count)
    source = ref
    for column in schema.columns {
      let descriptors = node.places(of: column.id)
      guard let first = descriptors.first.map({ node.descriptor($0) }) else { continue }
      guard first.encoding == .pieces else {
        set(try gathered(places, of: node, descriptors, column, editor), of: column.id)
        continue
      }
      guard column.storage.hasPieces else { throw editor.store.corrupted(.structure, ref) }
      set(.pieces(node.pieces(first)), of: column.id)
      if let all = node.trees(of: column.id) { try keep(places, of: node.trees(all), column, editor) }
    }
  }

  /// Takes over the trees of the rows at `places`, and frees those of the other rows.
  private mutating func keep(
    _ places: [UInt16], of all: [CollectionTree], _ column: Column, _ editor: NodeEditor
  ) throws(StorageError) {
    var (kept, next): ([CollectionTree], Int) = ([], 0)
    for tree in all {
      while next < places.count, Int(places[next]) < tree.row { next += 1 }
      if next < places.count, Int(places[next]) == tree.row {
        kept.append(CollectionTree(row: next, ref: tree.ref))
      } else {
        try editor.freeTree(tree.ref)
      }
    }
    setTrees(kept, of: column)
  }

  /// The values or codes of a column without pieces, for the rows at some places of a node.
  private func gathered(
    _ places: [UInt16], of node: borrowing ClusterNode, _ descriptors: Range<Int>, _ column: Column,
    _ editor: NodeEditor
  ) throws(StorageError) -> PackedColumn {
    var parts: [FixedPart] = []
    for place in descriptors { parts.append(FixedPart(node.descriptor(place), data: [])) }
    let isCode = try isCode(parts, of: column, editor)
    guard parts.allSatisfy({ $0.nullCount == 0 }) else {
      for (index, place) in descriptors.enumerated() {
        let descriptor = node.descriptor(place)
        parts[index].data = node.view.bytes(at: descriptor.offset, count: descriptor.length).array
      }
      return try unpacked(parts, keeping: places, of: node.rows, column, isCode: isCode, editor)
    }
    for (index, place) in descriptors.enumerated() {
      parts[index] = parts[index].kept(places, of: node.rows, in: node.data(node.descriptor(place)))
    }
    return try checked(parts, isCode: isCode, editor)
  }

  /// The index in `columns` of the column with an id, or the index at which it would be inserted.
  private func place(of id: UInt16) -> Int {
    // Columns are read, and most often added, in the order of their ids.
    if columns.last.map({ $0.id < id }) ?? true { return columns.count }
    var (low, high) = (0, columns.count)
    while low < high {
      let middle = (low + high) / 2
      if columns[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func column(_ id: UInt16) -> PackedColumn? {
    let place = place(of: id)
    return place < columns.count && columns[place].id == id ? columns[place].column : nil
  }

  /// Removes a column. The caller has to free its pieces and trees.
  mutating func remove(_ column: Column) { _ = remove(column.id) }

  /// Removes the column with an id. Returns its pieces and trees, which the caller has to free.
  mutating func remove(_ id: UInt16) -> [Ref] {
    var refs = trees.first { $0.id == id }?.trees.map(\.ref) ?? []
    if case .pieces(let pieces) = column(id) { refs += pieces.map(\.ref) }
    columns.removeAll { $0.id == id }
    trees.removeAll { $0.id == id }
    return refs
  }

  mutating func set(_ column: PackedColumn, of id: UInt16) {
    let place = place(of: id)
    if place < columns.count, columns[place].id == id {
      columns[place].column = column
    } else {
      columns.insert((id, column), at: place)
    }
  }

  // MARK: - Fixed-size columns

  /// The values of a fixed-size column, unpacked.
  ///
  /// - Throws: `.corrupted` if they are not of the column's type.
  func unpack(_ column: Column, _ editor: NodeEditor) throws(StorageError) -> FixedBuffer {
    guard let stored = self.column(column.id) else { return FixedBuffer(absent: column, rows: rows) }
    guard case .fixed(let parts) = stored, FixedBuffer.isForm(parts, of: column) else {
      throw editor.store.corrupted(.structure, source)
    }
    return FixedBuffer(column, parts: parts, rows: rows)
  }

  mutating func pack(_ buffer: FixedBuffer, as column: Column) {
    set(.fixed(buffer.packed()), of: column.id)
  }

  /// Whether the cluster has the column. If not, the column was added after the cluster was written, and the rows have
  /// the column's absent value.
  func has(_ column: Column) -> Bool { self.column(column.id) != nil }

  // MARK: - Columns of varying size

  func pieces(_ column: Column) -> [(firstRow: Int, ref: Ref)]? {
    if case .pieces(let pieces) = self.column(column.id) { pieces } else { nil }
  }

  mutating func setPieces(_ pieces: [(firstRow: Int, ref: Ref)], of column: Column) {
    set(.pieces(pieces), of: column.id)
  }

  // MARK: - Collections that are trees

  /// The collections of a column that are trees, in the order of their rows.
  func trees(_ column: Column) -> [CollectionTree] { trees.first { $0.id == column.id }?.trees ?? [] }

  mutating func setTrees(_ changed: [CollectionTree], of column: Column) {
    trees.removeAll { $0.id == column.id }
    if !changed.isEmpty { trees.append((column.id, changed)) }
  }

  /// Sets the tree of a row's collection; nil means that the collection is not a tree. Returns the tree that the row
  /// had before.
  mutating func setTree(_ ref: Ref?, _ row: Int, of column: Column) -> Ref? {
    var all = trees(column)
    let place = all.firstIndex { $0.row >= row } ?? all.count
    var old: Ref?
    if place < all.count, all[place].row == row { old = all.remove(at: place).ref }
    if let ref { all.insert(CollectionTree(row: row, ref: ref), at: place) }
    if old != nil || ref != nil { setTrees(all, of: column) }
    return old
  }

  /// Updates the trees for the removal of a row: the positions of the rows after it decrease by one. Returns the tree
  /// that the row had.
  mutating func removeTree(_ row: Int, of column: Column) -> Ref? {
    let old = setTree(nil, row, of: column)
    let all = trees(column)
    if !all.isEmpty {
      setTrees(
        all.map { CollectionTree(row: $0.row > row ? $0.row - 1 : $0.row, ref: $0.ref) }, of: column)
    }
    return old
  }

  /// The codes of a column whose values are in its dictionary; nil for any other column.
  ///
  /// - Throws: `.corrupted` if a code is too great for a dictionary.
  func codes(_ column: Column, _ editor: NodeEditor) throws(StorageError) -> FixedBuffer? {
    guard column.storage == .varying, case .fixed(let parts) = self.column(column.id),
      parts[0].encoding == .codes
    else {
      return nil
    }
    let codes = FixedBuffer(codes: parts[0], rows: rows)
    guard codes.areCodes else { throw editor.store.corrupted(.code, source) }
    return codes
  }

  /// The column with the values of some rows only; nil if the column has pieces.
  ///
  /// - Parameter places: the positions of these rows, in ascending order.
  /// - Throws: `.corrupted` if the stored column is not of the type of `column`, or if a code is too great for a
  ///   dictionary.
  func kept(_ places: [UInt16], of column: Column, _ editor: NodeEditor) throws(StorageError) -> PackedColumn?
  {
    guard case .fixed(let parts) = self.column(column.id) else {
      guard column.storage.hasPieces else { throw editor.store.corrupted(.structure, source) }
      return nil
    }
    let isCode = try isCode(parts, of: column, editor)
    guard parts.allSatisfy({ $0.nullCount == 0 }) else {
      return try unpacked(parts, keeping: places, of: rows, column, isCode: isCode, editor)
    }
    let made = parts.map { $0.kept(places, of: rows, in: $0.data.span.bytes) }
    return try checked(made, isCode: isCode, editor)
  }

  /// Whether the parts of a column are codes. If not, they are values of fixed size in the form that the column's type
  /// has.
  private func isCode(_ parts: [FixedPart], of column: Column, _ editor: NodeEditor) throws(StorageError)
    -> Bool
  {
    let isCode = column.storage == .varying && parts[0].encoding == .codes
    guard isCode || FixedBuffer.isForm(parts, of: column) else {
      throw editor.store.corrupted(.structure, source)
    }
    return isCode
  }

  /// The values that are kept of a column with nulls, which has to be unpacked for it.
  private func unpacked(
    _ parts: [FixedPart], keeping places: [UInt16], of rows: Int, _ column: Column, isCode: Bool,
    _ editor: NodeEditor
  ) throws(StorageError) -> PackedColumn {
    var values =
      isCode ? FixedBuffer(codes: parts[0], rows: rows) : FixedBuffer(column, parts: parts, rows: rows)
    guard !isCode || values.areCodes else { throw editor.store.corrupted(.code, source) }
    values.keep(places)
    return .fixed(isCode ? [values.packedCodes()] : values.packed())
  }

  /// The gathered parts as a column, after a check of their bounds and codes.
  private func checked(
    _ made: [FixedPart], isCode: Bool, _ editor: NodeEditor
  ) throws(StorageError) -> PackedColumn {
    if isCode, made[0].greatest >= Int64(ColumnDictionary.maximumCount) {
      throw editor.store.corrupted(.code, source)
    }
    // The bounds can only be in the wrong order if an addition overflowed, which needs forged numbers.
    guard made.allSatisfy({ $0.least <= $0.greatest }) else {
      throw editor.store.corrupted(.structure, source)
    }
    let isWithoutRest = made.count > 1 && made[1].least == 0 && made[1].greatest == 0
    return .fixed(isWithoutRest ? made.dropLast() : made)
  }

  mutating func setCodes(_ codes: FixedBuffer, of column: Column) {
    set(.fixed([codes.packedCodes()]), of: column.id)
  }

  // MARK: - Writing

  /// The approximate size of the node in bytes.
  func nodeBytes(_ refWidth: RefWidth) -> Int {
    let treeBytes = trees.reduce(0) { $0 + $1.trees.count * (refWidth.bytes + 2) }
    return columns.reduce(8 * rows + treeBytes) { sum, named in
      switch named.column {
      case .fixed(let parts): sum + parts.reduce(0) { $0 + $1.data.count + ClusterNode.Layout.descriptorSize }
      case .pieces(let pieces): sum + pieces.count * (refWidth.bytes + 2) + ClusterNode.Layout.descriptorSize
      }
    }
  }

  func write(_ editor: NodeEditor) -> Ref {
    var layout = ClusterLayout()
    layout.begin(keys)
    for (id, column) in columns {
      switch column {
      case .fixed(let parts): for part in parts { layout.add(part.descriptor(of: id)) }
      case .pieces(let pieces):
        layout.addPieces(of: id) { $0 += pieces }
        if !trees.isEmpty { layout.addTrees(of: id, trees.first { $0.id == id }?.trees ?? []) }
      }
    }
    let arena = editor.arena
    let node = layout.make(keys, in: arena)
    var place = layout.firstColumn
    for (_, column) in columns {
      switch column {
      case .fixed(let parts):
        for part in parts {
          node.copy(part.data, at: layout.offset(place))
          place += 1
        }
      case .pieces:
        place += 1
        if place < layout.descriptors.count, layout.descriptors[place].encoding == .trees { place += 1 }
      }
    }
    return node.ref
  }
}
