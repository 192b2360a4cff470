/// Bytes of a node's body, to be kept in a view.
///
/// It is like a `RawSpan`, but costs nothing to copy. A `RawSpan` in a struct that crosses modules asks the runtime at
/// each copy how to copy it.
@usableFromInline
package struct NodeBytes: ~Escapable, BitwiseCopyable {
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline let count: Int

  @inline(__always)
  @_lifetime(borrow owner)
  init<Owner: ~Copyable & ~Escapable>(
    _ start: UnsafeRawPointer, count: Int, borrowing owner: borrowing Owner
  ) {
    self.start = start
    self.count = count
  }

  @inlinable
  package var isEmpty: Bool { count == 0 }

  @inlinable
  package var span: RawSpan {
    @_lifetime(copy self) get {
      _overrideLifetime(RawSpan(_unsafeStart: start, byteCount: count), copying: self)
    }
  }

  /// The little-endian word of 2 bytes at an index, counted in words.
  @inlinable
  @inline(__always)
  func word(_ index: Int) -> UInt16 {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: count) / 2, "a word outside of its bytes")
    return UInt16(littleEndian: start.loadUnaligned(fromByteOffset: 2 &* index, as: UInt16.self))
  }

  /// The bytes from one offset to another.
  @_lifetime(copy self)
  @inlinable
  @inline(__always)
  func part(from lower: Int, to upper: Int) -> RawSpan {
    precondition(lower >= 0 && lower <= upper && upper <= count, "a part outside of its bytes")
    return _overrideLifetime(
      RawSpan(_unsafeStart: start + lower, byteCount: upper &- lower), copying: self)
  }
}
