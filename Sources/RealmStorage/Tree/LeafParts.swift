/// The entries that a leaf is to have: the first entries of one leaf, perhaps a new entry, and the last entries of
/// another leaf.
///
/// Every change of a leaf has this form. An insertion has the same leaf on both sides, and a merge has two leaves. So a
/// change copies stretches of bytes and decodes nothing.
struct LeafParts: ~Escapable {
  private let left: LeafNode
  private let leftCount: Int
  private let right: LeafNode
  private let rightStart: Int
  private let newKey: RawSpan
  private let newValue: TreeValue
  private let hasNew: Bool
  let count: Int

  /// `leaf` with one new entry in place of the entries `replaced`.
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

  /// The places in the left leaf of the entries in `range` that come from it.
  private func left(_ range: Range<Int>) -> Range<Int> {
    min(range.lowerBound, leftCount)..<min(range.upperBound, leftCount)
  }

  private func hasNew(_ range: Range<Int>) -> Bool { hasNew && range.contains(leftCount) }

  /// The places in the right leaf of the entries in `range` that come from it.
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
    // The keys are in order, so all of them have in common what the first and the last key have in common.
    let prefixLength = key(range.lowerBound).commonPrefix(key(range.upperBound - 1))
    var measure = LeafMeasure(prefixLength: prefixLength)
    measure.add(left(range), of: left)
    if hasNew(range) { measure.add(newKey, newValue) }
    measure.add(right(range), of: right)
    return measure
  }

  /// The bytes of the keys and values of the entries in `range`. Of each key the first `prefixLength` bytes, which all
  /// keys have in common, are not counted.
  private func bytes(_ range: Range<Int>, _ prefixLength: Int) -> Int {
    let (left, right) = (left(range), right(range))
    let new = hasNew(range) ? newKey.byteCount - prefixLength + newValue.storedLength : 0
    return self.left.keyBytes(left, prefixLength) + self.left.values(left).byteCount + new
      + self.right.keyBytes(right, prefixLength) + self.right.values(right).byteCount
  }

  // MARK: - Making leaves

  /// Makes as many leaves as the entries need. No leaf is longer than `limit`, unless it holds only one entry.
  func makeLeaves(limit: Int, editor: NodeEditor) -> OrderedNodes {
    guard count > 0 else { return .list([]) }
    let measure = measure(0..<count)
    guard count > 1, !fits(measure, limit, editor) else { return .one(leaf(0..<count, [], measure, editor)) }
    var leaves: [TreeChild] = []
    part(0..<count, measure, limit: limit, editor: editor, into: &leaves)
    return .list(leaves)
  }

  /// True if the keys of the right part follow those of the left part. It is false for two neighbours in a forged tree
  /// whose keys are not in order.
  var isInOrder: Bool {
    guard leftCount > 0, leftCount < count else { return true }
    return key(leftCount - 1).array.span.bytes.compare(key(leftCount).array.span.bytes) < 0
  }

  /// The length of the body of one leaf that holds all entries.
  var totalLength: Int { measure(0..<count).bodyLength }

  private func fits(_ measure: LeafMeasure, _ limit: Int, _ editor: NodeEditor) -> Bool {
    measure.bodyLength + measure.refCount * editor.store.refWidth.bytes <= limit
  }

  private func leaf(
    _ range: Range<Int>, _ separator: [UInt8], _ measure: LeafMeasure, _ editor: NodeEditor
  ) -> TreeChild {
    TreeChild(separator: separator, count: UInt64(range.count), ref: write(range, measure, editor))
  }

  /// Makes leaves of two parts of the entries in `range`. A part that does not fit into one leaf is divided again.
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

  /// The place at which the entries are divided. If the new entry is the last one, more are likely to follow it, so the
  /// full leaf stays as it is and the new entry begins the next leaf.
  private func splitPoint(_ range: Range<Int>, half: Int, _ prefixLength: Int) -> Int {
    if hasNew, leftCount == range.upperBound - 1, range.lowerBound == 0 { return range.upperBound - 1 }
    // Find the first entry that has at least half of the bytes before it.
    var (low, high) = (range.lowerBound + 1, range.upperBound - 1)
    while low < high {
      let middle = (low + high) / 2
      if bytes(range.lowerBound..<middle, prefixLength) >= half { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The shortest key that is greater than each key before `index` and not greater than the key at `index`.
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
