import CRealmPlatform

/// A node's bytes, for the length of a function.
///
/// Every node starts with 16 bytes that repeat what its ref says, then the refs of its children, so that recovery,
/// space accounting and checks need not know kinds (FORMAT.md, "Nodes"):
///
///     offset  size  field
///          0     8  identity   as in the ref: birth, kind, level
///          8     4  length     bytes, this header included; a multiple of 8
///         12     2  refCount
///         14     2  zero
///         16  w·n   refs       w = 24, sealed 32
///             ...   body       laid out by kind
///
/// - Invariant: the node was vouched for by its ref, its refs lie below and are no younger than it, and its kind's
///   validator accepted it, before the first view of it was made.
package struct NodeView: ~Escapable, BitwiseCopyable {
  enum Layout {
    static let identity = 0
    static let length = 8
    static let refCount = 12
    static let reserved = 14
    static let size = 16
  }

  // Two words, so that a view is passed in registers.
  private let body: UnsafeRawPointer
  private let bodyBytes: Int32
  /// Offset of the body in the node; its lowest bit tells that refs are sealed, since it is a multiple of 8.
  private let shape: UInt32

  @_lifetime(borrow owner)
  init<Owner: ~Copyable & ~Escapable>(
    _ base: UnsafeRawPointer, length: Int, refWidth: RefWidth, borrowing owner: borrowing Owner
  ) {
    self.init(
      base, length: length, refCount: Self.refCount(at: base), refWidth: refWidth, borrowing: owner)
  }

  /// Where the body of a plain file's node stands that has so many refs.
  @inline(__always)
  package static func bodyOffset(refCount: Int) -> Int { Layout.size &+ refCount &* RefWidth.plain.bytes }

  @inline(__always)
  static func refCount(at base: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: base.load(fromByteOffset: Layout.refCount, as: UInt16.self)))
  }

  /// With the count of refs known, the view is made without a look at the node.
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
  /// Bytes of the body, the padding at its end included.
  @inline(__always)
  package var bodyLength: Int { Int(bodyBytes) }

  var identity: UInt64 { loadUnchecked(at: Layout.identity) }
  package var refCount: Int { Int(loadUnchecked(at: Layout.refCount) as UInt16) }
  package var kind: UInt8 { UInt8(truncatingIfNeeded: identity >> 48) }
  package var level: UInt8 { UInt8(truncatingIfNeeded: identity >> 56) }
  package var birth: UInt64 { identity & Ref.maximumBirth }

  /// Offset of the body in the node.
  @inline(__always)
  package var bodyOffset: Int { Int(shape & ~1) }
  /// Bytes of the node.
  package var length: Int { bodyOffset + bodyLength }

  @inline(__always)
  package func ref(_ index: Int) -> Ref {
    let at = offset(ofRef: index)
    return Ref(
      place: loadUnchecked(at: at), identity: loadUnchecked(at: at &+ 8),
      check: loadUnchecked(at: at &+ 16), check2: isSealed ? loadUnchecked(at: at &+ 24) : 0)
  }

  /// The first ref from `index` on whose node lies in a transaction's arena.
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

  /// Four little-endian words of the body, by one check.
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

  /// The same, to be kept.
  @_lifetime(copy self)
  @inline(__always)
  package func part(at offset: Int, count: Int) -> NodeBytes {
    precondition(
      offset >= 0 && count >= 0 && offset <= bodyLength &- count, "bytes outside of the node's body")
    return _overrideLifetime(NodeBytes(body + offset, count: count, borrowing: self), copying: self)
  }

  /// Asks for a byte of the body that will be read soon, without waiting; nothing is read.
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

  /// What holds of every node, whatever its kind: checked before anything else of it is read.
  @inline(__always)
  func hasSoundHeader(for ref: Ref) -> Bool {
    guard identity == ref.identity, UInt32(length) == loadUnchecked(at: Layout.length) as UInt32,
      (loadUnchecked(at: Layout.reserved) as UInt16) == 0, bodyOffset <= length
    else { return false }
    return (refCount == 0) == (level == 0)
  }

  /// Whether the node of a ref starts here, where one does that was vouched for: two that start at one place differ in
  /// identity or length.
  @inline(__always)
  static func isNode(of ref: Ref, at base: UnsafeRawPointer) -> Bool {
    UInt64(littleEndian: base.load(fromByteOffset: Layout.identity, as: UInt64.self)) == ref.identity
      && UInt32(littleEndian: base.load(fromByteOffset: Layout.length, as: UInt32.self))
        == UInt32(truncatingIfNeeded: ref.length)
  }

  /// Refs point down the tree and never to something younger: no cycle can be made of such refs.
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
