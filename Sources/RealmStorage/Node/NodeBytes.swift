/// Bytes of a node's body, to be kept in a view.
///
/// A `RawSpan` that costs nothing to copy: in a struct that crosses modules, each copy of one asks the runtime how.
package struct NodeBytes: ~Escapable, BitwiseCopyable {
  private let start: UnsafeRawPointer
  private let count: Int

  @inline(__always)
  @_lifetime(borrow owner)
  init<Owner: ~Copyable & ~Escapable>(
    _ start: UnsafeRawPointer, count: Int, borrowing owner: borrowing Owner
  ) {
    self.start = start
    self.count = count
  }

  package var isEmpty: Bool { count == 0 }

  @inline(__always)
  package var span: RawSpan {
    @_lifetime(copy self) get {
      _overrideLifetime(RawSpan(_unsafeStart: start, byteCount: count), copying: self)
    }
  }
}
