import RealmStorage

/// The log that orders all that happens. Any node may append to it, and all nodes follow it.
package protocol EventLog: AnyObject {
  /// The version of the last entry.
  var end: UInt64 { get }

  /// The entry of a version; nil of one that is not there, or not any more.
  func record(at version: UInt64) throws(StorageError) -> LogRecord?

  /// Appends entries.
  func append(_ records: [LogRecord]) throws(StorageError)

  /// What the entries up to a version did is durable in the state of a node.
  func noteIntegrated(upTo version: UInt64)
}

/// A log in memory, for several nodes of one process. It has the entries as bytes, as a log that several machines share has them.
package final class MemoryLog: EventLog {
  private var records: [[UInt8]] = []

  package init() {}

  package var end: UInt64 { UInt64(records.count) }

  package func record(at version: UInt64) throws(StorageError) -> LogRecord? {
    guard version > 0, version <= end else { return nil }
    let bytes = records[Int(version) - 1]
    guard let record = LogRecord(bytes) else {
      throw .corrupted(
        Corruption(.structure, offset: nil, length: bytes.count, birth: 0, nodeKind: "log entry"),
        path: "entry \(version) of the log")
    }
    return record
  }

  package func append(_ records: [LogRecord]) { self.records += records.map(\.bytes) }

  package func noteIntegrated(upTo version: UInt64) {}
}

/// The log of a server with one node. An entry waits in memory until the node has integrated it; then what it did stands in the file of the state, and nobody reads the entry again.
///
/// Nobody is told of an entry before it is integrated. So one that is lost with the process was never promised to anybody.
package final class EmbeddedLog: EventLog {
  private var waiting: [LogRecord] = []
  /// The version of the last entry that is integrated.
  private var integrated: UInt64

  /// - Parameter version: of the last entry that the state in the file has.
  package init(after version: UInt64) { integrated = version }

  package var end: UInt64 { integrated + UInt64(waiting.count) }

  package func record(at version: UInt64) -> LogRecord? {
    version > integrated && version <= end ? waiting[Int(version - integrated) - 1] : nil
  }

  package func append(_ records: [LogRecord]) { waiting += records }

  package func noteIntegrated(upTo version: UInt64) {
    guard version > integrated else { return }
    waiting.removeFirst(Int(version - integrated))
    integrated = version
  }
}
