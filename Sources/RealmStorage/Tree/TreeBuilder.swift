/// Builds an ordered tree from entries that come in order. It makes full nodes and writes each of them once.
package struct TreeBuilder {
  private let shape: TreeShape
  private let editor: NodeEditor
  private var leaves: [TreeChild] = []
  /// The number of leaves that are already written to the file.
  private var spilled = 0
  /// The entries of the leaf that is being filled.
  private var keys: [UInt8] = []
  private var keyEnds: [Int] = []
  private var values: [UInt8] = []
  private var valueEnds: [Int] = []
  /// The entries with a ref, in order.
  private var refs: [(entry: Int, ref: Ref)] = []
  /// The number of bytes that the first and the last key have in common at their start.
  private var prefixLength = 0
  private var hasOneKeyLength = true
  private var hasOneValueLength = true
  /// The last key of the previous leaf.
  private var lastKey: [UInt8]?
  /// The separator of the leaf that is being filled: the shortest start of its first key that tells
  /// it from the leaf before.
  private var separator: [UInt8] = []

  package init(shape: TreeShape = .standard, editor: NodeEditor) {
    self.shape = shape
    self.editor = editor
  }

  /// Adds an entry.
  ///
  /// - Precondition: `key` is greater than all keys added before.
  /// - Throws: `.limitExceeded` if the key is too long.
  package mutating func append(key: RawSpan, value: TreeValue) throws(StorageError) {
    guard key.byteCount <= OrderedTree.maximumKeyLength else {
      throw .limitExceeded(
        .keyLength(key.byteCount, maximum: OrderedTree.maximumKeyLength), path: editor.store.storage.path)
    }
    if !keyEnds.isEmpty {
      let last = self.key(keyEnds.count - 1)
      let order = keys.span.bytes.extracting(last).compare(key)
      precondition(order < 0, "TreeBuilder: keys come in order")
      let prefix = min(prefixLength, keys.span.bytes.extracting(self.key(0)).commonPrefix(key))
      let isAlike = hasOneKeyLength && key.byteCount == keyEnds[0]
      if lengthWith(key, value, prefix: prefix) > shape.leafBytes {
        let count = beforeAlike(keyEnds.count)
        if count < keyEnds.count {
          flush(first: count)
          return try append(key: key, value: value)
        }
        flush()
      } else if wouldSwell(prefix, isAlike) {
        flush()
      } else {
        prefixLength = prefix
      }
    }
    if keyEnds.isEmpty {
      startLeaf(key)
      prefixLength = key.byteCount
    }
    hasOneKeyLength = hasOneKeyLength && (keyEnds.isEmpty || key.byteCount == keyEnds[0])
    hasOneValueLength =
      hasOneValueLength && value.ref == nil && (valueEnds.isEmpty || value.bytes.byteCount == valueEnds[0])
    keys.append(key)
    values.append(value.bytes)
    if let ref = value.ref { refs.append((keyEnds.count, ref)) }
    keyEnds.append(keys.count)
    valueEnds.append(values.count)
  }

  /// Adds the entries of a leaf at the indices `places`, which are in order. These entries and all entries added
  /// before have no values.
  ///
  /// - Precondition: their keys are greater than all keys added before.
  mutating func append(_ places: [UInt16], of leaf: borrowing LeafNode) {
    guard let first = places.first, let last = places.last else { return }
    begin(
      first: leaf.key(Int(first)).span.bytes, last: leaf.key(Int(last)).span.bytes,
      length: leaf.keyWidth.map { $0 + leaf.prefixLength })
    leaf.append(places, to: &keys, ends: &keyEnds)
    endLeaves()
  }

  /// Adds keys that have no values and stand one after another. The entries added before have no values either.
  ///
  /// - Parameter ends: the end of each key in `added`.
  /// - Precondition: the keys are in order, and greater than all keys added before.
  mutating func append(keys added: RawSpan, ends: [Int]) {
    guard let first = ends.first else { return }
    let areAlike = !ends.indices.contains { ends[$0] != ($0 + 1) * first }
    let last = ends.count > 1 ? ends[ends.count - 2] : 0
    begin(
      first: added.extracting(0..<first), last: added.extracting(last..<added.byteCount),
      length: areAlike ? first : nil)
    let start = keys.count
    keys.append(added)
    keyEnds.reserveCapacity(keyEnds.count + ends.count)
    for end in ends { keyEnds.append(start + end) }
    endLeaves()
  }

  /// Prepares the leaf for keys without values that are to be added.
  ///
  /// - Parameter length: the length of each key; nil if the lengths differ.
  private mutating func begin(first: RawSpan, last: RawSpan, length: Int?) {
    if !keyEnds.isEmpty {
      let common = keys.span.bytes.extracting(key(0)).commonPrefix(last)
      if wouldSwell(min(prefixLength, common), hasOneKeyLength && length == keyEnds[0]) { flush() }
    }
    if keyEnds.isEmpty { startLeaf(first) }
  }

  /// Writes the leaves that are full, after keys without values were added.
  private mutating func endLeaves() {
    while true {
      let count = fitting
      guard count < keyEnds.count else { break }
      flush(first: beforeAlike(count))
    }
    endKeys()
  }

  /// Writes a leaf of the first `count` keys, which have no values. The other keys begin the next leaf.
  private mutating func flush(first count: Int) {
    let rest = (
      keys: Array(keys[keyEnds[count - 1]...]), ends: keyEnds[count...].map { $0 - keyEnds[count - 1] }
    )
    keyEnds.removeLast(rest.ends.count)
    keys.removeLast(rest.keys.count)
    endKeys()
    flush()
    startLeaf(rest.keys.span.bytes.extracting(first: rest.ends[0]))
    (keys, keyEnds) = rest
    endKeys()
  }

  /// The number of keys that a leaf gets of the first `count` keys, which would fill it. If the last of these keys have
  /// one length, are at least half of them, and stand behind at least `worthALeaf` others, they begin the next leaf,
  /// because they take fewer bytes there.
  private func beforeAlike(_ count: Int) -> Int {
    guard values.isEmpty, refs.isEmpty, !haveOneLength(count) else { return count }
    let length = key(count - 1).count
    var first = count - 1
    while first > 0, key(first - 1).count == length { first -= 1 }
    return first >= Self.worthALeaf && count - first >= count / 2 ? first : count
  }

  /// The number of keys that fit into one leaf, counted from the first key. The keys have no values.
  private var fitting: Int {
    let alike = countOfOneLength
    if lengthOf(keyEnds.count, alike) <= shape.leafBytes { return keyEnds.count }
    var (low, high) = (1, keyEnds.count - 1)
    while low < high {
      let count = (low + high + 1) / 2
      if lengthOf(count, alike) <= shape.leafBytes { low = count } else { high = count - 1 }
    }
    return low
  }

  /// The bytes of the body with the first `count` keys. The first `alike` keys have one length.
  private func lengthOf(_ count: Int, _ alike: Int) -> Int {
    let prefix = commonPrefix(count)
    return LeafNode.Layout.prefix + prefix + keyEnds[count - 1] - prefix * count
      + (count <= alike ? 0 : 2 * count)
  }

  /// The number of keys, from the first one on, that have the length of the first key.
  private var countOfOneLength: Int {
    let length = keyEnds[0]
    for index in 1..<max(keyEnds.count, 1) where keyEnds[index] != (index + 1) * length { return index }
    return keyEnds.count
  }

  /// The number of bytes that the first `count` keys have in common. The keys are in order, so the
  /// first and the last decide.
  private func commonPrefix(_ count: Int) -> Int {
    let bytes = keys.span.bytes
    return bytes.extracting(key(0)).commonPrefix(bytes.extracting(key(count - 1)))
  }

  private func haveOneLength(_ count: Int) -> Bool {
    // This quick test of the total length already refuses most keys whose lengths differ.
    keyEnds[count - 1] == count * keyEnds[0] && countOfOneLength >= count
  }

  /// Updates the prefix, the lengths and the ends of values after keys without values were added.
  private mutating func endKeys() {
    let prefix = commonPrefix(keyEnds.count)
    prefixLength = prefix
    hasOneKeyLength = haveOneLength(keyEnds.count)
    valueEnds = [Int](repeating: 0, count: keyEnds.count)
  }

  private mutating func startLeaf(_ key: RawSpan) {
    guard let lastKey else { return }
    let last = lastKey.span.bytes
    precondition(last.compare(key) < 0, "TreeBuilder: keys come in order")
    separator = key.extracting(first: last.commonPrefix(key) + 1).array
  }

  /// Whether the keys of the leaf would take more than half as much room again, because the new keys have less in
  /// common with them or have other lengths. Then the new keys begin a leaf of their own. So the many entries of one
  /// value in an index keep taking only a few bytes each.
  private func wouldSwell(_ prefix: Int, _ isAlike: Bool) -> Bool {
    let count = keyEnds.count
    guard count >= Self.worthALeaf else { return false }
    let ends = 2 * count
    let length = prefixLength + keys.count - prefixLength * count + (hasOneKeyLength ? 0 : ends)
    let swollen = prefix + keys.count - prefix * count + (isAlike ? 0 : ends)
    return swollen - length > length / 2
  }
  /// The least number of entries that are worth a leaf, which takes room in a branch.
  private static let worthALeaf = 32

  /// The bytes of refs and body that the leaf would take with one more entry.
  ///
  /// - Parameter prefix: the number of bytes that all of its keys would have in common.
  private func lengthWith(_ key: RawSpan, _ value: TreeValue, prefix: Int) -> Int {
    let count = keyEnds.count + 1
    let isOneKeyLength = hasOneKeyLength && key.byteCount == keyEnds[0]
    let isOneValueLength =
      hasOneValueLength && value.ref == nil && value.bytes.byteCount == valueEnds[0]
    let refCount = refs.count + (value.ref == nil ? 0 : 1)
    return LeafNode.Layout.prefix + prefix + keys.count + key.byteCount - prefix * count
      + (isOneKeyLength ? 0 : 2 * count) + (isOneValueLength ? 0 : 2 * count)
      + values.count + value.bytes.byteCount + refCount * (editor.store.refWidth.bytes + 2)
  }

  private mutating func flush() {
    guard !keyEnds.isEmpty else { return }
    leaves.append(TreeChild(separator: separator, count: UInt64(keyEnds.count), ref: writeLeaf()))
    lastKey = Array(keys[key(keyEnds.count - 1)])
    keys.removeAll(keepingCapacity: true)
    keyEnds.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    valueEnds.removeAll(keepingCapacity: true)
    refs.removeAll(keepingCapacity: true)
    (prefixLength, hasOneKeyLength, hasOneValueLength) = (0, true, true)
  }

  /// Writes the newest leaves to the file if the transaction is large. If the caller has marked the arena before, the
  /// room of these leaves can be used again.
  mutating func spillIfLarge() throws(StorageError) {
    guard leaves.count >= spilled + Self.fewLeaves else { return }
    let refs = try editor.spillIfLarge(leaves[spilled...].map { $0.ref })
    for ref in refs {
      leaves[spilled].ref = ref
      spilled += 1
    }
    editor.arena.rewind()
  }
  private static let fewLeaves = 64

  /// The leaves, which the caller puts into other branches.
  mutating func finishLeaves() -> [TreeChild] {
    flush()
    defer { (leaves, spilled) = ([], 0) }
    return leaves
  }

  /// The root of the tree; null if there are no entries.
  package mutating func finish() throws(StorageError) -> Ref {
    flush()
    var children = leaves
    while children.count > 1 { children = level(above: children) }
    (leaves, spilled) = ([], 0)
    return children.first?.ref ?? .null
  }

  /// Makes full branches above the children. The last branch does not get just a single child.
  private func level(above children: [TreeChild]) -> [TreeChild] {
    var made: [TreeChild] = []
    var start = 0
    while start < children.count {
      var end = start
      var bytes = 0
      while end < children.count, end - start < shape.fanOut {
        bytes += 10 + children[end].separator.count + editor.store.refWidth.bytes
        if end - start >= 4, bytes > shape.branchBytes { break }
        end += 1
      }
      if children.count - end == 1 { end = end - start > 2 ? end - 1 : children.count }
      made += BranchNode.make(Array(children[start..<end]), shape: shape, editor: editor)
      start = end
    }
    return made
  }

  private func writeLeaf() -> Ref {
    typealias Layout = LeafNode.Layout
    let count = keyEnds.count
    let keyBytes = keys.count - prefixLength * count
    let body =
      Layout.prefix + prefixLength + (hasOneKeyLength ? 0 : 2 * count) + (hasOneValueLength ? 0 : 2 * count)
      + keyBytes + values.count + 2 * refs.count
    let level = refs.map { $0.ref.level + 1 }.max() ?? 0
    let arena = editor.arena
    let leaf = arena.make(kind: .leaf, level: level, refCount: refs.count, bodyLength: body)
    leaf.store(UInt16(count), at: Layout.count)
    leaf.store(UInt16(prefixLength), at: Layout.prefixLength)
    leaf.store(hasOneKeyLength ? UInt16(keyEnds[0] - prefixLength) : Layout.variable, at: Layout.keyWidth)
    leaf.store(hasOneValueLength ? UInt16(valueEnds[0]) : Layout.variable, at: Layout.valueWidth)
    let keys = keys.span.bytes
    leaf.copy(keys.extracting(first: prefixLength), at: Layout.prefix)
    let ends = Layout.prefix + prefixLength
    var at = ends + (hasOneKeyLength ? 0 : 2 * count) + (hasOneValueLength ? 0 : 2 * count)
    for index in 0..<count {
      if !hasOneKeyLength {
        leaf.store(UInt16(keyEnds[index] - prefixLength * (index + 1)), at: ends + 2 * index)
      }
      let suffix = keys.extracting(key(index)).extracting(droppingFirst: prefixLength)
      leaf.copy(suffix, at: at)
      at += suffix.byteCount
    }
    writeValues(to: leaf, ends: ends + (hasOneKeyLength ? 0 : 2 * count), values: at)
    return leaf.ref
  }

  private func writeValues(to leaf: NodeWriter, ends: Int, values start: Int) {
    let values = values.span.bytes
    guard !hasOneValueLength else { return leaf.copy(values, at: start) }
    var (refIndex, end) = (0, 0)
    for index in valueEnds.indices {
      var flag: UInt16 = 0
      if refIndex < refs.count, refs[refIndex].entry == index {
        leaf.setRef(refIndex, to: refs[refIndex].ref)
        leaf.store(UInt16(refIndex), at: start + end)
        refIndex += 1
        end += 2
        flag = LeafNode.Layout.refFlag
      }
      let value = values.extracting((index == 0 ? 0 : valueEnds[index - 1])..<valueEnds[index])
      leaf.copy(value, at: start + end)
      end += value.byteCount
      leaf.store(UInt16(end) | flag, at: ends + 2 * index)
    }
  }

  private func key(_ index: Int) -> Range<Int> { (index == 0 ? 0 : keyEnds[index - 1])..<keyEnds[index] }
}
