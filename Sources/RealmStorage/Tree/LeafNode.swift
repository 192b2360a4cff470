/// A leaf of an ordered tree: entries in the order of their keys, byte by byte.
///
/// The prefix that all keys have in common is stored once. If all keys, or all values, have one length, the leaf needs
/// no table of their ends: then keys made of whole numbers take only a few bytes each. Body (FORMAT.md, "Leaf"):
///
///     offset  size  field
///          0     2  count         at least 1
///          2     2  prefixLength
///          4     2  keyWidth      bytes of each key after the prefix; ffff: see keyEnds
///          6     2  valueWidth    bytes of each value; ffff: see valueEnds
///          8     p  prefix
///              2·n  keyEnds       the end of each key in the keys; absent if all keys have one width
///              2·n  valueEnds     the end of each value in the values; absent if all values have one width;
///                                 bit 15 is set if the value starts with the 2-byte index of a ref
///                   keys          without their prefix
///                   values
///
/// - Invariant: a leaf holds as many refs as it has values that name a ref, and each ref is named once.
package struct LeafNode: ~Escapable {
  enum Layout {
    static let count = 0
    static let prefixLength = 2
    static let keyWidth = 4
    static let valueWidth = 6
    static let prefix = 8
    static let variable: UInt16 = 0xffff
    static let refFlag: UInt16 = 0x8000
  }

  let view: NodeView
  package let count: Int
  let prefixLength: Int
  /// Nil if the keys differ in length.
  let keyWidth: Int?
  let valueWidth: Int?
  private let keyEnds: Int
  private let valueEnds: Int
  private let keys: Int
  private let values: Int

  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    count = Int(view.load(UInt16.self, at: Layout.count))
    prefixLength = Int(view.load(UInt16.self, at: Layout.prefixLength))
    let keyWidth = view.load(UInt16.self, at: Layout.keyWidth)
    let valueWidth = view.load(UInt16.self, at: Layout.valueWidth)
    self.keyWidth = keyWidth == Layout.variable ? nil : Int(keyWidth)
    self.valueWidth = valueWidth == Layout.variable ? nil : Int(valueWidth)
    keyEnds = Layout.prefix + prefixLength
    valueEnds = keyEnds + (self.keyWidth == nil ? 2 * count : 0)
    keys = valueEnds + (self.valueWidth == nil ? 2 * count : 0)
    if let keyWidth = self.keyWidth {
      values = keys + keyWidth * count
    } else {
      values = keys + Int(view.load(UInt16.self, at: keyEnds + 2 * (count - 1)))
    }
  }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    let length = view.bodyLength
    guard length >= Layout.prefix else { return false }
    let count = Int(view.load(UInt16.self, at: Layout.count))
    let prefixLength = Int(view.load(UInt16.self, at: Layout.prefixLength))
    let keyWidth = view.load(UInt16.self, at: Layout.keyWidth)
    let valueWidth = view.load(UInt16.self, at: Layout.valueWidth)
    var end = Layout.prefix + prefixLength
    let keyEnds = end
    if keyWidth == Layout.variable { end += 2 * count }
    let valueEnds = end
    if valueWidth == Layout.variable { end += 2 * count }
    guard count >= 1, end <= length else { return false }
    guard
      let keyBytes = heap(
        view, ends: keyEnds, count: count, width: keyWidth, flag: 0,
        longest: OrderedTree.maximumKeyLength - prefixLength),
      let valueBytes = heap(
        view, ends: valueEnds, count: count, width: valueWidth, flag: Layout.refFlag, longest: length),
      end + keyBytes + valueBytes <= length
    else { return false }
    return keysGrow(view, count: count)
      && refsAreNamedOnce(view, valueEnds: valueEnds, values: end + keyBytes, count: count, width: valueWidth)
  }

  /// The number of bytes in a heap of keys or values; nil if its ends descend or if one of its items is
  /// longer than `longest`.
  private static func heap(
    _ view: NodeView, ends: Int, count: Int, width: UInt16, flag: UInt16, longest: Int
  ) -> Int? {
    guard width == Layout.variable else { return Int(width) <= longest ? Int(width) * count : nil }
    var last: UInt16 = 0
    for index in 0..<count {
      let end = view.load(UInt16.self, at: ends + 2 * index) & ~flag
      guard end >= last, Int(end - last) <= longest else { return nil }
      last = end
    }
    return Int(last)
  }

  /// Whether the keys ascend. Changes rely on this order: all keys have in common what the first and the
  /// last key have in common.
  private static func keysGrow(_ view: NodeView, count: Int) -> Bool {
    let leaf = LeafNode(view)
    if let width = leaf.keyWidth, (1..<8).contains(width) {
      let suffixes = leaf.suffixes(0..<count)
      var last: UInt64?
      for index in 0..<count {
        let suffix = suffixes.number(at: index * width, count: width)
        if let last, suffix <= last { return false }
        last = suffix
      }
      return true
    }
    var last = leaf.suffix(0)
    var lastHead = last.head
    for index in 1..<count {
      let suffix = leaf.suffix(index)
      let head = suffix.head
      // Most keys differ in their first 8 bytes.
      guard lastHead < head || (lastHead == head && last.compare(suffix) < 0) else { return false }
      (last, lastHead) = (suffix, head)
    }
    return true
  }

  private static func refsAreNamedOnce(
    _ view: NodeView, valueEnds: Int, values: Int, count: Int, width: UInt16
  ) -> Bool {
    guard width == Layout.variable else { return view.refCount == 0 }
    var next = 0
    var start = 0
    for index in 0..<count {
      let word = view.load(UInt16.self, at: valueEnds + 2 * index)
      let end = Int(word & ~Layout.refFlag)
      if word & Layout.refFlag != 0 {
        guard end - start >= 2, Int(view.load(UInt16.self, at: values + start)) == next else { return false }
        next += 1
      }
      start = end
    }
    return next == view.refCount
  }

  // MARK: - Entries

  var prefix: RawSpan {
    @_lifetime(copy self) get { view.bytes(at: Layout.prefix, count: prefixLength) }
  }

  /// A key without the prefix.
  @_lifetime(copy self)
  func suffix(_ index: Int) -> RawSpan {
    let (start, end) = suffixBounds(index)
    return view.bytes(at: keys + start, count: end - start)
  }

  func suffixBounds(_ index: Int) -> (Int, Int) {
    if let keyWidth { return (index * keyWidth, (index + 1) * keyWidth) }
    return (index == 0 ? 0 : keyEnd(index - 1), keyEnd(index))
  }

  /// The suffixes of a range of entries, which stand one after another.
  @_lifetime(copy self)
  func suffixes(_ range: Range<Int>) -> RawSpan {
    guard !range.isEmpty else { return view.bytes(at: keys, count: 0) }
    let (start, end) = (suffixBounds(range.lowerBound).0, suffixBounds(range.upperBound - 1).1)
    return view.bytes(at: keys + start, count: end - start)
  }

  /// Appends the keys at the indices `places`, which are in order, to `all`, and the end of each
  /// key in `all` to `ends`.
  func append(_ places: [UInt16], to all: inout [UInt8], ends: inout [Int]) {
    Gather.keys(
      places, count: count, prefix: prefix, words: keyEndWords(0..<count), width: keyWidth ?? 0,
      suffixes: view.bytes(at: keys, count: values - keys), to: &all, ends: &ends)
  }

  func keyLength(_ index: Int) -> Int {
    let (start, end) = suffixBounds(index)
    return prefixLength + end - start
  }

  package func key(_ index: Int) -> [UInt8] {
    let suffix = suffix(index)
    var key: [UInt8] = []
    key.reserveCapacity(prefixLength + suffix.byteCount)
    key.append(prefix)
    key.append(suffix)
    return key
  }

  func valueBounds(_ index: Int) -> (start: Int, end: Int, hasRef: Bool) {
    if let valueWidth { return (index * valueWidth, (index + 1) * valueWidth, false) }
    let word = view.load(UInt16.self, at: valueEnds + 2 * index)
    return (index == 0 ? 0 : valueEnd(index - 1), Int(word & ~Layout.refFlag), word & Layout.refFlag != 0)
  }

  /// The value of a key: bytes, and perhaps a ref.
  @_lifetime(copy self)
  package func value(_ index: Int) -> TreeValue {
    let (start, end, hasRef) = valueBounds(index)
    let skip = hasRef ? 2 : 0
    let ref = hasRef ? view.ref(Int(view.load(UInt16.self, at: values + start))) : nil
    return TreeValue(bytes: view.bytes(at: values + start + skip, count: end - start - skip), ref: ref)
  }

  /// The index, among the refs of the leaf, of the ref that a value names; nil if the value names none.
  func refPlace(_ index: Int) -> Int? {
    let (start, _, hasRef) = valueBounds(index)
    return hasRef ? Int(view.load(UInt16.self, at: values + start)) : nil
  }

  /// The values of a range of entries, which stand one after another.
  @_lifetime(copy self)
  func values(_ range: Range<Int>) -> RawSpan {
    guard !range.isEmpty else { return view.bytes(at: values, count: 0) }
    let (start, end) = (valueBounds(range.lowerBound).start, valueBounds(range.upperBound - 1).end)
    return view.bytes(at: values + start, count: end - start)
  }

  // MARK: - Stretches

  /// The bytes of the keys of a range of entries. Of each key the first `prefixLength` bytes, which all keys have in
  /// common, are not counted.
  func keyBytes(_ range: Range<Int>, _ prefixLength: Int) -> Int {
    suffixes(range).byteCount + range.count * (self.prefixLength - prefixLength)
  }

  /// The length of each suffix of a range that is not empty; nil if the lengths differ.
  func keyWidth(of range: Range<Int>) -> Int? {
    if let keyWidth { return keyWidth }
    let length = keyLength(range.lowerBound)
    for index in range where keyLength(index) != length { return nil }
    return length - prefixLength
  }

  /// The length of each value of a range that is not empty; nil if the lengths differ.
  func valueWidth(of range: Range<Int>) -> Int? {
    if let valueWidth { return valueWidth }
    let length = values(range.lowerBound..<range.lowerBound + 1).byteCount
    for index in range {
      let bounds = valueBounds(index)
      if bounds.end - bounds.start != length { return nil }
    }
    return length
  }

  /// The indices, among the refs of the leaf, of the refs that the values of a range name.
  func refPlaces(of range: Range<Int>) -> Range<Int> {
    guard view.refCount > 0 else { return 0..<0 }
    // The values name the refs in order.
    var places: Range<Int>?
    for index in range {
      if let place = refPlace(index) { places = (places?.lowerBound ?? place)..<place + 1 }
    }
    return places ?? 0..<0
  }

  /// Copies the keys of a range one after another, each without its first `prefixLength` bytes, which
  /// all keys have in common.
  func copyKeys(_ range: Range<Int>, _ prefixLength: Int, to target: inout MutableRawSpan) {
    let own = prefix.extracting(droppingFirst: min(prefixLength, self.prefixLength))
    Gather.stretch(
      of: suffixes(range), count: range.count, words: keyEndWords(range),
      start: suffixBounds(range.lowerBound).0, width: keyWidth ?? 0, prefix: own,
      dropping: max(0, prefixLength - self.prefixLength), to: &target)
  }

  /// Stores where each key of a range ends, if the first one begins at `start`.
  func copyKeyEnds(
    _ range: Range<Int>, _ prefixLength: Int, to node: NodeWriter, at offset: Int, after start: Int
  ) {
    let more = self.prefixLength - prefixLength
    guard let keyWidth else {
      let moved = start - suffixBounds(range.lowerBound).0
      guard more != 0 else {
        return node.copy(keyEndWords(range), at: offset, less: UInt16(truncatingIfNeeded: -moved))
      }
      return node.storeWords(range.count, at: offset) {
        UInt16(truncatingIfNeeded: keyEnd(range.lowerBound &+ $0) &+ moved &+ ($0 &+ 1) &* more)
      }
    }
    node.storeWords(range.count, at: offset) {
      UInt16(truncatingIfNeeded: start &+ ($0 &+ 1) &* (keyWidth &+ more))
    }
  }

  /// Stores where each value of a range ends, if the first one begins at `start`.
  func copyValueEnds(_ range: Range<Int>, to node: NodeWriter, at offset: Int, after start: Int) {
    guard let valueWidth else {
      let words = view.bytes(at: valueEnds + 2 * range.lowerBound, count: 2 * range.count)
      // The flags in bit 15 stay, because the ends stay less than the flag.
      let moved = start - valueBounds(range.lowerBound).start
      return node.copy(words, at: offset, less: UInt16(truncatingIfNeeded: -moved))
    }
    node.storeWords(range.count, at: offset) {
      UInt16(truncatingIfNeeded: start &+ ($0 &+ 1) &* valueWidth)
    }
  }

  /// The words that say where the suffixes of a range end; empty if all suffixes have one width.
  @_lifetime(copy self)
  private func keyEndWords(_ range: Range<Int>) -> RawSpan {
    keyWidth == nil
      ? view.bytes(at: keyEnds + 2 * range.lowerBound, count: 2 * range.count)
      : view.bytes(at: keyEnds, count: 0)
  }

  private func keyEnd(_ index: Int) -> Int { Int(view.load(UInt16.self, at: keyEnds + 2 * index)) }

  private func valueEnd(_ index: Int) -> Int {
    Int(view.load(UInt16.self, at: valueEnds + 2 * index) & ~Layout.refFlag)
  }

  // MARK: - Search

  /// The first entry whose key is not less than `key`, and whether its key equals `key`.
  package func search(_ key: RawSpan) -> (index: Int, found: Bool) { search(key, from: 0) }

  /// Searches for a key that is greater than all keys before `first`. Returns what `search(_:)` does.
  func search(_ key: RawSpan, from first: Int) -> (index: Int, found: Bool) {
    let common = prefix
    let head = key.extracting(first: min(key.byteCount, prefixLength))
    let order = common.compare(head)
    if order > 0 { return (first, false) }
    if order < 0 { return (count, false) }
    let rest = key.extracting(droppingFirst: prefixLength)
    let restHead = rest.head
    var (low, high) = (first, count)
    while low < high {
      let middle = (low + high) / 2
      let order = suffix(middle).compare(rest, head: restHead)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

/// The value that an ordered tree stores for a key: bytes, and perhaps a ref of something larger.
package struct TreeValue: ~Escapable {
  package let bytes: RawSpan
  package let ref: Ref?

  @_lifetime(copy bytes)
  package init(bytes: RawSpan, ref: Ref? = nil) {
    self.bytes = bytes
    self.ref = ref
  }

  /// The number of bytes that the value takes in a leaf.
  var storedLength: Int { bytes.byteCount + (ref == nil ? 0 : 2) }
}
