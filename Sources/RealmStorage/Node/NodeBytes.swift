/// Bytes of a node's body, to be kept in a view.
///
/// A `RawSpan` that costs nothing to copy: in a struct that crosses modules, each copy of one asks the runtime how.
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

  /// The little-endian word of 2 bytes at an offset.
  @inlinable
  func word(at offset: Int) -> UInt16 {
    precondition(offset >= 0 && offset &+ 2 <= count, "a word outside of its bytes")
    return UInt16(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
}
