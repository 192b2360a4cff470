/// Lists that are trees by position (FORMAT.md, "Trees of lists").
///
/// A leaf is a cluster with one column, whose rows are the elements. So the rules for columns of tables hold for it.
enum ListTree {
  /// The number of elements. O(1).
  static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Int {
    let count = try PositionTree.count(root, access) { (leaf) throws(StorageError) in
      UInt64(ClusterNode(try access.node(leaf, .cluster)).rows)
    }
    // A forged tree may name one leaf many times. No file has more leaves than units.
    let most = (access.end / UInt64(Ref.unit)).multipliedReportingOverflow(
      by: UInt64(ClusterNode.maximumRows))
    guard root.isDirty || most.overflow || count <= most.partialValue else {
      throw access.corrupted(.overlap, root)
    }
    return Int(clamping: count)
  }

  /// The element at a position. O(log n).
  ///
  /// - Parameter element: see `Column.element`.
  /// - Precondition: there is an element at the position.
  static func value(
    at position: Int, of root: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    let place = try PositionTree.leaf(at: UInt64(position), in: root, access)
    let cluster = ClusterNode(try access.node(place.leaf, .cluster))
    let row = position - Int(place.before)
    guard row < cluster.rows, place.counts(cluster.rows) else { throw access.corrupted(.rows, place.leaf) }
    return try TableReading.value(element, row, of: cluster, dictionary: .null, access)
  }

  /// Appends the elements of a leaf to `values`.
  static func append(
    leaf: Ref, _ element: Column, _ access: borrowing NodeAccess, to values: inout [Value]
  ) throws(StorageError) {
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    if element.storage == .integers, let part = cluster.integers(of: element.id), part.nullCount == 0 {
      let numbers = cluster.integers(part)
      if element.type == .int64 {
        for number in numbers { values.append(.int(number)) }
      } else {
        for number in numbers { values.append(element.value(integer: number)) }
      }
      return
    }
    for row in 0..<cluster.rows {
      values.append(try TableReading.value(element, row, of: cluster, dictionary: .null, access))
    }
  }

  /// All elements. Takes time and memory in proportion to their number.
  static func values(
    _ root: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    let count = try count(root, access)
    var values: [Value] = []
    // The count may be forged, so no more memory than this is reserved at first. The array grows as the leaves are
    // read.
    values.reserveCapacity(min(count, 1 << 20))
    try PositionTree.forEachLeaf(of: root, access) { (leaf, before) throws(StorageError) in
      guard values.count == Int(clamping: before) else { throw access.corrupted(.rows, leaf) }
      try append(leaf: leaf, element, access, to: &values)
      return true
    }
    guard values.count == count else { throw access.corrupted(.rows, root) }
    return values
  }

  /// Whether two lists have the same elements. Takes time in proportion to the number of nodes that only one of the
  /// trees has, if the shared nodes are at the same positions in both.
  static func areEqual(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, _ right: Ref, _ rightAccess: borrowing NodeAccess,
    _ element: Column
  ) throws(StorageError) -> Bool {
    let count = try count(left, leftAccess)
    guard try count == self.count(right, rightAccess) else { return false }
    return try commonStart(left, leftAccess, right, rightAccess, element) == count
  }

  /// The number of equal elements at the beginning of two lists.
  static func commonStart(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, _ right: Ref, _ rightAccess: borrowing NodeAccess,
    _ element: Column
  ) throws(StorageError) -> Int {
    let count = min(try count(left, leftAccess), try self.count(right, rightAccess))
    var (place, lefts, rights): (Int, ArraySlice<Value>, ArraySlice<Value>) = (0, [], [])
    while place < count {
      // A subtree that both trees have at the same position is skipped as a whole.
      if lefts.isEmpty, rights.isEmpty,
        let shared = try PositionTree.shared(left, leftAccess, right, rightAccess, from: UInt64(place))
      {
        place += Int(clamping: shared)
        continue
      }
      if lefts.isEmpty { lefts = try values(from: place, of: left, element, leftAccess)[...] }
      if rights.isEmpty { rights = try values(from: place, of: right, element, rightAccess)[...] }
      while let one = lefts.first, let other = rights.first {
        guard one == other else { return place }
        lefts.removeFirst()
        rights.removeFirst()
        place += 1
      }
    }
    return min(place, count)
  }

  /// The number of equal elements at the end of two lists, but no more than `most`.
  static func commonEnd(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, _ right: Ref, _ rightAccess: borrowing NodeAccess,
    _ element: Column, atMost most: Int
  ) throws(StorageError) -> Int {
    let (leftCount, rightCount) = (try count(left, leftAccess), try count(right, rightAccess))
    var (common, lefts, rights): (Int, ArraySlice<Value>, ArraySlice<Value>) = (0, [], [])
    while common < most {
      let ends = (left: UInt64(leftCount - common), right: UInt64(rightCount - common))
      if lefts.isEmpty, rights.isEmpty,
        let shared = try PositionTree.shared(
          left, leftAccess, before: ends.left, right, rightAccess, before: ends.right)
      {
        common += Int(clamping: shared)
        continue
      }
      if lefts.isEmpty { lefts = try values(before: leftCount - common, of: left, element, leftAccess)[...] }
      if rights.isEmpty {
        rights = try values(before: rightCount - common, of: right, element, rightAccess)[...]
      }
      while let one = lefts.last, let other = rights.last, common < most {
        guard one == other else { return common }
        lefts.removeLast()
        rights.removeLast()
        common += 1
      }
    }
    return min(common, most)
  }

  /// The elements at a range of positions.
  ///
  /// - Precondition: there are elements at all of these positions.
  static func values(
    _ range: Range<Int>, of root: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    var found: [Value] = []
    while found.count < range.count {
      let rest = try values(from: range.lowerBound + found.count, of: root, element, access)
      found += rest.prefix(range.count - found.count)
    }
    return found
  }

  /// The elements before a position that are in the same leaf as the last of them.
  ///
  /// - Precondition: there is an element before the position.
  private static func values(
    before end: Int, of root: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    let place = try PositionTree.leaf(at: UInt64(end - 1), in: root, access)
    var values: [Value] = []
    try append(leaf: place.leaf, element, access, to: &values)
    let kept = end - Int(clamping: place.before)
    guard kept <= values.count, place.counts(values.count) else { throw access.corrupted(.rows, place.leaf) }
    values.removeLast(values.count - kept)
    return values
  }

  /// The elements from a position on that are in the leaf of that position.
  ///
  /// - Precondition: there is an element at the position.
  static func values(
    from position: Int, of root: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Value] {
    let place = try PositionTree.leaf(at: UInt64(position), in: root, access)
    var values: [Value] = []
    // The count of the branch may be forged, so no more memory is reserved than a leaf can need.
    values.reserveCapacity(min(Int(clamping: place.count ?? 0), ElementBuffer.leafElements))
    try append(leaf: place.leaf, element, access, to: &values)
    let skipped = position - Int(clamping: place.before)
    guard skipped < values.count, place.counts(values.count) else {
      throw access.corrupted(.rows, place.leaf)
    }
    if skipped > 0 { values.removeFirst(skipped) }
    return values
  }

  /// Builds the tree of a list.
  static func build(
    _ values: [Value], _ element: Column, _ editor: NodeEditor
  ) throws(StorageError) -> Ref {
    var leaves: [PositionChild] = []
    var buffer = ElementBuffer(element)
    for value in values {
      try buffer.append(value, editor)
      if buffer.isLarge {
        leaves += try buffer.makeLeaves(areLast: true, editor)
        buffer = ElementBuffer(element)
      }
    }
    leaves += try buffer.makeLeaves(areLast: true, editor)
    return try PositionTree.build(leaves, editor)
  }

  /// Verifies a whole tree: the counts, the form of the leaves, and that each element is a value of the column. Calls
  /// `body` with each element.
  static func check(
    _ root: Ref, _ column: Column, _ reader: any NodeReader, _ body: (Value) throws(StorageError) -> Void
  ) throws(StorageError) {
    let element = column.element
    _ = try PositionTree.check(root, reader) { (leaf, access) throws(StorageError) in
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      guard cluster.isDense, cluster.firstKey == 0, cluster.tellsBoundsRight(),
        (0..<cluster.columnCount).allSatisfy({ cluster.descriptor($0).column == element.id }),
        let part = cluster.part(of: element), part.encoding != .codes
      else { throw access.corrupted(.structure, leaf) }
      for row in 0..<cluster.rows {
        let value = try TableReading.value(element, row, of: cluster, dictionary: .null, access)
        guard column.acceptsElement(value) else { throw access.corrupted(.structure, leaf) }
        try body(value)
      }
      return UInt64(cluster.rows)
    }
  }
}

extension PositionTree.Place {
  /// Whether the branch above the leaf counts `elements` elements in it, or the leaf is the root.
  func counts(_ elements: Int) -> Bool { count == nil || count == UInt64(elements) }
}
