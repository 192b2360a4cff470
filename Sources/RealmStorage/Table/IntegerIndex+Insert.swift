extension IntegerIndex {
  /// Puts one entry among those of a leaf whose packing holds it, which then are copied as they stand; nil where all of them
  /// are to be packed anew.
  static func insert(_ entry: Entry, into leaf: Ref, _ editor: NodeEditor) throws(StorageError) -> KeyedChild?
  {
    let access = editor.access()
    let node = IntegerIndexNode(try access.node(leaf, .integerIndex))
    guard let place = node.place(for: entry) else { return nil }
    let (size, rowSize) = (node.width / 8, node.rowWidth / 8)
    let (count, head) = (node.count + 1, IntegerIndexNode.numbersOffset)
    let arena = editor.arena
    let made = arena.make(
      kind: .integerIndex, level: 0, refCount: 0, bodyLength: head + count * (size + rowSize))
    made.copy(node.view.bytes(at: 0, count: head), at: 0)
    made.store(UInt16(count), at: 0)
    let distance = UInt64(bitPattern: entry.number &- node.least)
    made.copy(node.view, at: head, to: head, count: node.count, size, inserting: distance, at: place)
    made.copy(
      node.view, at: head + node.count * size, to: head + count * size, count: node.count, rowSize,
      inserting: entry.row - node.leastRow, at: place)
    editor.free(leaf)
    return KeyedChild(leastKey: key(node.least), rows: UInt64(count), ref: made.ref)
  }
}

extension IntegerIndexNode {
  /// Where an entry belongs among those of the leaf; nil where it has no room, or is better packed with them anew.
  ///
  /// - Precondition: the leaf has no such number.
  fileprivate func place(for entry: IntegerIndex.Entry) -> Int? {
    guard count < Self.maximumCount, entry.number > least, width % 8 == 0, rowWidth % 8 == 0, rowWidth > 0,
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
}

extension NodeWriter {
  /// Copies numbers of `size` bytes each from the body of another node, with one more among them.
  fileprivate func copy(
    _ node: NodeView, at start: Int, to target: Int, count: Int, _ size: Int, inserting number: UInt64,
    at place: Int
  ) {
    copy(node.bytes(at: start, count: place * size), at: target)
    for byte in 0..<size {
      store(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)), at: target + place * size + byte)
    }
    copy(node.bytes(at: start + place * size, count: (count - place) * size), at: target + (place + 1) * size)
  }
}
