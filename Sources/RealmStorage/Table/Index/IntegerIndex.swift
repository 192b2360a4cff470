/// A leaf of the index of a primary key of whole numbers: the numbers in order, and the row key of each.
///
/// Body (FORMAT.md, "Integer index"):
///
///     offset  size  field
///          0     2  count       at least 1
///          2     1  width       bits of each number's distance from the least; 0: each number is one more than the last
///          3     1  rowWidth    bits of each row key's distance from the least; may be 24, which suffices for most tables
///          4     4  zero
///          8     8  least       number, signed
///         16     8  leastRow
///         24   ...  numbers     packed
///              ...  rows        packed, from a whole byte
struct IntegerIndexNode: ~Escapable, BitwiseCopyable {
  static let numbersOffset = 24
  static let maximumCount = 512
  /// The width of 3 bytes. Only row keys have it. `PackedIntegers` does not support it, because row
  /// keys are never scanned.
  static let threeBytes = 24

  let view: NodeView
  let count: Int
  let width: Int
  let rowWidth: Int
  let least: Int64
  let leastRow: UInt64

  @inline(__always)
  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    count = Int(view.load(UInt16.self, at: 0))
    width = Int(view.load(UInt8.self, at: 2))
    rowWidth = Int(view.load(UInt8.self, at: 3))
    least = view.load(Int64.self, at: 8)
    leastRow = view.load(UInt64.self, at: 16)
  }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    guard view.refCount == 0, view.bodyLength >= numbersOffset else { return false }
    let node = IntegerIndexNode(view)
    guard (1...maximumCount).contains(node.count), PackedIntegers.isWidth(node.width),
      PackedIntegers.isWidth(node.rowWidth) || node.rowWidth == threeBytes,
      numbersOffset + PackedIntegers.byteCount(node.count, width: node.width)
        + PackedIntegers.byteCount(node.count, width: node.rowWidth) <= view.bodyLength
    else { return false }
    // The greatest number must not be greater than the greatest Int64, or the order would wrap around.
    return node.distance(node.count - 1) <= UInt64(bitPattern: Int64.max &- node.least)
      && SortedIntegers.ascend(node.numbers, count: node.count, width: node.width)
  }

  private var numbers: RawSpan {
    @_lifetime(copy self) get {
      view.bytes(at: Self.numbersOffset, count: PackedIntegers.byteCount(count, width: width))
    }
  }

  private var rows: RawSpan {
    @_lifetime(copy self) get {
      let start = Self.numbersOffset + PackedIntegers.byteCount(count, width: width)
      return view.bytes(at: start, count: PackedIntegers.byteCount(count, width: rowWidth))
    }
  }

  @inline(__always)
  func distance(_ index: Int) -> UInt64 {
    width == 0 ? UInt64(index) : PackedIntegers.load(numbers, index, width: width)
  }

  func number(_ index: Int) -> Int64 { least &+ Int64(bitPattern: distance(index)) }

  @inline(__always)
  func row(_ index: Int) -> UInt64 {
    let rows = rows
    guard rowWidth == Self.threeBytes else {
      return leastRow &+ PackedIntegers.load(rows, index, width: rowWidth)
    }
    return leastRow &+ PackedIntegers.loadThreeBytes(rows, index)
  }

  /// The numbers of all entries.
  func unpackNumbers() -> [Int64] {
    guard width == 0 else { return PackedIntegers.unpack(numbers, count: count, width: width, base: least) }
    return (0..<count).map { least &+ Int64($0) }
  }

  /// The rows of all entries.
  func unpackRows() -> [UInt64] {
    if rowWidth == Self.threeBytes {
      return PackedIntegers.unpackThreeBytes(rows, count: count, base: leastRow)
    }
    let base = Int64(bitPattern: leastRow)
    return PackedIntegers.unpack(rows, count: count, width: rowWidth, base: base).map {
      UInt64(bitPattern: $0)
    }
  }

  static func rowWidth(forRange range: UInt64) -> Int {
    (1 << 16..<1 << 24).contains(range) ? threeBytes : PackedIntegers.width(forRange: range)
  }

  /// Packs row keys as their distances from the least row key.
  static func pack(rows: [Int64], least: UInt64, width: Int) -> [UInt8] {
    let base = Int64(bitPattern: least)
    return width == threeBytes
      ? PackedIntegers.packThreeBytes(rows, base: base) : PackedIntegers.pack(rows, base: base, width: width)
  }

  /// Prefetches the byte of a leaf that a search for a number is likely to read, before the head of the leaf is known.
  /// `distance` is the distance of the number from the least number of a range. Numbers most often have no gaps; then
  /// all bytes after the head are row keys.
  @inline(__always)
  static func prefetch(_ distance: UInt64, of range: UInt64, in leaf: Ref, _ access: borrowing NodeAccess) {
    guard distance < range, leaf.length > numbersOffset else { return }
    let guess = SortedIntegers.place(of: distance, below: range, last: leaf.length - numbersOffset)
    access.prefetch(leaf, inBody: numbersOffset + guess, count: 1)
  }

  /// Prefetches the head of a leaf too, which was not prefetched before.
  @inline(__always)
  static func prefetch(
    _ key: UInt64, in place: (ref: Ref, least: UInt64, next: UInt64), _ access: borrowing NodeAccess
  ) {
    access.prefetch(place.ref, count: 1)
    prefetch(key &- place.least, of: place.next &- place.least, in: place.ref, access)
  }

  /// The number of entries whose number is less than `number`.
  func lowerBound(_ number: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self.number(middle) < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The index of the entry with a number; nil if there is none.
  @inline(__always)
  func find(_ number: Int64) -> Int? {
    guard number >= least else { return nil }
    return SortedIntegers.find(UInt64(bitPattern: number &- least), in: numbers, count: count, width: width)
  }
}

/// The index that finds the rows of a table by a primary key of whole numbers that is never null. It is a keyed
/// tree of packed leaves.
enum IntegerIndex {
  /// The number of entries in the tree whose number is less than `number`.
  static func rank(
    of number: Int64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    let before = try KeyedTree.rowsBefore(leafOf: key(number), in: root, access)
    let leaf = try KeyedTree.leaf(for: key(number), in: root, access)
    return before &+ UInt64(IntegerIndexNode(try access.node(leaf, .integerIndex)).lowerBound(number))
  }

  /// The rows of the numbers in `range`, in the order of the numbers.
  static func rows(
    in range: ClosedRange<Int64>, of root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt64] {
    guard !root.isNull else { return [] }
    var (rows, next): ([UInt64], UInt64?) = ([], key(range.lowerBound))
    while let key = next {
      let (leaf, following) = try KeyedTree.leafAndNext(for: key, in: root, access)
      let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
      var place = node.lowerBound(range.lowerBound)
      while place < node.count, node.number(place) <= range.upperBound {
        rows.append(node.row(place))
        place += 1
      }
      if place < node.count { break }
      next = following
    }
    return rows
  }

  struct Entry: Equatable {
    var number: Int64
    var row: UInt64
  }

  static func serves(_ column: Column) -> Bool {
    guard column.index == .unique, !column.isOptional else { return false }
    switch column.type {
    case .int64: return true
    default: return false
    }
  }

  /// The key of a number in the keyed tree. Keys have the same order as the numbers.
  static func key(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

  static func row(
    of number: Int64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    guard !root.isNull else { return nil }
    return try row(of: number, KeyedTree.leafAndRange(for: key(number), in: root, access), access)
  }

  /// - Parameter place: the leaf that may hold the number, and the range of keys that belong into that leaf.
  @inline(__always)
  static func row(
    of number: Int64, _ place: (ref: Ref, least: UInt64, next: UInt64), _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    let (leaf, least, next) = place
    IntegerIndexNode.prefetch(key(number) &- least, of: next &- least, in: leaf, access)
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    return node.find(number).map { node.row($0) }
  }

  /// Puts entries into the tree. Returns the new root.
  ///
  /// - Precondition: the entries are in the order of their numbers, and the tree has none of these numbers.
  static func insert(_ entries: [Entry], in root: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    guard !entries.isEmpty else { return root }
    if root.isNull {
      return try KeyedTree.append(leaves(entries, isFull: true, editor), to: .null, editor: editor)
    }
    if entries.count == 1 {
      return try KeyedTree.update(key(entries[0].number), in: root, editor: editor) {
        (leaf) throws(StorageError) in
        if let made = try insert(entries[0], into: leaf, editor, editor.access()) { return made }
        return .list(try merge(entries[...], into: leaf, editor))
      }
    }
    return try KeyedTree.update(
      entries.map { key($0.number) }, in: root, editor: editor
    ) { (leaf, range) throws(StorageError) in
      try merge(entries[range], into: leaf, editor)
    }
  }

  private static func merge(
    _ entries: ArraySlice<Entry>, into leaf: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> [KeyedChild] {
    let old = try read(leaf, editor)
    editor.free(leaf)
    let isAfter = old.last.map { $0.number < entries[entries.startIndex].number } ?? true
    return leaves(merged(old, entries), isFull: isAfter, editor)
  }

  static func remove(_ number: Int64, from root: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    guard !root.isNull else { return root }
    return try KeyedTree.update(key(number), in: root, editor: editor) { (leaf) throws(StorageError) in
      if let made = try remove(number, fromLeaf: leaf, editor, editor.access()) { return .one(made) }
      var entries = try read(leaf, editor)
      entries.removeAll { $0.number == number }
      editor.free(leaf)
      return .list(leaves(entries, isFull: false, editor))
    }
  }

  /// Removes the entries of rows, and packs the other entries into full leaves. Takes time in
  /// proportion to all entries.
  static func remove(rows: NumberSet, from root: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    guard !root.isNull else { return root }
    var removal = Removal(rows: rows, editor: editor)
    try removal.walk(root)
    try removal.flush()
    try editor.freeTree(root)
    return removal.made
  }

  private struct Removal {
    let rows: NumberSet
    let editor: NodeEditor
    private(set) var made = Ref.null
    private var kept: [Entry] = []
    private var places: [UInt16] = []
    /// The greatest number of the leaf that was read before.
    private var last: Int64?

    init(rows: NumberSet, editor: NodeEditor) {
      self.rows = rows
      self.editor = editor
    }

    /// Reads each node with a new access, so that decrypted nodes can leave the cache.
    mutating func walk(_ ref: Ref) throws(StorageError) {
      guard ref.isKeyedBranch else { return try add(ref, editor.access()) }
      for child in try editor.access().children(of: ref) { try walk(child) }
    }

    private mutating func add(_ leaf: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
      let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
      let (numbers, found) = (node.unpackNumbers(), node.unpackRows())
      // Only in a forged tree do the numbers of a leaf not follow those of the leaf before.
      if let last, last >= numbers[0] { throw access.corrupted(.keyOrder, leaf) }
      last = numbers[numbers.count - 1]
      places.removeAll(keepingCapacity: true)
      rows.appendPlacesOfOthers(found, to: &places)
      kept.reserveCapacity(kept.count + places.count)
      for place in places { kept.append(Entry(number: numbers[Int(place)], row: found[Int(place)])) }
      // There are enough entries to make a branch, to which later leaves can be appended.
      if kept.count >= KeyedTree.fanOut * IntegerIndexNode.maximumCount { try flush() }
    }

    mutating func flush() throws(StorageError) {
      editor.arena.mark()
      var children = leaves(kept, isFull: true, editor)
      try KeyedTree.spill(&children, editor)
      made = try KeyedTree.append(children, to: made, editor: editor)
      kept.removeAll(keepingCapacity: true)
    }
  }

  /// Calls `body` with each entry, in the order of the numbers.
  static func check(
    _ root: Ref, _ reader: any NodeReader, _ body: (Entry) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try KeyedTree.check(root, reader) { (leaf, access) throws(StorageError) in
      let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
      for index in 0..<node.count { try body(Entry(number: node.number(index), row: node.row(index))) }
      return (UInt64(node.count), key(node.number(0))...key(node.number(node.count - 1)))
    }
  }

  // MARK: - Leaves

  static func read(_ leaf: Ref, _ editor: NodeEditor) throws(StorageError) -> [Entry] {
    let access = editor.access()
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    var entries: [Entry] = []
    entries.reserveCapacity(node.count + 1)
    for (number, row) in zip(node.unpackNumbers(), node.unpackRows()) {
      entries.append(Entry(number: number, row: row))
    }
    return entries
  }

  private static func merged(_ left: [Entry], _ right: ArraySlice<Entry>) -> [Entry] {
    var merged: [Entry] = []
    merged.reserveCapacity(left.count + right.count)
    var next = right.startIndex
    for entry in left {
      while next < right.endIndex, right[next].number < entry.number {
        merged.append(right[next])
        next += 1
      }
      merged.append(entry)
    }
    merged += right[next...]
    return merged
  }

  /// Makes leaves of entries. If `isFull` is true, the leaves are full, because later entries will come after them.
  /// Otherwise all leaves have about the same number of entries, so that there is room in each.
  static func leaves(_ entries: [Entry], isFull: Bool, _ editor: NodeEditor) -> [KeyedChild] {
    let maximum = IntegerIndexNode.maximumCount
    guard !entries.isEmpty else { return [] }
    let count = (entries.count + maximum - 1) / maximum
    let size = isFull ? maximum : (entries.count + count - 1) / count
    return stride(from: 0, to: entries.count, by: size).map { start in
      write(entries[start..<min(start + size, entries.count)], editor)
    }
  }

  private static func write(_ entries: ArraySlice<Entry>, _ editor: NodeEditor) -> KeyedChild {
    let (first, last) = (entries[entries.startIndex], entries[entries.endIndex - 1])
    var (leastRow, greatestRow) = (first.row, first.row)
    for entry in entries {
      leastRow = min(leastRow, entry.row)
      greatestRow = max(greatestRow, entry.row)
    }
    let range = UInt64(bitPattern: last.number &- first.number)
    let width = range == UInt64(entries.count - 1) ? 0 : PackedIntegers.width(forRange: range)
    let rowWidth = IntegerIndexNode.rowWidth(forRange: greatestRow - leastRow)
    let numbers = PackedIntegers.pack(entries.map { $0.number }, base: first.number, width: width)
    let rows = IntegerIndexNode.pack(
      rows: entries.map { Int64(bitPattern: $0.row) }, least: leastRow, width: rowWidth)
    let arena = editor.arena
    let node = arena.make(
      kind: .integerIndex, level: 0, refCount: 0,
      bodyLength: IntegerIndexNode.numbersOffset + numbers.count + rows.count)
    node.store(UInt16(entries.count), at: 0)
    node.store(UInt8(width), at: 2)
    node.store(UInt8(rowWidth), at: 3)
    node.store(UInt32(0), at: 4)
    node.store(first.number, at: 8)
    node.store(leastRow, at: 16)
    node.copy(numbers, at: IntegerIndexNode.numbersOffset)
    node.copy(rows, at: IntegerIndexNode.numbersOffset + numbers.count)
    return KeyedChild(leastKey: key(first.number), rows: UInt64(entries.count), ref: node.ref)
  }
}
