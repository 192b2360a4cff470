import RealmStorage
import RealmSync

/// Follows a log: integrates its entries into a state, several of them in one transaction.
package final class ServerNode {
  package let database: Database
  private let settings: ServerState.Settings
  private let log: any EventLog
  package private(set) var state: ServerState
  /// Entries that can't be integrated. Every node comes to the same ones.
  package private(set) var skipped: Set<UInt64> = []

  /// What was integrated, and not returned yet.
  private var done: [UInt64: HistoryEntry] = [:]
  /// The state was changed, the file was not, and could not be read since. Nothing may be told of it.
  package private(set) var isStale = false
  /// Why the node integrates nothing more.
  package fileprivate(set) var halt: Halt?

  package enum Halt: Sendable, Equatable {
    /// The entries behind a version are integrated by rules that this library does not know: a newer one goes on.
    case unknownSemantics(number: UInt64, version: UInt64)
    /// Another node has made something else of the log up to a version.
    case otherState(version: UInt64)
  }

  /// An entry is at most so many milliseconds later than the one before it, or the clock of one of the machines is wrong.
  package static let mostTime: UInt64 = 86_400_000

  /// Whether the clock of the machine is so far ahead of the last entry that one of the two is wrong: who runs the server is to say which.
  package func isClockAhead(_ time: UInt64) -> Bool {
    state.version > 0 && time > state.time + Self.mostTime
  }

  /// One transaction integrates so many bytes of changesets, about.
  private static let mostBytes = 1 << 20

  /// - Throws: `ServerNodeProblem`: `.unknownSemantics` where the state in the file is kept by rules of merging that this library does not know: what it made of the entries that follow
  ///   would be something else than what other nodes make of them. `.storage` where the file can't be read.
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

  /// Appends an entry to the log. It is integrated by `follow`.
  ///
  /// - Parameters:
  ///   - tag: a random number.
  ///   - time: of the machine, in milliseconds since 1970.
  /// - Throws: `StorageError` where the log can't be written.
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

  /// Integrates all entries of the log that the state lacks. What they did is durable then.
  ///
  /// An upload that can't be integrated, since what it says passes a limit, is refused whole. The entries that were integrated with it are integrated again without it.
  ///
  /// - Returns: what the uploads did by their versions, of all entries that were integrated since the last time that it returned.
  /// - Throws: `StorageError` where the file can't be read or written. The entries wait then.
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
  /// Whether the node may not go on with an entry.
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

extension EmbeddedLog {
  /// The log that goes on where the state in a file ends.
  ///
  /// - Throws: `.corrupted`; what `Database.beginWrite` throws.
  package convenience init(
    after database: Database, settings: ServerState.Settings
  ) throws(StorageError) {
    self.init(after: try ServerNode.state(of: database, settings).version)
  }
}
