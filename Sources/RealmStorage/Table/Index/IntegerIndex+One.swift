/// One entry that is put into a leaf or taken out of it: the others are copied as they are packed.
extension IntegerIndex {
  /// Puts one entry among those of a leaf whose packing holds it, which then are copied as they stand, to two leaves where
  /// it was full; nil where all of them are to be packed anew.
  static func insert(
    _ entry: Entry, into leaf: Ref, _ editor: NodeEditor, _ access: borrowing NodeAccess
  ) throws(StorageError) -> KeyedNodes? {
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    guard let place = node.place(for: entry) else { return nil }
    let maximum = IntegerIndexNode.maximumCount
    guard node.count == maximum else {
      let made = copy(of: node, 0..<place, entry, place..<node.count, editor)
      editor.free(leaf)
      return .one(made)
    }
    // Where more come after them the leaf stays full.
    guard place < maximum else { return nil }
    let half = (maximum + 2) / 2
    let isInFirst = place < half
    let end = isInFirst ? half - 1 : half
    guard node.isPackedAsItsParts(at: end, first: half) else { return nil }
    let made =
      isInFirst
      ? [
        copy(of: node, 0..<place, entry, place..<end, editor),
        copy(of: node, end..<maximum, nil, maximum..<maximum, editor),
      ]
      : [
        copy(of: node, 0..<end, nil, end..<end, editor),
        copy(of: node, end..<place, entry, place..<maximum, editor),
      ]
    editor.free(leaf)
    return .list(made)
  }

  /// Takes the entry of a number out of a leaf; nil where it has none, or where the others are to be packed anew.
  static func remove(
    _ number: Int64, fromLeaf leaf: Ref, _ editor: NodeEditor, _ access: borrowing NodeAccess
  ) throws(StorageError) -> KeyedChild? {
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    guard let place = node.find(number), node.isPacked(without: place) else { return nil }
    let made = copy(of: node, 0..<place, nil, place + 1..<node.count, editor)
    editor.free(leaf)
    return made
  }

  /// A leaf of some entries of another, as they are packed there, of one more, and of some that come after it.
  private static func copy(
    of node: IntegerIndexNode, _ before: Range<Int>, _ entry: Entry?, _ after: Range<Int>,
    _ editor: NodeEditor
  ) -> KeyedChild {
    let (size, rowSize) = (node.width / 8, node.rowWidth / 8)
    let next = before.count + (entry == nil ? 0 : 1)
    let (count, head) = (next + after.count, IntegerIndexNode.numbersOffset)
    let least =
      before.isEmpty ? entry?.number ?? node.number(after.lowerBound) : node.number(before.lowerBound)
    let shift = UInt64(bitPattern: least &- node.least)
    let arena = editor.arena
    let made = arena.make(
      kind: .integerIndex, level: 0, refCount: 0, bodyLength: head + count * (size + rowSize))
    made.copy(node.view.bytes(at: 0, count: head), at: 0)
    made.store(UInt16(count), at: 0)
    made.store(least, at: 8)
    let rows = (from: head + node.count * size, to: head + count * size)
    for (entries, place) in [(before, 0), (after, next)] {
      made.copyNumbers(of: node, entries, to: head + place * size, less: shift)
      made.copy(
        node.view.bytes(at: rows.from + entries.lowerBound * rowSize, count: entries.count * rowSize),
        at: rows.to + place * rowSize)
    }
    if let entry {
      made.store(
        lowBytes: size, of: UInt64(bitPattern: entry.number &- least), at: head + before.count * size)
      made.store(lowBytes: rowSize, of: entry.row - node.leastRow, at: rows.to + before.count * rowSize)
    }
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
  /// Copies some entries' numbers to the body, `shift` less each.
  fileprivate func copyNumbers(
    of node: IntegerIndexNode, _ entries: Range<Int>, to target: Int, less shift: UInt64
  ) {
    let size = node.width / 8
    let numbers = node.view.bytes(
      at: IntegerIndexNode.numbersOffset + entries.lowerBound * size, count: entries.count * size)
    switch shift == 0 ? 0 : size {
    case 0: copy(numbers, at: target)
    case 1: copy(numbers, at: target, less: UInt8(truncatingIfNeeded: shift))
    case 2: copy(numbers, at: target, less: UInt16(truncatingIfNeeded: shift))
    case 4: copy(numbers, at: target, less: UInt32(truncatingIfNeeded: shift))
    default: copy(numbers, at: target, less: shift)
    }
  }

  fileprivate func store(lowBytes count: Int, of number: UInt64, at target: Int) {
    for byte in 0..<count { store(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)), at: target + byte) }
  }
}
