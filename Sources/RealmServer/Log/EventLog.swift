import RealmStorage

/// The log that orders all that happens. Any node may append to it, and all nodes follow it.
package protocol EventLog: AnyObject {
  /// The version of the last entry.
  var end: UInt64 { get }

  /// The entry of a version; nil of one that is not there, or not any more.
  func record(at version: UInt64) throws(StorageError) -> LogRecord?

  /// Appends entries. A log that stands in the state's file keeps them in memory until a node has integrated them.
  func append(_ records: [LogRecord]) throws(StorageError)

  /// A node has integrated an entry, in a transaction that it is about to commit.
  func noteIntegrated(_ version: UInt64, in transaction: WriteTransaction) throws(StorageError)
}

/// A log in memory, for several nodes of one process.
package final class MemoryLog: EventLog {
  private var records: [LogRecord] = []

  package init() {}

  package var end: UInt64 { UInt64(records.count) }

  package func record(at version: UInt64) -> LogRecord? {
    version > 0 && version <= end ? records[Int(version) - 1] : nil
  }

  package func append(_ records: [LogRecord]) { self.records += records }

  package func noteIntegrated(_ version: UInt64, in transaction: WriteTransaction) {}
}

/// A log in the file of the state: an entry becomes durable together with what it did, by one sync.
package final class EmbeddedLog: EventLog {
  private static let tree = "sync.log"
  private let database: Database
  private var waiting: [LogRecord] = []
  /// The version of the last entry in the file.
  private var stored: UInt64

  /// - Throws: `.corrupted`; what `Database.snapshot` throws.
  package init(_ database: Database) throws(StorageError) {
    self.database = database
    let tree = try database.snapshot().tree(Self.tree)
    let last = try tree.entry(at: tree.count() - 1)
    stored = last.map { $0.key.reduce(0) { $0 << 8 | UInt64($1) } } ?? 0
  }

  private static func key(_ version: UInt64) -> [UInt8] {
    var key: [UInt8] = []
    key.appendHighestFirst(version)
    return key
  }

  package var end: UInt64 { stored + UInt64(waiting.count) }

  package func record(at version: UInt64) throws(StorageError) -> LogRecord? {
    if version > stored { return version <= end ? waiting[Int(version - stored) - 1] : nil }
    let tree = try database.snapshot().tree(Self.tree)
    guard let bytes = try tree.value(for: Self.key(version)) else { return nil }
    guard let record = LogRecord(bytes) else { throw tree.damaged }
    return record
  }

  package func append(_ records: [LogRecord]) { waiting += records }

  package func noteIntegrated(_ version: UInt64, in transaction: WriteTransaction) throws(StorageError) {
    guard let record = try record(at: version), version > stored else { return }
    try transaction.tree(Self.tree).set(record.bytes, for: Self.key(version))
  }

  /// The entries up to a version are in the file.
  func noteStored(_ version: UInt64) {
    guard version > stored else { return }
    waiting.removeFirst(Int(version - stored))
    stored = version
  }
}
