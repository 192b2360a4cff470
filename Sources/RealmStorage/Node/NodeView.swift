import CRealmPlatform

/// The bytes of a node, for the length of a function.
///
/// Every node starts with 16 bytes that repeat the content of its ref, then the refs of its children. So recovery,
/// space accounting and checks need not know the kinds (FORMAT.md, "Nodes"):
///
///     offset  size  field
///          0     8  identity   as in the ref: birth, kind, level
///          8     4  length     bytes, this header included; a multiple of 8
///         12     2  refCount
///         14     2  zero
///         16  w·n   refs       w = 24, sealed 32
///             ...   body       laid out by kind
///
/// - Invariant: Before the first view of the node was made, its ref vouched for it, its refs were found to point to
///   lower levels and to nodes that are no younger, and the validator of its kind accepted it.
package struct NodeView: ~Escapable, BitwiseCopyable {
  enum Layout {
    static let identity = 0
    static let length = 8
    static let refCount = 12
    static let reserved = 14
    static let size = 16
  }

  // These are two words, so that a view is passed in registers.
  private let body: UnsafeRawPointer
  private let bodyBytes: Int32
  /// The offset of the body in the node, which is a multiple of 8. The lowest bit is set if refs are sealed.
  private let shape: UInt32

  @_lifetime(borrow owner)
  init<Owner: ~Copyable & ~Escapable>(
    _ base: UnsafeRawPointer, length: Int, refWidth: RefWidth, borrowing owner: borrowing Owner
  ) {
    self.init(
      base, length: length, refCount: Self.refCount(at: base), refWidth: refWidth, borrowing: owner)
  }

  /// The offset of the body in a plain file's node with `refCount` refs.
  @inline(__always)
  package static func bodyOffset(refCount: Int) -> Int { Layout.size &+ refCount &* RefWidth.plain.bytes }

  @inline(__always)
  static func refCount(at base: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: base.load(fromByteOffset: Layout.refCount, as: UInt16.self)))
  }

  /// Makes the view without a look at the node, because the caller knows the number of refs.
  @inline(__always)
  @_lifetime(borrow owner)
  init<Owner: ~Copyable & ~Escapable>(
    _ base: UnsafeRawPointer, length: Int, refCount: Int, refWidth: RefWidth, borrowing owner: borrowing Owner
  ) {
    let bodyOffset = Layout.size &+ refCount &* refWidth.bytes
    body = base + bodyOffset
    bodyBytes = Int32(truncatingIfNeeded: length &- bodyOffset)
    shape = UInt32(truncatingIfNeeded: bodyOffset) | (refWidth == .sealed ? 1 : 0)
  }

  @inline(__always)
  var base: UnsafeRawPointer { body - bodyOffset }
  @inline(__always)
  private var isSealed: Bool { shape & 1 != 0 }
  /// The number of bytes of the body, with the padding at its end.
  @inline(__always)
  package var bodyLength: Int { Int(bodyBytes) }

  var identity: UInt64 { loadUnchecked(at: Layout.identity) }
  package var refCount: Int { Int(loadUnchecked(at: Layout.refCount) as UInt16) }
  package var kind: UInt8 { UInt8(truncatingIfNeeded: identity >> 48) }
  package var level: UInt8 { UInt8(truncatingIfNeeded: identity >> 56) }
  package var birth: UInt64 { identity & Ref.maximumBirth }

  /// The offset of the body in the node.
  @inline(__always)
  package var bodyOffset: Int { Int(shape & ~1) }
  /// The number of bytes of the node.
  package var length: Int { bodyOffset + bodyLength }

  @inline(__always)
  package func ref(_ index: Int) -> Ref {
    let at = offset(ofRef: index)
    return Ref(
      place: loadUnchecked(at: at), identity: loadUnchecked(at: at &+ 8),
      check: loadUnchecked(at: at &+ 16), check2: isSealed ? loadUnchecked(at: at &+ 24) : 0)
  }

  /// The index of the first ref, from `index` on, whose node lies in a transaction's arena.
  @inline(__always)
  func nextDirty(from index: Int) -> Int? {
    let (count, width) = (refCount, isSealed ? RefWidth.sealed.bytes : RefWidth.plain.bytes)
    precondition(index >= 0 && Layout.size &+ count &* width <= bodyOffset, "no such ref in the node")
    var index = index
    while index < count {
      let place: UInt64 = loadUnchecked(at: Layout.size &+ index &* width)
      if place & Ref.dirtyBit != 0 { return index }
      index &+= 1
    }
    return nil
  }

  @inline(__always)
  private func offset(ofRef index: Int) -> Int {
    let at = Layout.size &+ index &* (isSealed ? RefWidth.sealed.bytes : RefWidth.plain.bytes)
    precondition(index >= 0 && index <= Int(UInt16.max) && at < bodyOffset, "no such ref in the node")
    return at
  }

  /// The little-endian integer at an offset of the body.
  @inline(__always)
  package func load<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ type: Integer.Type = Integer.self, at offset: Int
  ) -> Integer {
    precondition(
      offset >= 0 && offset <= bodyLength &- MemoryLayout<Integer>.size, "load outside of the node's body")
    return Integer(littleEndian: body.loadUnaligned(fromByteOffset: offset, as: Integer.self))
  }

  /// Four little-endian words of the body, with one check of the offset.
  @inline(__always)
  package func fourWords(at offset: Int) -> (UInt64, UInt64, UInt64, UInt64) {
    precondition(offset >= 0 && offset <= bodyLength &- 32, "load outside of the node's body")
    let words = body + offset
    return (
      UInt64(littleEndian: words.loadUnaligned(as: UInt64.self)),
      UInt64(littleEndian: words.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      UInt64(littleEndian: words.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
      UInt64(littleEndian: words.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    )
  }

  /// Bytes of the body.
  @_lifetime(copy self)
  @inline(__always)
  package func bytes(at offset: Int, count: Int) -> RawSpan { part(at: offset, count: count).span }

  /// Bytes of the body, in a form that can be kept.
  @_lifetime(copy self)
  @inline(__always)
  package func part(at offset: Int, count: Int) -> NodeBytes {
    precondition(
      offset >= 0 && count >= 0 && offset <= bodyLength &- count, "bytes outside of the node's body")
    return _overrideLifetime(NodeBytes(body + offset, count: count, borrowing: self), copying: self)
  }

  /// Asks the processor for a byte of the body that will be read soon. It does not wait and reads nothing.
  @inline(__always)
  package func prefetch(at offset: Int) {
    if offset >= 0, offset < bodyLength { cp_prefetch(body + offset, 1) }
  }

  /// The whole node, header and refs included.
  var allBytes: RawSpan {
    @_lifetime(copy self) get {
      _overrideLifetime(RawSpan(_unsafeStart: base, byteCount: length), copying: self)
    }
  }

  /// True if the header has what every node has, whatever its kind. This is checked before anything else of the node is
  /// read.
  @inline(__always)
  func hasSoundHeader(for ref: Ref) -> Bool {
    guard identity == ref.identity, UInt32(length) == loadUnchecked(at: Layout.length) as UInt32,
      (loadUnchecked(at: Layout.reserved) as UInt16) == 0, bodyOffset <= length
    else { return false }
    return (refCount == 0) == (level == 0)
  }

  /// True if the node of `ref` starts here.
  ///
  /// - Precondition: A verified node starts here. Two nodes that start at one place differ in identity or length.
  @inline(__always)
  static func isNode(of ref: Ref, at base: UnsafeRawPointer) -> Bool {
    UInt64(littleEndian: base.load(fromByteOffset: Layout.identity, as: UInt64.self)) == ref.identity
      && UInt32(littleEndian: base.load(fromByteOffset: Layout.length, as: UInt32.self))
        == UInt32(truncatingIfNeeded: ref.length)
  }

  /// True if all refs point to lower levels and to nodes that are no younger. Such refs can't form a cycle.
  func hasSoundRefs() -> Bool {
    let (birth, level, refCount) = (birth, level, refCount)
    for index in 0..<refCount {
      let child = ref(index)
      guard child.isWellFormed, child.birth <= birth, child.level < level else { return false }
    }
    return true
  }

  @inline(__always)
  private func loadUnchecked<Integer: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Integer {
    Integer(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: Integer.self))
  }
}
