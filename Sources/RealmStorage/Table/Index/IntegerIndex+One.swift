/// Changes of a leaf by one entry. The other entries are copied in their packed form.
extension IntegerIndex {
  /// Puts one entry into a leaf if the packing of the leaf can hold it. The other entries are copied in their packed
  /// form, to two leaves if the leaf was full. Returns nil if all entries have to be packed anew.
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
    // If the entry comes after all others, more are likely to follow, so the leaf stays full.
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

  /// Removes the entry of a number from a leaf. Returns nil if the leaf does not have it, or if the other entries
  /// have to be packed anew.
  static func remove(
    _ number: Int64, fromLeaf leaf: Ref, _ editor: NodeEditor, _ access: borrowing NodeAccess
  ) throws(StorageError) -> KeyedChild? {
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    guard let place = node.find(number), node.isPacked(without: place) else { return nil }
    let made = copy(of: node, 0..<place, nil, place + 1..<node.count, editor)
    editor.free(leaf)
    return made
  }

  /// Makes a leaf of some entries of another leaf in their packed form, perhaps one new entry, and some later
  /// entries of the other leaf.
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
  /// The index at which an entry belongs in the leaf; nil if the packing of the leaf can't hold it, or if all entries
  /// are better packed anew.
  ///
  /// - Precondition: the leaf does not have the number.
  fileprivate func place(for entry: IntegerIndex.Entry) -> Int? {
    guard entry.number > least, width % 8 == 0, rowWidth % 8 == 0, rowWidth > 0,
      entry.row >= leastRow, rowWidth == 64 || entry.row - leastRow < 1 << UInt64(rowWidth)
    else { return nil }
    let distance = UInt64(bitPattern: entry.number &- least)
    if width == 0 { return distance == UInt64(count) ? count : nil }
    // Numbers that now have no gap take no room once they are packed anew.
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

  /// Whether the numbers without the one at `place` are packed as they would be in a leaf of their own.
  fileprivate func isPacked(without place: Int) -> Bool {
    guard count > 2, width > 0, width % 8 == 0, rowWidth > 0, rowWidth % 8 == 0 else { return false }
    let range = distance(place == count - 1 ? count - 2 : count - 1) - distance(place == 0 ? 1 : 0)
    return range > UInt64(count - 2) && PackedIntegers.width(forRange: range) == width
  }

  /// Whether the numbers before the entry at `end`, and those from it on, are packed as they would be in leaves of
  /// their own. `count` is the number of entries in the first of these leaves, with the new entry.
  fileprivate func isPackedAsItsParts(at end: Int, first count: Int) -> Bool {
    let range = distance(end - 1)
    // Numbers without a gap would take no room. The second part is shorter, so for it the test of the
    // width excludes that too.
    return range > UInt64(count - 1) && PackedIntegers.width(forRange: range) == width
      && PackedIntegers.width(forRange: distance(self.count - 1) - distance(end)) == width
  }
}

extension NodeWriter {
  /// Copies the numbers of some entries to the body, each reduced by `shift`.
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
