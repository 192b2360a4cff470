/// The layout of entries in the leaf that gets them.
struct LeafMeasure {
  /// The number of bytes that all keys have in common at their start.
  let prefixLength: Int
  private(set) var count = 0
  /// The length of each key after the prefix; nil if the lengths differ.
  private(set) var keyWidth: Int?
  /// The length of each value; nil if the lengths differ or a value names a ref.
  private(set) var valueWidth: Int?
  private(set) var keyBytes = 0
  private(set) var valueBytes = 0
  private(set) var refCount = 0
  private(set) var level: UInt8 = 0

  init(prefixLength: Int) { self.prefixLength = prefixLength }

  mutating func add(_ key: RawSpan, _ value: TreeValue) {
    let width = key.byteCount - prefixLength
    add(
      1, keys: width, keyWidth: width, values: value.storedLength,
      valueWidth: value.ref == nil ? value.bytes.byteCount : nil)
    if let ref = value.ref { add(ref) }
  }

  /// Adds entries of a leaf. If the leaf has no refs, one length of keys and one length of values, the function does
  /// not look at each entry.
  mutating func add(_ range: Range<Int>, of leaf: LeafNode) {
    guard !range.isEmpty else { return }
    let refs = leaf.refPlaces(of: range)
    let difference = leaf.prefixLength - prefixLength
    add(
      range.count, keys: leaf.keyBytes(range, prefixLength),
      keyWidth: leaf.keyWidth(of: range).map { $0 + difference }, values: leaf.values(range).byteCount,
      valueWidth: refs.isEmpty ? leaf.valueWidth(of: range) : nil)
    for place in refs { add(leaf.view.ref(place)) }
  }

  private mutating func add(_ entries: Int, keys: Int, keyWidth: Int?, values: Int, valueWidth: Int?) {
    self.keyWidth = count == 0 || self.keyWidth == keyWidth ? keyWidth : nil
    self.valueWidth = count == 0 || self.valueWidth == valueWidth ? valueWidth : nil
    count += entries
    keyBytes += keys
    valueBytes += values
  }

  private mutating func add(_ ref: Ref) {
    refCount += 1
    level = max(level, ref.level + 1)
  }

  var bodyLength: Int {
    LeafNode.Layout.prefix + prefixLength + (keyWidth == nil ? 2 * count : 0)
      + (valueWidth == nil ? 2 * count : 0)
      + keyBytes + valueBytes
  }
}

/// Writes a leaf from entries of other leaves and from new entries. It copies stretches of entries at once.
struct LeafWriter: ~Escapable {
  private let node: NodeWriter
  private let measure: LeafMeasure
  private let keyEnds: Int
  private let valueEnds: Int
  private let keys: Int
  private let values: Int
  // The state of writing: the number of entries, the ends of the last key and the last value, and the number of refs.
  private var count = 0
  private var keyEnd = 0
  private var valueEnd = 0
  private var refCount = 0

  /// - Parameters:
  ///   - measure: the measure of the entries that will be appended.
  ///   - prefix: a key that begins with the bytes that all keys have in common.
  @_lifetime(borrow arena)
  init(_ measure: LeafMeasure, prefix: LeafKey, in arena: borrowing NodeArena) {
    typealias Layout = LeafNode.Layout
    node = arena.make(
      kind: .leaf, level: measure.level, refCount: measure.refCount, bodyLength: measure.bodyLength)
    self.measure = measure
    keyEnds = Layout.prefix + measure.prefixLength
    valueEnds = keyEnds + (measure.keyWidth == nil ? 2 * measure.count : 0)
    keys = valueEnds + (measure.valueWidth == nil ? 2 * measure.count : 0)
    values = keys + measure.keyBytes
    node.store(UInt16(measure.count), at: Layout.count)
    node.store(UInt16(measure.prefixLength), at: Layout.prefixLength)
    node.store(measure.keyWidth.map { UInt16($0) } ?? Layout.variable, at: Layout.keyWidth)
    node.store(measure.valueWidth.map { UInt16($0) } ?? Layout.variable, at: Layout.valueWidth)
    prefix.copy(first: measure.prefixLength, to: node, at: Layout.prefix)
  }

  /// The ref of the leaf. All entries must have been appended before.
  var ref: Ref {
    precondition(count == measure.count && refCount == measure.refCount, "a leaf without all of its entries")
    return node.ref
  }

  @_lifetime(self: copy self)
  mutating func append(_ key: RawSpan, _ value: TreeValue) {
    let suffix = key.extracting(droppingFirst: measure.prefixLength)
    node.copy(suffix, at: keys + keyEnd)
    keyEnd += suffix.byteCount
    if measure.keyWidth == nil { node.store(UInt16(keyEnd), at: keyEnds + 2 * count) }
    var flag: UInt16 = 0
    if let ref = value.ref {
      append(ref)
      valueEnd += 2
      flag = LeafNode.Layout.refFlag
    }
    node.copy(value.bytes, at: values + valueEnd)
    valueEnd += value.bytes.byteCount
    if measure.valueWidth == nil { node.store(UInt16(valueEnd) | flag, at: valueEnds + 2 * count) }
    count += 1
  }

  /// Adds a ref to the leaf and stores its index where the next value begins.
  @_lifetime(self: copy self)
  private mutating func append(_ ref: Ref) {
    node.setRef(refCount, to: ref)
    node.store(UInt16(refCount), at: values + valueEnd)
    refCount += 1
  }

  @_lifetime(self: copy self)
  mutating func append(_ range: Range<Int>, of leaf: LeafNode) {
    guard !range.isEmpty else { return }
    if measure.keyWidth == nil {
      leaf.copyKeyEnds(range, measure.prefixLength, to: node, at: keyEnds + 2 * count, after: keyEnd)
    }
    let keyBytes = leaf.keyBytes(range, measure.prefixLength)
    var target = node.bytes(at: keys + keyEnd, count: keyBytes)
    leaf.copyKeys(range, measure.prefixLength, to: &target)
    keyEnd += keyBytes

    if measure.valueWidth == nil {
      leaf.copyValueEnds(range, to: node, at: valueEnds + 2 * count, after: valueEnd)
    }
    let bytes = leaf.values(range)
    node.copy(bytes, at: values + valueEnd)
    appendRefs(range, of: leaf)
    valueEnd += bytes.byteCount
    count += range.count
  }

  /// Adds the refs of values that were copied, and stores the index of each where its value begins.
  @_lifetime(self: copy self)
  private mutating func appendRefs(_ range: Range<Int>, of leaf: LeafNode) {
    guard leaf.view.refCount > 0 else { return }
    let first = leaf.valueBounds(range.lowerBound).start
    for index in range {
      guard let place = leaf.refPlace(index) else { continue }
      node.setRef(refCount, to: leaf.view.ref(place))
      node.store(UInt16(refCount), at: values + valueEnd + leaf.valueBounds(index).start - first)
      refCount += 1
    }
  }
}
