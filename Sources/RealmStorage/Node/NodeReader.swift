/// One version that can be read: a snapshot, or a transaction with its own changes.
package protocol NodeReader: AnyObject {
  /// The root of the version's trees; null when it is empty.
  var root: Ref { get }
  /// Views taken of it live no longer than the function that took it.
  @_lifetime(borrow self)
  func access() -> NodeAccess
}

extension NodeAccess {
  /// The right to read what `reader` reads, for as long as `owner` lives, which keeps it.
  @inline(__always)
  @_lifetime(borrow owner)
  package init<Reader: NodeReader, Owner: ~Copyable & ~Escapable>(
    _ reader: Reader, keptBy owner: borrowing Owner
  ) {
    self = _overrideLifetime(reader.access(), borrowing: owner)
  }
}
