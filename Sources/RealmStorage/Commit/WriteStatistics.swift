import Synchronization

/// What a database has written since it was opened, by this handle.
public struct WriteStatistics: Sendable, Equatable {
  /// Transactions whose nodes were written.
  public var commits = 0
  /// Bytes of the pages that their nodes stand in, and those of transactions cancelled after some were written.
  public var nodeBytes = 0
  /// Of those bytes, the nodes that had not changed and were moved, so that the file can become smaller.
  public var movedBytes = 0
  /// Bytes of meta pages. Commits that become durable together share one.
  public var metaBytes = 0
  /// Bytes of zeros written behind the end of the file, for commits to come.
  public var growthBytes = 0
  /// Of the pages with nodes, those that had held something before.
  public var recycledPages = 0

  public init() {}
}

/// Counts as the writer goes; read by anybody at any time.
struct WriteCounters: ~Copyable, Sendable {
  let commits = Atomic<Int>(0)
  let nodeBytes = Atomic<Int>(0)
  let movedBytes = Atomic<Int>(0)
  let metaBytes = Atomic<Int>(0)
  let growthBytes = Atomic<Int>(0)
  let recycledPages = Atomic<Int>(0)
}
