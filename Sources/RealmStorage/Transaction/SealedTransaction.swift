/// A transaction whose changes are complete and on their way to disk.
package struct SealedTransaction {
  private let writer: Writer
  private let base: Version
  /// Nil of one that changed nothing.
  private let pending: CommitGroup.Pending?

  init(_ writer: Writer, _ base: Version, _ pending: CommitGroup.Pending?) {
    self.writer = writer
    self.base = base
    self.pending = pending
  }

  /// Waits until the changes are durable, or published, as was asked; answers the number of a version that shows them.
  ///
  /// Several that were sealed one upon another become one version, by the thread that waits first. One that is not
  /// waited for becomes part of the next version that anybody waits for.
  ///
  /// - Throws: `StorageError` where they were not written; after `.system` of a sync their outcome is known only when
  ///   the database is opened again.
  @discardableResult
  package func wait() throws(StorageError) -> UInt64 {
    defer { writer.rest() }
    guard let pending else { return try writer.waitForFate(of: base) }
    return try writer.finish(pending)
  }
}
