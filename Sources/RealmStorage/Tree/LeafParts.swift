/// The entries a leaf is to have: some of one leaf, perhaps a new one, some of another.
///
/// Every change of a leaf is of this form: an insertion has the same leaf on both sides, a merge has two. So a change
/// is made by copying stretches of bytes; nothing is decoded.
struct LeafParts: ~Escapable {
  private let left: LeafNode
  private let leftCount: Int
  private let right: LeafNode
  private let rightStart: Int
  private let newKey: RawSpan
  private let newValue: TreeValue
  private let hasNew: Bool
  let count: Int

  /// `leaf` with the entries `replaced` replaced by a new one.
  @_lifetime(copy leaf, copy key, copy value)
  init(_ leaf: LeafNode, replacing replaced: Range<Int>, key: RawSpan, value: TreeValue) {
    self.init(
      left: leaf, leftCount: replaced.lowerBound, right: leaf, rightStart: replaced.upperBound, key, value,
      true)
  }

  /// `leaf` without the entries `removed`.
  @_lifetime(copy leaf)
  init(_ leaf: LeafNode, removing removed: Range<Int>) {
    let none = leaf.prefix
    self.init(
      left: leaf, leftCount: removed.lowerBound, right: leaf, rightStart: removed.upperBound, none,
      TreeValue(bytes: none), false)
  }

  /// All entries of two neighbours.
  @_lifetime(copy left, copy right)
  init(_ left: LeafNode, _ right: LeafNode) {
    let none = left.prefix
    self.init(
      left: left, leftCount: left.count, right: right, rightStart: 0, none, TreeValue(bytes: none), false)
  }

  @_lifetime(copy left, copy right, copy key, copy value)
  private init(
    left: LeafNode, leftCount: Int, right: LeafNode, rightStart: Int, _ key: RawSpan, _ value: TreeValue,
    _ hasNew: Bool
  ) {
    self.left = left
    self.leftCount = leftCount
    self.right = right
    self.rightStart = rightStart
    newKey = key
    newValue = value
    self.hasNew = hasNew
    count = leftCount + (hasNew ? 1 : 0) + right.count - rightStart
  }

  /// Where the new entry stands.
  var newIndex: Int? { hasNew ? leftCount : nil }

  // MARK: - Entries

  private enum Place {
    case left(Int)
    case new
    case right(Int)
  }

  private func place(_ index: Int) -> Place {
    if index < leftCount { return .left(index) }
    if hasNew, index == leftCount { return .new }
    return .right(rightStart + index - leftCount - (hasNew ? 1 : 0))
  }

  func key(_ index: Int) -> [UInt8] {
    switch place(index) {
    case .left(let index): left.key(index)
    case .new: newKey.array
    case .right(let index): right.key(index)
    }
  }

  private func keyLength(_ index: Int) -> Int {
    switch place(index) {
    case .left(let index): left.keyLength(index)
    case .new: newKey.byteCount
    case .right(let index): right.keyLength(index)
    }
  }

  @_lifetime(copy self)
  private func value(_ index: Int) -> TreeValue {
    switch place(index) {
    case .left(let index): left.value(index)
    case .new: newValue
    case .right(let index): right.value(index)
    }
  }

  // MARK: - Measure

  /// How a range of the entries is laid out in a leaf.
  struct Measure {
    var prefix: [UInt8]
    var keyWidth: Int?
    var valueWidth: Int?
    var keyBytes: Int
    var valueBytes: Int
    var refCount: Int
    var level: UInt8
    var count: Int

    /// Entries whose keys and values have these lengths.
    mutating func add(_ entries: Int, key: Int, value: Int) {
      guard entries > 0 else { return }
      let suffix = key - prefix.count
      keyBytes += entries * suffix
      valueBytes += entries * value
      if suffix != keyWidth { keyWidth = nil }
      if value != valueWidth { valueWidth = nil }
    }

    var bodyLength: Int {
      LeafNode.Layout.prefix + prefix.count + (keyWidth == nil ? 2 * count : 0)
        + (valueWidth == nil ? 2 * count : 0)
        + keyBytes + valueBytes
    }
  }

  func measure(_ range: Range<Int>) -> Measure {
    // Keys are in order, so what the first and the last have in common all have.
    let (first, last) = (key(range.lowerBound), key(range.upperBound - 1))
    let prefix = Array(first.prefix(first.span.bytes.commonPrefix(last.span.bytes)))
    var measure = Measure(
      prefix: prefix, keyWidth: first.count - prefix.count,
      valueWidth: value(range.lowerBound).bytes.byteCount,
      keyBytes: 0, valueBytes: 0, refCount: 0, level: 0, count: range.count)
    if measureAlike(range, &measure) { return measure }
    for index in range {
      let value = value(index)
      measure.add(1, key: keyLength(index), value: value.storedLength)
      if let ref = value.ref {
        measure.refCount += 1
        measure.level = max(measure.level, ref.level + 1)
        measure.valueWidth = nil
      }
    }
    return measure
  }

  /// Measures entries that are alike within each leaf, without a look at each; false where they are not.
  private func measureAlike(_ range: Range<Int>, _ measure: inout Measure) -> Bool {
    guard left.view.refCount == 0, right.view.refCount == 0, newValue.ref == nil,
      let leftKey = left.keyWidth, let leftValue = left.valueWidth,
      let rightKey = right.keyWidth, let rightValue = right.valueWidth
    else { return false }
    let fromLeft = max(0, min(range.upperBound, leftCount) - range.lowerBound)
    let new = hasNew && range.contains(leftCount) ? 1 : 0
    measure.add(fromLeft, key: left.prefixLength + leftKey, value: leftValue)
    measure.add(new, key: newKey.byteCount, value: newValue.bytes.byteCount)
    measure.add(range.count - fromLeft - new, key: right.prefixLength + rightKey, value: rightValue)
    return true
  }

  // MARK: - Making leaves

  /// Makes as many leaves as the entries need, none longer than `limit` unless it holds one entry.
  func makeLeaves(limit: Int, editor: NodeEditor) -> [TreeChild] {
    guard count > 0 else { return [] }
    var leaves: [TreeChild] = []
    split(0..<count, limit: limit, editor: editor, into: &leaves)
    return leaves
  }

  /// False for neighbours that were forged so that one does not follow the other.
  var isInOrder: Bool {
    guard leftCount > 0, leftCount < count else { return true }
    return key(leftCount - 1).span.bytes.compare(key(leftCount).span.bytes) < 0
  }

  /// The length of the one leaf that would hold all.
  var totalLength: Int { measure(0..<count).bodyLength }

  private func split(_ range: Range<Int>, limit: Int, editor: NodeEditor, into leaves: inout [TreeChild]) {
    let measure = measure(range)
    if range.count == 1 || measure.bodyLength + measure.refCount * editor.store.refWidth.bytes <= limit {
      leaves.append(
        TreeChild(
          separator: leaves.isEmpty ? [] : separator(before: range.lowerBound), count: UInt64(range.count),
          ref: write(range, measure, editor)))
      return
    }
    let middle = splitPoint(
      range, half: (measure.keyBytes + measure.valueBytes) / 2, prefix: measure.prefix.count)
    split(range.lowerBound..<middle, limit: limit, editor: editor, into: &leaves)
    split(middle..<range.upperBound, limit: limit, editor: editor, into: &leaves)
  }

  /// An entry added at the end is the next of many: then the full leaf is left as it is.
  private func splitPoint(_ range: Range<Int>, half: Int, prefix: Int) -> Int {
    if newIndex == range.upperBound - 1, range.lowerBound == 0 { return range.upperBound - 1 }
    var bytes = 0
    for index in range.dropLast() {
      bytes += keyLength(index) - prefix + value(index).storedLength
      if bytes >= half { return index + 1 }
    }
    return range.upperBound - 1
  }

  /// The shortest key that is greater than all before `index` and not greater than the one there.
  private func separator(before index: Int) -> [UInt8] {
    let (left, right) = (key(index - 1), key(index))
    return Array(right.prefix(left.span.bytes.commonPrefix(right.span.bytes) + 1))
  }

  private func write(_ range: Range<Int>, _ measure: Measure, _ editor: NodeEditor) -> Ref {
    typealias Layout = LeafNode.Layout
    let arena = editor.arena
    let leaf = arena.make(
      kind: .leaf, level: measure.level, refCount: measure.refCount, bodyLength: measure.bodyLength)
    leaf.store(UInt16(range.count), at: Layout.count)
    leaf.store(UInt16(measure.prefix.count), at: Layout.prefixLength)
    leaf.store(measure.keyWidth.map { UInt16($0) } ?? Layout.variable, at: Layout.keyWidth)
    leaf.store(measure.valueWidth.map { UInt16($0) } ?? Layout.variable, at: Layout.valueWidth)
    leaf.copy(measure.prefix, at: Layout.prefix)
    let keyEnds = Layout.prefix + measure.prefix.count
    let valueEnds = keyEnds + (measure.keyWidth == nil ? 2 * range.count : 0)
    let keys = valueEnds + (measure.valueWidth == nil ? 2 * range.count : 0)
    writeKeys(range, measure, to: leaf, ends: keyEnds, keys: keys)
    writeValues(range, measure, to: leaf, ends: valueEnds, values: keys + measure.keyBytes)
    return leaf.ref
  }

  private func writeKeys(_ range: Range<Int>, _ measure: Measure, to leaf: NodeWriter, ends: Int, keys: Int) {
    var end = 0
    var index = range.lowerBound
    while index < range.upperBound {
      if measure.keyWidth != nil,
        let stretch = stretch(from: index, range, prefixLength: measure.prefix.count)
      {
        leaf.copy(stretch.suffixes, at: keys + end)
        end += stretch.suffixes.byteCount
        index += stretch.count
        continue
      }
      let length = keyLength(index) - measure.prefix.count
      writeKey(index, dropping: measure.prefix.count, to: leaf, at: keys + end)
      end += length
      if measure.keyWidth == nil { leaf.store(UInt16(end), at: ends + 2 * (index - range.lowerBound)) }
      index += 1
    }
  }

  /// Old entries whose suffixes can be copied at once.
  private struct Stretch: ~Escapable {
    let suffixes: RawSpan
    let count: Int

    @_lifetime(copy suffixes)
    init(suffixes: RawSpan, count: Int) {
      self.suffixes = suffixes
      self.count = count
    }
  }

  @_lifetime(copy self)
  private func stretch(from index: Int, _ range: Range<Int>, prefixLength: Int) -> Stretch? {
    switch place(index) {
    case .left(let first) where left.prefixLength == prefixLength:
      let last = min(leftCount, range.upperBound)
      return Stretch(suffixes: left.suffixes(first..<first + last - index), count: last - index)
    case .right(let first) where right.prefixLength == prefixLength:
      let count = range.upperBound - index
      return Stretch(suffixes: right.suffixes(first..<first + count), count: count)
    default: return nil
    }
  }

  private func writeKey(_ index: Int, dropping dropped: Int, to leaf: NodeWriter, at offset: Int) {
    switch place(index) {
    case .left(let index): Self.writeKey(left, index, dropping: dropped, to: leaf, at: offset)
    case .new: leaf.copy(newKey.extracting(droppingFirst: dropped), at: offset)
    case .right(let index): Self.writeKey(right, index, dropping: dropped, to: leaf, at: offset)
    }
  }

  private static func writeKey(
    _ source: LeafNode, _ index: Int, dropping dropped: Int, to leaf: NodeWriter, at offset: Int
  ) {
    if dropped < source.prefixLength {
      leaf.copy(source.prefix.extracting(droppingFirst: dropped), at: offset)
      leaf.copy(source.suffix(index), at: offset + source.prefixLength - dropped)
    } else {
      leaf.copy(source.suffix(index).extracting(droppingFirst: dropped - source.prefixLength), at: offset)
    }
  }

  private func writeValues(
    _ range: Range<Int>, _ measure: Measure, to leaf: NodeWriter, ends: Int, values: Int
  ) {
    guard measure.valueBytes > 0 || measure.valueWidth == nil else { return }
    var end = 0
    var refIndex = 0
    for index in range {
      let value = value(index)
      var flag: UInt16 = 0
      if let ref = value.ref {
        leaf.setRef(refIndex, to: ref)
        leaf.store(UInt16(refIndex), at: values + end)
        refIndex += 1
        end += 2
        flag = LeafNode.Layout.refFlag
      }
      leaf.copy(value.bytes, at: values + end)
      end += value.bytes.byteCount
      if measure.valueWidth == nil {
        leaf.store(UInt16(end) | flag, at: ends + 2 * (index - range.lowerBound))
      }
    }
  }
}

/// A child of a branch: the least key it may hold, how many entries lie below, and the node.
struct TreeChild {
  /// Empty for the first child of a tree.
  var separator: [UInt8]
  var count: UInt64
  var ref: Ref
}
