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

  // MARK: - Entries

  /// Places in the left leaf of those of some entries that it has.
  private func left(_ range: Range<Int>) -> Range<Int> {
    min(range.lowerBound, leftCount)..<min(range.upperBound, leftCount)
  }

  private func hasNew(_ range: Range<Int>) -> Bool { hasNew && range.contains(leftCount) }

  /// Places in the right leaf of those of some entries that it has.
  private func right(_ range: Range<Int>) -> Range<Int> {
    let skipped = leftCount + (hasNew ? 1 : 0) - rightStart
    return max(range.lowerBound - skipped, rightStart)..<max(range.upperBound - skipped, rightStart)
  }

  @_lifetime(copy self)
  private func key(_ index: Int) -> LeafKey {
    if index < leftCount { return LeafKey(left, index) }
    if hasNew, index == leftCount { return LeafKey(newKey) }
    return LeafKey(right, right(index..<index + 1).lowerBound)
  }

  // MARK: - Measure

  func measure(_ range: Range<Int>) -> LeafMeasure {
    // Keys are in order, so what the first and the last have in common all have.
    let prefixLength = key(range.lowerBound).commonPrefix(key(range.upperBound - 1))
    var measure = LeafMeasure(prefixLength: prefixLength)
    measure.add(left(range), of: left)
    if hasNew(range) { measure.add(newKey, newValue) }
    measure.add(right(range), of: right)
    return measure
  }

  /// The bytes of keys and values of some entries, without what keys of a prefix's length have in common.
  private func bytes(_ range: Range<Int>, _ prefixLength: Int) -> Int {
    let (left, right) = (left(range), right(range))
    let new = hasNew(range) ? newKey.byteCount - prefixLength + newValue.storedLength : 0
    return self.left.keyBytes(left, prefixLength) + self.left.values(left).byteCount + new
      + self.right.keyBytes(right, prefixLength) + self.right.values(right).byteCount
  }

  // MARK: - Making leaves

  /// Makes as many leaves as the entries need, none longer than `limit` unless it holds one entry.
  func makeLeaves(limit: Int, editor: NodeEditor) -> OrderedNodes {
    guard count > 0 else { return .list([]) }
    let measure = measure(0..<count)
    guard count > 1, !fits(measure, limit, editor) else { return .one(leaf(0..<count, [], measure, editor)) }
    var leaves: [TreeChild] = []
    part(0..<count, measure, limit: limit, editor: editor, into: &leaves)
    return .list(leaves)
  }

  /// False for neighbours that were forged so that one does not follow the other.
  var isInOrder: Bool {
    guard leftCount > 0, leftCount < count else { return true }
    return key(leftCount - 1).array.span.bytes.compare(key(leftCount).array.span.bytes) < 0
  }

  /// The length of the one leaf that would hold all.
  var totalLength: Int { measure(0..<count).bodyLength }

  private func fits(_ measure: LeafMeasure, _ limit: Int, _ editor: NodeEditor) -> Bool {
    measure.bodyLength + measure.refCount * editor.store.refWidth.bytes <= limit
  }

  private func leaf(
    _ range: Range<Int>, _ separator: [UInt8], _ measure: LeafMeasure, _ editor: NodeEditor
  ) -> TreeChild {
    TreeChild(separator: separator, count: UInt64(range.count), ref: write(range, measure, editor))
  }

  /// Makes leaves of two parts of some entries, each of which may be parted again.
  private func part(
    _ range: Range<Int>, _ measure: LeafMeasure, limit: Int, editor: NodeEditor,
    into leaves: inout [TreeChild]
  ) {
    let middle = splitPoint(range, half: (measure.keyBytes + measure.valueBytes) / 2, measure.prefixLength)
    for part in [range.lowerBound..<middle, middle..<range.upperBound] {
      let measure = self.measure(part)
      if part.count == 1 || fits(measure, limit, editor) {
        leaves.append(
          leaf(part, leaves.isEmpty ? [] : separator(before: part.lowerBound), measure, editor))
      } else {
        self.part(part, measure, limit: limit, editor: editor, into: &leaves)
      }
    }
  }

  /// An entry added at the end is the next of many: then the full leaf is left as it is.
  private func splitPoint(_ range: Range<Int>, half: Int, _ prefixLength: Int) -> Int {
    if hasNew, leftCount == range.upperBound - 1, range.lowerBound == 0 { return range.upperBound - 1 }
    // The first before which half of the bytes stand.
    var (low, high) = (range.lowerBound + 1, range.upperBound - 1)
    while low < high {
      let middle = (low + high) / 2
      if bytes(range.lowerBound..<middle, prefixLength) >= half { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The shortest key that is greater than all before `index` and not greater than the one there.
  private func separator(before index: Int) -> [UInt8] {
    let right = key(index)
    return right.first(key(index - 1).commonPrefix(right) + 1)
  }

  private func write(_ range: Range<Int>, _ measure: LeafMeasure, _ editor: NodeEditor) -> Ref {
    let arena = editor.arena
    var leaf = LeafWriter(measure, prefix: key(range.lowerBound), in: arena)
    leaf.append(left(range), of: left)
    if hasNew(range) { leaf.append(newKey, newValue) }
    leaf.append(right(range), of: right)
    return leaf.ref
  }
}
