import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient

/// What a device is to be shown of a class; nothing where there is no predicate.
struct LabSubscription: Equatable {
  var table: String
  var predicate: String?
}

/// A device: its file, and the session of that with the server.
final class LabDevice {
  /// What is known of a device beside its file.
  struct Facts: Equatable {
    var name: String
    var user: String
    var isOnline = true
    /// Classes without a subscription are shown whole.
    var showsOthers = true
    var subscriptions: [LabSubscription] = []

    mutating func subscribe(_ table: String, _ predicate: String?) {
      subscriptions.removeAll { $0.table == table }
      subscriptions.append(LabSubscription(table: table, predicate: predicate))
    }

    /// The queries by which the device shows what it is to show.
    ///
    /// - Parameter tables: all classes that there are.
    func queries(_ tables: Set<String>) -> [QuerySet.Query] {
      let named = Set(subscriptions.map(\.table))
      let all = showsOthers ? tables.union(named) : named
      return all.sorted().compactMap { table in
        guard let subscription = subscriptions.first(where: { $0.table == table }) else {
          return QuerySet.Query(table: table, predicate: "")
        }
        return subscription.predicate.map { QuerySet.Query(table: table, predicate: $0) }
      }
    }
  }

  /// What is under way between the device and the server, as bytes.
  final class Connection {
    let id: SyncServer.SessionID
    var upward: [[UInt8]] = []
    var downward: [[UInt8]] = []

    init(_ id: SyncServer.SessionID) { self.id = id }
  }

  var facts: Facts
  let database: Database
  let session: ClientSession
  var connection: Connection?
  /// Why the session does not go on by itself.
  var problem: String?
  /// What the server said when it ended the last session.
  var lastError: String?
  /// Of the sync that is under way.
  var (connections, sent, received) = (0, 0, 0)

  var name: String { facts.name }

  init(_ facts: Facts, path: String) throws(StorageError) {
    self.facts = facts
    var options = DatabaseOptions()
    options.history = .synced
    database = try Database(path: path, options: options)
    session = ClientSession(database)
  }

  /// Calls `body` with the file, which it does not change.
  func reading<Result>(_ body: (ClientFile) throws -> Result) throws -> Result {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    do {
      return try body(ClientFile(transaction))
    } catch let problem as ClientProblem {
      throw problem.thrown
    }
  }

  /// Gives the file the query set that it is to have, where it has another one.
  func subscribe(_ tables: Set<String>, _ transaction: WriteTransaction) throws {
    do throws(ClientProblem) {
      var file = try ClientFile(transaction)
      let queries = facts.queries(tables)
      guard try file.querySet(file.newestQuerySet)?.queries ?? [] != queries else { return }
      _ = try file.setQueries(queries)
    } catch { throw error.thrown }
  }

  /// The same in a transaction of its own.
  func subscribe(_ tables: Set<String>) throws {
    try database.write { try subscribe(tables, $0) }
  }

  /// So many changesets are pending.
  func pendingCount() throws -> Int {
    let snapshot = try database.snapshot()
    return try snapshot.changelog()?.count(snapshot) ?? 0
  }
}
