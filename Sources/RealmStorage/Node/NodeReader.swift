/// A version that can be read: a snapshot, or a transaction with its own changes.
package protocol NodeReader: AnyObject {
  /// The root of the version's trees; null if the version is empty.
  var root: Ref { get }
  /// The access to the nodes of the version. Its views live no longer than the function that takes the access.
  @_lifetime(borrow self)
  func access() -> NodeAccess
}

extension NodeAccess {
  /// Makes an access to the nodes of `reader`. It lives no longer than `owner`, which keeps the reader.
  @inline(__always)
  @_lifetime(borrow owner)
  package init<Reader: NodeReader, Owner: ~Copyable & ~Escapable>(
    _ reader: Reader, keptBy owner: borrowing Owner
  ) {
    self = _overrideLifetime(reader.access(), borrowing: owner)
  }
}
