import Synchronization

/// What one handle of a database has written since it was opened.
public struct WriteStatistics: Sendable, Equatable {
  /// The number of transactions whose nodes were written.
  public var commits = 0
  /// The bytes of the pages of their nodes, and of those of transactions that were cancelled after some nodes were written.
  public var nodeBytes = 0
  /// The part of `nodeBytes` that belongs to nodes which had not changed and were moved, so that the file can become smaller.
  public var movedBytes = 0
  /// The bytes of meta pages. Commits that become durable together share one meta page.
  public var metaBytes = 0
  /// The bytes of zeros that were written after the end of the file, as space for later commits.
  public var growthBytes = 0
  /// The number of pages with nodes that were part of the file before: pages that had been in use, and zeros that were
  /// written ahead.
  public var recycledPages = 0

  /// Makes statistics of zeros.
  public init() {}
}

/// The counters of a writer. Any thread may read them at any time.
struct WriteCounters: ~Copyable, Sendable {
  let commits = Atomic<Int>(0)
  let nodeBytes = Atomic<Int>(0)
  let movedBytes = Atomic<Int>(0)
  let metaBytes = Atomic<Int>(0)
  let growthBytes = Atomic<Int>(0)
  let recycledPages = Atomic<Int>(0)
}
