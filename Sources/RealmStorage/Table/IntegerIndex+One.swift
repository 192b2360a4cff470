/// One entry that is put into a leaf or taken out of it: the others are copied as they are packed.
extension IntegerIndex {
  /// Puts one entry among those of a leaf whose packing holds it, which then are copied as they stand, to two leaves where
  /// it was full; nil where all of them are to be packed anew.
  static func insert(_ entry: Entry, into leaf: Ref, _ editor: NodeEditor) throws(StorageError)
    -> [KeyedChild]?
  {
    let access = editor.access()
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    guard let place = node.place(for: entry) else { return nil }
    let maximum = IntegerIndexNode.maximumCount
    var made: [KeyedChild] = []
    if node.count < maximum {
      made.append(copy(of: node, 0..<node.count, adding: entry, at: place, editor))
    } else {
      // Where more come after them the leaf stays full.
      guard place < maximum else { return nil }
      let half = (maximum + 2) / 2
      let isInFirst = place < half
      let end = isInFirst ? half - 1 : half
      guard node.isPackedAsItsParts(at: end, first: half) else { return nil }
      made.append(copy(of: node, 0..<end, adding: isInFirst ? entry : nil, at: place, editor))
      made.append(copy(of: node, end..<maximum, adding: isInFirst ? nil : entry, at: place, editor))
    }
    editor.free(leaf)
    return made
  }

  /// Takes the entry of a number out of a leaf; nil where it has none, or where the others are to be packed anew.
  static func remove(_ number: Int64, from leaf: Ref, _ editor: NodeEditor) throws(StorageError)
    -> KeyedChild?
  {
    let access = editor.access()
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    guard let place = node.find(number), node.isPacked(without: place) else { return nil }
    let made = copy(of: node, without: place, editor)
    editor.free(leaf)
    return made
  }

  private static func copy(of node: IntegerIndexNode, without place: Int, _ editor: NodeEditor) -> KeyedChild
  {
    let (size, rowSize) = (node.width / 8, node.rowWidth / 8)
    let (count, head) = (node.count - 1, IntegerIndexNode.numbersOffset)
    let least = node.number(place == 0 ? 1 : 0)
    let shift = UInt64(bitPattern: least &- node.least)
    let arena = editor.arena
    let made = arena.make(
      kind: .integerIndex, level: 0, refCount: 0, bodyLength: head + count * (size + rowSize))
    made.copy(node.view.bytes(at: 0, count: head), at: 0)
    made.store(UInt16(count), at: 0)
    made.store(least, at: 8)
    let (rows, madeRows) = (head + node.count * size, head + count * size)
    for (part, target) in [(0..<place, 0), (place + 1..<node.count, place)] {
      made.copyNumbers(of: node, part, to: head + target * size, inserting: nil, at: 0, less: shift)
      made.copy(
        node.view, at: rows, to: madeRows + target * rowSize, part, rowSize, inserting: nil, at: 0)
    }
    return KeyedChild(leastKey: key(least), rows: UInt64(count), ref: made.ref)
  }

  /// A leaf of some entries of another, as they are packed there, and one more before the entry at `place`.
  private static func copy(
    of node: IntegerIndexNode, _ entries: Range<Int>, adding entry: Entry?, at place: Int,
    _ editor: NodeEditor
  ) -> KeyedChild {
    let (size, rowSize) = (node.width / 8, node.rowWidth / 8)
    let (count, head) = (entries.count + (entry == nil ? 0 : 1), IntegerIndexNode.numbersOffset)
    var least = node.number(entries.lowerBound)
    if let entry, entry.number < least { least = entry.number }
    let arena = editor.arena
    let made = arena.make(
      kind: .integerIndex, level: 0, refCount: 0, bodyLength: head + count * (size + rowSize))
    made.copy(node.view.bytes(at: 0, count: head), at: 0)
    made.store(UInt16(count), at: 0)
    made.store(least, at: 8)
    made.copyNumbers(
      of: node, entries, to: head, inserting: entry.map { UInt64(bitPattern: $0.number &- least) }, at: place,
      less: UInt64(bitPattern: least &- node.least))
    made.copy(
      node.view, at: head + node.count * size, to: head + count * size, entries, rowSize,
      inserting: entry.map { $0.row - node.leastRow }, at: place)
    return KeyedChild(leastKey: key(least), rows: UInt64(count), ref: made.ref)
  }
}

extension IntegerIndexNode {
  /// Where an entry belongs among those of the leaf; nil where their packing does not hold it, or all are better packed anew.
  ///
  /// - Precondition: the leaf has no such number.
  fileprivate func place(for entry: IntegerIndex.Entry) -> Int? {
    guard entry.number > least, width % 8 == 0, rowWidth % 8 == 0, rowWidth > 0,
      entry.row >= leastRow, rowWidth == 64 || entry.row - leastRow < 1 << UInt64(rowWidth)
    else { return nil }
    let distance = UInt64(bitPattern: entry.number &- least)
    if width == 0 { return distance == UInt64(count) ? count : nil }
    // What has become numbers without a gap takes no room once it is packed.
    guard max(distance, self.distance(count - 1)) > UInt64(count),
      width == 64 || distance < 1 << UInt64(width)
    else { return nil }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self.distance(middle) < distance { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Whether the numbers without the one at a place are packed as they would be in a leaf of their own.
  fileprivate func isPacked(without place: Int) -> Bool {
    guard count > 2, width > 0, width % 8 == 0, rowWidth > 0, rowWidth % 8 == 0 else { return false }
    let range = distance(place == count - 1 ? count - 2 : count - 1) - distance(place == 0 ? 1 : 0)
    return range > UInt64(count - 2) && PackedIntegers.width(forRange: range) == width
  }

  /// Whether the numbers before the entry at `end`, and those from it on, are packed as they would be in leaves of their own, of
  /// which the first has `count` with the one that comes.
  fileprivate func isPackedAsItsParts(at end: Int, first count: Int) -> Bool {
    let range = distance(end - 1)
    // What has no gap takes no room; of the other, which is shorter, the width tells that too.
    return range > UInt64(count - 1) && PackedIntegers.width(forRange: range) == width
      && PackedIntegers.width(forRange: distance(self.count - 1) - distance(end)) == width
  }
}

extension NodeWriter {
  /// Copies some entries' numbers, `shift` less each, to the body, with one more before the entry at `place`.
  fileprivate func copyNumbers(
    of node: IntegerIndexNode, _ entries: Range<Int>, to target: Int, inserting number: UInt64?,
    at place: Int,
    less shift: UInt64
  ) {
    let size = node.width / 8
    guard shift > 0 else {
      return copy(
        node.view, at: IntegerIndexNode.numbersOffset, to: target, entries, size, inserting: number, at: place
      )
    }
    switch size {
    case 1: store(UInt8.self)
    case 2: store(UInt16.self)
    case 4: store(UInt32.self)
    default: store(UInt64.self)
    }
    func store<Integer: FixedWidthInteger & BitwiseCopyable>(_: Integer.Type) {
      var target = target
      for entry in entries {
        if entry == place, let number {
          self.store(Integer(truncatingIfNeeded: number), at: target)
          target += size
        }
        let distance = node.view.load(Integer.self, at: IntegerIndexNode.numbersOffset + entry * size)
        self.store(distance &- Integer(truncatingIfNeeded: shift), at: target)
        target += size
      }
      if place == entries.upperBound, let number {
        self.store(Integer(truncatingIfNeeded: number), at: target)
      }
    }
  }

  /// Copies numbers of `size` bytes each from the body of another node, with one more before the entry at `place`.
  fileprivate func copy(
    _ node: NodeView, at start: Int, to target: Int, _ entries: Range<Int>, _ size: Int,
    inserting number: UInt64?,
    at place: Int
  ) {
    guard let number else {
      return copy(node.bytes(at: start + entries.lowerBound * size, count: entries.count * size), at: target)
    }
    let before = place - entries.lowerBound
    copy(node.bytes(at: start + entries.lowerBound * size, count: before * size), at: target)
    for byte in 0..<size {
      store(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)), at: target + before * size + byte)
    }
    copy(
      node.bytes(at: start + place * size, count: (entries.upperBound - place) * size),
      at: target + (before + 1) * size)
  }
}
