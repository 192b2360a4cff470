/// A transaction whose changes are complete and on their way to disk.
package struct SealedTransaction {
  private let writer: Writer
  private let fate: Fate

  enum Fate {
    case own(CommitGroup.Pending)
    /// Of one that changed nothing: that of what it was built on.
    case basis(CommitGroup.Pending)
    /// Nothing changed and nothing was on its way: the version it has seen.
    case known(UInt64)
  }

  init(_ writer: Writer, _ fate: Fate) {
    self.writer = writer
    self.fate = fate
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
    defer { writer.gate.rest() }
    switch fate {
    case .own(let pending): return try writer.leader.finish(pending)
    case .basis(let pending): return try writer.leader.waitForFate(of: pending)
    case .known(let number): return number
    }
  }
}
