/// One committed state of the database: what a reader starts from.
package struct Version: Sendable, Equatable {
  /// Grows with every commit; a number that a meta page names as given never means anything else.
  package var number: UInt64
  /// Vouches for all the version reaches; null when it is empty.
  package var root: Ref
  /// Pages of the file when the version was written. All of its nodes lie below.
  package var pageCount: Int

  package var end: UInt64 { UInt64(pageCount) * UInt64(FilePlace.page) }
}
