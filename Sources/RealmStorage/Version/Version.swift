/// One committed state of the database: what a reader starts from.
package struct Version: Sendable, Equatable {
  /// The number of the version, which grows with every commit. Numbers up to the `greatest` of a meta page are never
  /// given again.
  package var number: UInt64
  /// The ref of the root, which vouches for all that the version reaches; null if the version is empty.
  package var root: Ref
  /// The number of pages of the file when the version was written. All nodes of the version lie below its end.
  package var pageCount: Int

  package var end: UInt64 { UInt64(pageCount) * UInt64(FilePlace.page) }
}
