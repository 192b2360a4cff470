import RealmStorage

/// The log that orders all events. Any node may append to it, and all nodes follow it.
package protocol EventLog: AnyObject {
  /// The version of the last entry.
  var end: UInt64 { get }

  /// Returns the entry of a version; nil if the log does not have it yet, or not any more.
  func record(at version: UInt64) throws(StorageError) -> LogRecord?

  /// Appends entries.
  func append(_ records: [LogRecord]) throws(StorageError)

  /// Tells the log that a node has made the effects of all entries up to a version durable in its state.
  func noteIntegrated(upTo version: UInt64)
}

/// A log in memory, for several nodes of one process. It keeps the entries as bytes, like a log that several machines
/// share.
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

/// The log of a server with one node. An entry waits in memory until the node has integrated it. From then on its
/// effects are in the file of the state, and nobody reads the entry again.
///
/// Clients are told nothing of an entry before it is integrated. So nothing was promised about an entry that is lost
/// with the process.
package final class EmbeddedLog: EventLog {
  private var waiting: [LogRecord] = []
  /// The version of the last entry that is integrated.
  private var integrated: UInt64

  /// - Parameter version: the version of the last entry that is integrated into the state in the file.
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
