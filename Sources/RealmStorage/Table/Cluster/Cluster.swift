/// A collection of a cluster's row that stands in a tree.
struct CollectionTree: Equatable {
  /// The row's place in its cluster.
  var row: Int
  /// The root of the tree.
  var ref: Ref
}

/// A cluster being changed: its columns stay packed until one of them is.
struct Cluster {
  var keys: [UInt64]
  /// In the order of their ids.
  private var columns: [(id: UInt16, column: PackedColumn)] = []
  /// The collections that stand in trees, by column, in the order of their rows. Most clusters have none.
  private var trees: [(id: UInt16, trees: [CollectionTree])] = []

  /// A column as it stands in a cluster.
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

    /// The values at some places of those that stand in `bytes`, without nulls.
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

  /// What it was read from.
  private var source = Ref.null

  var rows: Int { keys.count }

  init() { keys = [] }

  /// Without columns yet, of which there will be so many.
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

  /// The rows of a cluster at some places, in order, with the columns of a schema. What has a fixed size is gathered where
  /// it stands, without a copy of all of it; of a column with pieces all pieces are there, for the caller to cut.
  ///
  /// - Parameter keys: of all rows of the cluster.
  /// - Throws: `.corrupted` as `unpack` and `codes`.
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

  /// Takes over the trees of rows at some places, and frees the others.
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

  /// What a column of fixed size, or codes, has at some places of a node.
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

  /// Where the column of an id is, or where it goes.
  private func place(of id: UInt16) -> Int {
    // They are read, and most often made, in their order.
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

  /// Takes a column away. Its pieces and trees are the caller's to free.
  mutating func remove(_ column: Column) { _ = remove(column.id) }

  /// Takes the column of an id away; answers its pieces and trees, which are the caller's to free.
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
  /// - Throws: `.corrupted` where they are not of the column's type.
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

  /// Whether it has the column, which else was added later: then its rows have the column's absent value.
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

  /// Names the tree of a row's collection, or nil for one that is no tree; answers the tree it had before.
  mutating func setTree(_ ref: Ref?, _ row: Int, of column: Column) -> Ref? {
    var all = trees(column)
    let place = all.firstIndex { $0.row >= row } ?? all.count
    var old: Ref?
    if place < all.count, all[place].row == row { old = all.remove(at: place).ref }
    if let ref { all.insert(CollectionTree(row: row, ref: ref), at: place) }
    if old != nil || ref != nil { setTrees(all, of: column) }
    return old
  }

  /// Forgets a row that is taken away: those behind it move up. Answers the tree that the row had.
  mutating func removeTree(_ row: Int, of column: Column) -> Ref? {
    let old = setTree(nil, row, of: column)
    let all = trees(column)
    if !all.isEmpty {
      setTrees(
        all.map { CollectionTree(row: $0.row > row ? $0.row - 1 : $0.row, ref: $0.ref) }, of: column)
    }
    return old
  }

  /// The codes of a column whose values stand in its dictionary; nil for any other.
  ///
  /// - Throws: `.corrupted` where no dictionary has so many.
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

  /// The column with some of its rows only, at places in order, where it has no pieces; nil where it has.
  ///
  /// - Throws: `.corrupted` as `unpack` and `codes`.
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

  /// Whether a column's parts are codes; else they are numbers of its form.
  private func isCode(_ parts: [FixedPart], of column: Column, _ editor: NodeEditor) throws(StorageError)
    -> Bool
  {
    let isCode = column.storage == .varying && parts[0].encoding == .codes
    guard isCode || FixedBuffer.isForm(parts, of: column) else {
      throw editor.store.corrupted(.structure, source)
    }
    return isCode
  }

  /// What is kept of a column with nulls.
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

  /// What was gathered, where it is what it should be.
  private func checked(
    _ made: [FixedPart], isCode: Bool, _ editor: NodeEditor
  ) throws(StorageError) -> PackedColumn {
    if isCode, made[0].greatest >= Int64(ColumnDictionary.maximumCount) {
      throw editor.store.corrupted(.code, source)
    }
    // Only numbers that were forged run over.
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

  /// Bytes of the node, about.
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
