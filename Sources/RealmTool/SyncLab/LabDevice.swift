import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient

/// The objects of a class that a device shows; none if the predicate is nil.
struct LabSubscription: Equatable {
  var table: String
  var predicate: String?
}

/// A device: its file, and the session of the file with the server.
final class LabDevice {
  /// The facts about a device that are not in its file.
  struct Facts: Equatable {
    var name: String
    var user: String
    var isOnline = true
    /// Whether all objects are shown of classes without a subscription.
    var showsOthers = true
    var subscriptions: [LabSubscription] = []

    mutating func subscribe(_ table: String, _ predicate: String?) {
      subscriptions.removeAll { $0.table == table }
      subscriptions.append(LabSubscription(table: table, predicate: predicate))
    }

    /// The queries that find exactly the objects that the device shows.
    ///
    /// - Parameter tables: the names of all classes.
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

  /// The messages on their way between the device and the server, as bytes.
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
  /// The reason why the session has stopped; nil if it has not.
  var problem: String?
  /// The text of the error with which the server ended the last session.
  var lastError: String?
  /// The numbers of connections, and of sent and received messages, in the current sync.
  var (connections, sent, received) = (0, 0, 0)

  var name: String { facts.name }

  init(_ facts: Facts, path: String) throws(StorageError) {
    self.facts = facts
    var options = DatabaseOptions()
    options.history = .synced
    database = try Database(path: path, options: options)
    session = ClientSession(database)
  }

  /// Calls `body` with the file, which `body` does not change.
  func reading<Result>(_ body: (ClientFile) throws -> Result) throws -> Result {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    do {
      return try body(ClientFile(transaction))
    } catch let problem as ClientProblem {
      throw problem.thrown
    }
  }

  /// Sets the query set of the file, if it differs from the queries that the device has to have.
  func subscribe(_ tables: Set<String>, _ transaction: WriteTransaction) throws {
    do throws(ClientProblem) {
      var file = try ClientFile(transaction)
      let queries = facts.queries(tables)
      guard try file.querySet(file.newestQuerySet)?.queries ?? [] != queries else { return }
      _ = try file.setQueries(queries)
    } catch { throw error.thrown }
  }

  /// Sets the query set of the file in a transaction of its own.
  func subscribe(_ tables: Set<String>) throws {
    try database.write { try subscribe(tables, $0) }
  }

  /// The number of changesets that are pending.
  func pendingCount() throws -> Int {
    let snapshot = try database.snapshot()
    return try snapshot.changelog()?.count(snapshot) ?? 0
  }
}
