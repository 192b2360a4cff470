/// A key of a leaf in two parts: the prefix that all keys of the leaf have in common, and the bytes of this key behind
/// it.
struct LeafKey: ~Escapable {
  private let head: RawSpan
  private let tail: RawSpan

  @_lifetime(copy leaf)
  init(_ leaf: LeafNode, _ index: Int) {
    head = leaf.prefix
    tail = leaf.suffix(index)
  }

  @_lifetime(copy key)
  init(_ key: RawSpan) {
    head = key
    tail = key.extracting(first: 0)
  }

  func commonPrefix(_ other: LeafKey) -> Int {
    if head.byteCount > other.head.byteCount { return other.commonPrefix(self) }
    let common = head.commonPrefix(other.head)
    guard common == head.byteCount else { return common }
    // The bytes by which the head of `other` is longer are compared with the tail of this key.
    let rest = other.head.extracting(droppingFirst: common)
    let more = tail.commonPrefix(rest)
    guard more == rest.byteCount else { return common + more }
    return common + more + tail.extracting(droppingFirst: more).commonPrefix(other.tail)
  }

  func starts(with key: RawSpan) -> Bool { commonPrefix(LeafKey(key)) == key.byteCount }

  var count: Int { head.byteCount + tail.byteCount }

  func byte(_ index: Int) -> UInt8 {
    index < head.byteCount
      ? head.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      : tail.unsafeLoad(fromByteOffset: index - head.byteCount, as: UInt8.self)
  }

  var array: [UInt8] { first(count) }

  func first(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    bytes.append(head.extracting(first: min(count, head.byteCount)))
    bytes.append(tail.extracting(first: count - bytes.count))
    return bytes
  }

  func copy(first count: Int, to node: NodeWriter, at offset: Int) {
    let fromHead = min(count, head.byteCount)
    node.copy(head.extracting(first: fromHead), at: offset)
    node.copy(tail.extracting(first: count - fromHead), at: offset + fromHead)
  }
}
