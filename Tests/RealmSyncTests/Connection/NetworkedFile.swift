import Dispatch
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport

/// A client's file with its session over a driven network.
final class NetworkedFile {
  let database: Database
  let core: SyncedFile
  let notes = FileNotes()
  private let clock: ManualClock

  /// - Parameter database: The database of a synced file; nil for a new one in memory.
  init(
    _ connection: SyncConnection, _ clock: ManualClock, _ recovery: ClientSession.Recovery,
    database: Database? = nil
  ) throws {
    var options = DatabaseOptions()
    options.history = .synced
    let used = try database ?? Database(creatingIn: MemoryStorage(name: "file"), options: options)
    self.database = used
    self.clock = clock
    core = SyncedFile(used, partition: nil, recovery: recovery, connection: connection, clock: clock)
    core.attach(notes)
  }

  /// Makes an object. The first call also makes the class.
  func write(_ key: Int64, _ field: Int64 = 1) throws {
    try database.write { transaction in
      try transaction.setTime(clock.now)
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      _ = try transaction.table(ModelClass.name)?.insert(["id": .int(key), "q": .int(field)])
    }
    core.didCommit()
  }

  /// Gives the file another query set.
  ///
  /// - Returns: The number of the query set.
  @discardableResult
  func ask(_ predicate: String) throws -> UInt64 {
    let number = try database.write { transaction -> UInt64 in
      var file = try ClientFile(transaction)
      return try file.setQueries([DrivenClient.query(predicate)])
    }
    core.didCommit()
    return number
  }

  /// The keys of the file's objects.
  func keys() throws -> [Int64] { try database.modelKeys() }

  // MARK: - Waiting

  /// The outcomes of a wait for uploads that begins now.
  func uploaded() -> Outcomes<SyncedFileProblem?> {
    let outcomes = Outcomes<SyncedFileProblem?>()
    core.whenUploaded { outcomes.add($0) }
    return outcomes
  }

  func downloaded() -> Outcomes<SyncedFileProblem?> {
    let outcomes = Outcomes<SyncedFileProblem?>()
    core.whenDownloaded { outcomes.add($0) }
    return outcomes
  }

  func shown(_ querySet: UInt64) -> Outcomes<Result<Bool, SyncedFileProblem>> {
    let outcomes = Outcomes<Result<Bool, SyncedFileProblem>>()
    core.whenShown(querySet: querySet) { outcomes.add($0) }
    return outcomes
  }

  /// Waits until the session has done all the work that it was given so far.
  func settle() throws {
    let isDone = DispatchSemaphore(value: 0)
    core.inTurn { isDone.signal() }
    guard isDone.wait(timeout: .now() + 10) == .success else {
      throw Violation("The session's queue stands still.")
    }
  }
}
