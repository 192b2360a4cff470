/// Builds an ordered tree from entries that come in order: full nodes, written once.
package struct TreeBuilder {
  private let shape: TreeShape
  private let editor: NodeEditor
  private var leaves: [TreeChild] = []
  /// The entries of the leaf being filled.
  private var keys: [UInt8] = []
  private var keyEnds: [Int] = []
  private var values: [UInt8] = []
  private var valueEnds: [Int] = []
  private var refs: [Ref?] = []
  private var refCount = 0
  private var lastKey: [UInt8]?

  package init(shape: TreeShape = .standard, editor: NodeEditor) {
    self.shape = shape
    self.editor = editor
  }

  /// Adds an entry.
  ///
  /// - Precondition: `key` is greater than all before it.
  /// - Throws: `.limitExceeded` for a key too long.
  package mutating func append(key: RawSpan, value: TreeValue) throws(StorageError) {
    guard key.byteCount <= OrderedTree.maximumKeyLength else {
      throw .limitExceeded(
        .keyLength(key.byteCount, maximum: OrderedTree.maximumKeyLength), path: editor.store.storage.path)
    }
    let isGreater = lastKey.map { $0.span.bytes.compare(key) < 0 } ?? true
    precondition(isGreater, "TreeBuilder: keys come in order")
    let key = key.array
    let refBytes = (refCount + (value.ref == nil ? 0 : 1)) * (editor.store.refWidth.bytes + 2)
    let length =
      LeafNode.Layout.prefix + keys.count + values.count + key.count + value.bytes.byteCount
      + 4 * (keyEnds.count + 1) + refBytes
    if !keyEnds.isEmpty, length > shape.leafBytes { flush() }
    if keyEnds.isEmpty, let lastKey {
      separator = Array(key.prefix(lastKey.span.bytes.commonPrefix(key.span.bytes) + 1))
    }
    keys += key
    keyEnds.append(keys.count)
    values += value.bytes.array
    valueEnds.append(values.count)
    refs.append(value.ref)
    if value.ref != nil { refCount += 1 }
    lastKey = key
  }

  private var separator: [UInt8] = []

  private mutating func flush() {
    guard !keyEnds.isEmpty else { return }
    leaves.append(TreeChild(separator: separator, count: UInt64(keyEnds.count), ref: writeLeaf()))
    keys.removeAll(keepingCapacity: true)
    keyEnds.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    valueEnds.removeAll(keepingCapacity: true)
    refs.removeAll(keepingCapacity: true)
    refCount = 0
  }

  /// The leaves, which other branches are to hold.
  mutating func finishLeaves() -> [TreeChild] {
    flush()
    defer { leaves = [] }
    return leaves
  }

  /// The root of the tree; null without entries.
  package mutating func finish() throws(StorageError) -> Ref {
    flush()
    var children = leaves
    while children.count > 1 { children = level(above: children) }
    leaves = []
    return children.first?.ref ?? .null
  }

  /// Full branches, and a last one that is not left with a single child.
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
    let (first, last) = (key(0), key(count - 1))
    let prefix = Array(first.prefix(Array(first).span.bytes.commonPrefix(Array(last).span.bytes)))
    let sameKeys = (1..<count).allSatisfy { key($0).count == first.count }
    let width = valueEnds[0]
    let sameValues = refCount == 0 && (1..<count).allSatisfy { valueEnds[$0] - valueEnds[$0 - 1] == width }
    let keyBytes = keys.count - prefix.count * count
    let body =
      Layout.prefix + prefix.count + (sameKeys ? 0 : 2 * count) + (sameValues ? 0 : 2 * count) + keyBytes
      + values.count + 2 * refCount
    let level = refs.reduce(UInt8(0)) { level, ref in ref.map { max(level, $0.level + 1) } ?? level }
    let arena = editor.arena
    let leaf = arena.make(kind: .leaf, level: level, refCount: refCount, bodyLength: body)
    leaf.store(UInt16(count), at: Layout.count)
    leaf.store(UInt16(prefix.count), at: Layout.prefixLength)
    leaf.store(sameKeys ? UInt16(first.count - prefix.count) : Layout.variable, at: Layout.keyWidth)
    leaf.store(sameValues ? UInt16(width) : Layout.variable, at: Layout.valueWidth)
    leaf.copy(prefix, at: Layout.prefix)
    var at = Layout.prefix + prefix.count
    if !sameKeys {
      for index in 0..<count {
        leaf.store(UInt16(keyEnds[index] - prefix.count * (index + 1)), at: at + 2 * index)
      }
      at += 2 * count
    }
    let ends = at
    if !sameValues { at += 2 * count }
    for index in 0..<count {
      let suffix = Array(key(index).dropFirst(prefix.count))
      leaf.copy(suffix, at: at)
      at += suffix.count
    }
    writeValues(to: leaf, ends: sameValues ? nil : ends, values: at)
    return leaf.ref
  }

  private func writeValues(to leaf: NodeWriter, ends: Int?, values start: Int) {
    var refIndex = 0
    var end = 0
    for index in valueEnds.indices {
      var flag: UInt16 = 0
      if let ref = refs[index] {
        leaf.setRef(refIndex, to: ref)
        leaf.store(UInt16(refIndex), at: start + end)
        refIndex += 1
        end += 2
        flag = LeafNode.Layout.refFlag
      }
      let value = Array(values[(index == 0 ? 0 : valueEnds[index - 1])..<valueEnds[index]])
      leaf.copy(value, at: start + end)
      end += value.count
      if let ends { leaf.store(UInt16(end) | flag, at: ends + 2 * index) }
    }
  }

  private func key(_ index: Int) -> ArraySlice<UInt8> {
    keys[(index == 0 ? 0 : keyEnds[index - 1])..<keyEnds[index]]
  }
}
