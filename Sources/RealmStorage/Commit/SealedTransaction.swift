/// A transaction whose changes are complete and on their way to disk.
package struct SealedTransaction {
  private let writer: Writer
  private let fate: Fate

  enum Fate {
    case own(CommitGroup.Pending)
    /// The transaction changed nothing. Its fate is that of the commit that it was built on.
    case basis(CommitGroup.Pending)
    /// The transaction changed nothing and no commit was in progress. The number is that of the version that it has
    /// seen.
    case known(UInt64)
  }

  init(_ writer: Writer, _ fate: Fate) {
    self.writer = writer
    self.fate = fate
  }

  /// Waits until the changes are durable or published, as the durability of the transaction asks. Returns the number of
  /// a version that shows them.
  ///
  /// Transactions that were sealed one upon another become one version, which the thread that waits first writes. A
  /// transaction that nobody waits for becomes part of the next version that anybody waits for.
  ///
  /// - Throws: `StorageError` if the changes were not written; after `.system` of a sync their outcome is known only
  ///   when the database is opened again.
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
