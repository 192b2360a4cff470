import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport

/// The state that a server without crashes makes of the log, at any version.
///
/// A crash loses the log, except for what the server's file has integrated. The reference keeps all entries, also those
/// that may be lost. It integrates permanently only what a file is known to have durably.
final class ServerReference {
  private let database: Database
  private var records: [UInt64: LogRecord] = [:]
  /// The server's file has all entries up to this version durably, and the server may have told its clients so.
  private(set) var durable: UInt64 = 0

  init() throws {
    database = try Database(inMemory: "reference")
    try database.write { try ModelClass.make($0) }
  }

  func note(_ record: LogRecord, at version: UInt64) { records[version] = record }

  func noteDurable(_ version: UInt64) { durable = max(durable, version) }

  /// The tag of the entry of a version; nil if no such entry was appended.
  func tag(of version: UInt64) -> UInt64? { records[version]?.tag }

  /// Whether the log has an entry after a version.
  func goesBeyond(_ version: UInt64) -> Bool { records[version + 1] != nil }

  /// Notes that a file has opened at a version, from which the log goes on. The entries after that version are lost.
  func goOn(at version: UInt64) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try integrate(upTo: version, in: transaction)
    try transaction.commit()
    durable = version
    records = records.filter { $0.key <= version }
  }

  /// The fingerprint of what the file has to have at a version.
  func fingerprint(at version: UInt64) throws -> UInt64 {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try integrate(upTo: version, in: transaction)
    var hash = Fingerprint()
    SyncedContent.add(try ModelClass.texts(transaction) { UInt64($0) }, to: &hash)
    try Self.add(transaction.tree(Self.stateTree), to: &hash)
    try Self.add(transaction.tree(MergeRecords.treeName), to: &hash)
    return hash.value
  }

  private func integrate(upTo version: UInt64, in transaction: WriteTransaction) throws {
    let state = try ServerState(transaction, settings: ModelClass.settings)
    while state.version < version {
      guard let record = records[state.version + 1] else {
        throw SyncedFault("wrong: the file has version \(version), and the log ends at \(state.version)")
      }
      try state.integrate(record, in: transaction)
    }
  }

  /// The fingerprint of what a server's file has, of the same parts as `fingerprint(at:)`.
  static func fingerprint(of snapshot: Snapshot) throws -> UInt64 {
    var hash = Fingerprint()
    SyncedContent.add(try ModelClass.texts(snapshot) { UInt64($0) }, to: &hash)
    try add(snapshot.tree(stateTree), to: &hash)
    try add(snapshot.tree(MergeRecords.treeName), to: &hash)
    return hash.value
  }

  /// The tree that FORMAT.md describes under "The state of a server".
  private static let stateTree = "sync.server"
  /// The kinds of the hashes that clients may still ask for, of sessions, and of settings. No entry of the log tells of
  /// them.
  private static let kindsBesideTheLog: Set<UInt8> = [5, 6, 9]

  private static func add(_ tree: some ReadableTree, to hash: inout Fingerprint) throws {
    // Only the tree of the state has a header.
    let isOfState = try tree.value(for: [0]) != nil
    try tree.forEach { key, value in
      if isOfState, let kind = key.first, kindsBesideTheLog.contains(kind) { return true }
      hash.add(key)
      hash.add(value)
      return true
    }
  }
}

/// The log of a server. It passes each entry on to the reference.
final class NotedLog: EventLog {
  private let log: EmbeddedLog
  private let reference: ServerReference

  init(_ log: EmbeddedLog, _ reference: ServerReference) {
    (self.log, self.reference) = (log, reference)
  }

  var end: UInt64 { log.end }

  func record(at version: UInt64) throws(StorageError) -> LogRecord? { log.record(at: version) }

  func append(_ records: [LogRecord]) throws(StorageError) {
    for record in records {
      log.append([record])
      reference.note(record, at: log.end)
    }
  }

  func noteIntegrated(upTo version: UInt64) {
    log.noteIntegrated(upTo: version)
    reference.noteDurable(version)
  }
}
