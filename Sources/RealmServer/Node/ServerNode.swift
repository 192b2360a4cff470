import RealmStorage
import RealmSync

/// Follows a log: integrates its entries into a state, several of them in one transaction.
package final class ServerNode {
  private let database: Database
  private let settings: ServerState.Settings
  private let log: any EventLog
  package private(set) var state: ServerState
  /// Entries that can't be integrated. Every node comes to the same ones.
  package private(set) var skipped: Set<UInt64> = []

  /// One transaction integrates so many bytes of changesets, about.
  private static let mostBytes = 1 << 20

  /// - Throws: `.corrupted`; what `Database.beginWrite` throws.
  package init(
    _ database: Database, settings: ServerState.Settings, log: any EventLog
  ) throws(StorageError) {
    (self.database, self.settings, self.log) = (database, settings, log)
    state = try Self.state(of: database, settings)
  }

  private static func state(
    of database: Database, _ settings: ServerState.Settings
  ) throws(StorageError) -> ServerState {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    return try ServerState(transaction, settings: settings)
  }

  /// Integrates all entries of the log that the state lacks. What they did is durable then.
  ///
  /// An entry that can't be integrated, since what it says passes a limit, has no effect. The entries that were integrated with it are integrated again without it.
  ///
  /// - Returns: what the uploads among them did, by their versions.
  /// - Throws: `StorageError` where the file can't be read or written. The entries wait then.
  @discardableResult
  package func follow() throws(StorageError) -> [UInt64: HistoryEntry] {
    var done: [UInt64: HistoryEntry] = [:]
    while state.version < log.end {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      var made: [UInt64: HistoryEntry] = [:]
      do throws(StorageError) {
        try integrate(in: transaction, &made)
        try transaction.commit()
        (log as? EmbeddedLog)?.noteStored(state.version)
        done.merge(made) { $1 }
      } catch {
        let failed = state.version
        transaction.cancel()
        state = try Self.state(of: database, settings)
        guard error.isOfEntry, skipped.insert(failed).inserted else { throw error }
      }
    }
    return done
  }

  private func integrate(
    in transaction: WriteTransaction, _ made: inout [UInt64: HistoryEntry]
  ) throws(StorageError) {
    var bytes = 0
    while state.version < log.end, bytes < Self.mostBytes {
      let version = state.version + 1
      guard let record = try log.record(at: version) else { return }
      if case .upload(let upload) = record.entry { bytes += upload.size }
      let isSkipped = skipped.contains(version)
      made[version] = try state.integrate(record, in: transaction, isSkipped: isSkipped)
      try log.noteIntegrated(version, in: transaction)
    }
  }
}

extension Upload {
  /// Bytes that the changeset takes, about.
  fileprivate var size: Int { changeset.objects.reduce(64) { $0 + 24 * ($1.instructions.count + 1) } }
}

extension StorageError {
  /// Whether whoever integrates the same entry comes to the same error.
  fileprivate var isOfEntry: Bool {
    switch self {
    case .notSyncable, .instructionDoesNotFit, .duplicateKey: true
    case .limitExceeded(let limit, _):
      switch limit {
      case .memory, .fileSize, .versions: false
      default: true
      }
    default: false
    }
  }
}
