import RealmStorage
import RealmSync

/// Follows a log: integrates its entries into a state, several entries in one transaction.
package final class ServerNode {
  package let database: Database
  private let settings: ServerState.Settings
  private let log: any EventLog
  package private(set) var state: ServerState
  /// The versions of the entries that can't be integrated. They are the same at every node.
  package private(set) var skipped: Set<UInt64> = []

  /// The effects that were integrated and that `follow` has not returned yet, by version.
  private var done: [UInt64: HistoryEntry] = [:]
  /// True if the state in memory was changed, the file was not, and the file could not be read since. Then clients may
  /// be told nothing of the state.
  package private(set) var isStale = false
  /// Why the node integrates nothing more; nil if it goes on.
  package fileprivate(set) var halt: Halt?

  package enum Halt: Sendable, Equatable {
    /// The entries behind a version have to be integrated by rules of merging that this library does not know. A newer
    /// library goes on.
    case unknownSemantics(number: UInt64, version: UInt64)
    /// Another node has computed something else from the log up to a version.
    case otherState(version: UInt64)
  }

  /// The greatest time between an entry and the one before it, in milliseconds. If it is longer, the clock of one of
  /// the machines is wrong.
  package static let mostTime: UInt64 = 86_400_000

  /// Whether the clock of the machine is so far ahead of the last entry that one of the two is wrong. The administrator
  /// of the server has to say which one.
  package func isClockAhead(_ time: UInt64) -> Bool {
    state.version > 0 && time > state.time + Self.mostTime
  }

  /// The number of bytes of changesets that one transaction integrates, about.
  private static let mostBytes = 1 << 20

  /// - Throws: `ServerNodeProblem`: `.unknownSemantics` if the state in the file follows rules of merging that this
  ///   library does not know, because this node would then integrate the next entries otherwise than other nodes do.
  ///   `.storage` if the file can't be read.
  package init(
    _ database: Database, settings: ServerState.Settings, log: any EventLog
  ) throws(ServerNodeProblem) {
    (self.database, self.settings, self.log) = (database, settings, log)
    do throws(StorageError) {
      state = try Self.state(of: database, settings)
    } catch {
      throw .storage(error)
    }
    guard ServerState.knows(semantics: state.semantics) else {
      throw .unknownSemantics(stored: state.semantics, known: ServerState.newestSemantics)
    }
  }

  /// The version of the last entry of the log.
  package var end: UInt64 { log.end }

  /// Appends an entry to the log. `follow` integrates it.
  ///
  /// - Parameters:
  ///   - tag: a random number.
  ///   - time: the time of the machine, in milliseconds since 1970.
  /// - Throws: `StorageError` if the log can't be written.
  package func append(_ entry: LogEntry, tag: UInt64, time: UInt64) throws(StorageError) {
    try log.append([LogRecord(tag: tag, time: time, entry)])
  }

  static func state(
    of database: Database, _ settings: ServerState.Settings
  ) throws(StorageError) -> ServerState {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    return try ServerState(transaction, settings: settings)
  }

  /// Integrates all entries of the log that the state lacks, and makes their effects durable. It stops early if the
  /// node halts.
  ///
  /// An upload that can't be integrated, for example because it exceeds a limit, is refused as a whole. The entries of
  /// its transaction are then integrated again, with this upload skipped.
  ///
  /// - Returns: the effects of the uploads by version, for all entries that were integrated since `follow` returned the
  ///   last time.
  /// - Throws: `StorageError` if the file can't be read or written. Then the entries wait for the next call.
  @discardableResult
  package func follow() throws(StorageError) -> [UInt64: HistoryEntry] {
    if isStale { try readState() }
    while state.version < log.end, halt == nil {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      var made: [UInt64: HistoryEntry] = [:]
      do throws(StorageError) {
        let before = state.version
        try integrate(in: transaction, &made)
        guard state.version > before else { break }
        try transaction.commit()
        log.noteIntegrated(upTo: state.version)
        done.merge(made) { $1 }
      } catch {
        let failed = state.version
        transaction.cancel()
        isStale = true
        try readState()
        guard error.isOfEntry, skipped.insert(failed).inserted else { throw error }
      }
    }
    defer { done = [:] }
    return done
  }

  private func readState() throws(StorageError) {
    state = try Self.state(of: database, settings)
    isStale = false
  }

  private func integrate(
    in transaction: WriteTransaction, _ made: inout [UInt64: HistoryEntry]
  ) throws(StorageError) {
    var bytes = 0
    while state.version < log.end, bytes < Self.mostBytes {
      let version = state.version + 1
      guard let record = try log.record(at: version) else { return }
      guard !stops(at: record.entry) else { return }
      if case .upload(let upload) = record.entry { bytes += upload.size }
      let isSkipped = skipped.contains(version)
      made[version] = try state.integrate(record, in: transaction, isSkipped: isSkipped)
    }
  }
}

extension ServerNode {
  /// Whether the node has to stop before an entry. Then it sets `halt`.
  private func stops(at entry: LogEntry) -> Bool {
    switch entry {
    case .semantics(let number) where !ServerState.knows(semantics: number):
      halt = .unknownSemantics(number: number, version: state.version)
    case .stateHash(let version, let hash) where state.agrees(version, hash) == false:
      halt = .otherState(version: version)
    default: return false
    }
    return true
  }
}

extension Upload {
  /// The size of the changeset in bytes, about.
  fileprivate var size: Int { changeset.objects.reduce(64) { $0 + 24 * ($1.instructions.count + 1) } }
}

extension StorageError {
  /// Whether every node that integrates the same entry gets the same error.
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

extension EmbeddedLog {
  /// Makes a log that goes on where the state in a file ends.
  ///
  /// - Throws: `.corrupted`, and the errors of `Database.beginWrite`.
  package convenience init(
    after database: Database, settings: ServerState.Settings
  ) throws(StorageError) {
    self.init(after: try ServerNode.state(of: database, settings).version)
  }
}
