import RealmStorage
import RealmSync

/// What the server has made of the log: the objects, what is recorded of them for merging, the replicas and the history.
///
/// Two states that integrated the same entries are the same. To integrate an entry reads the state and the entry, and nothing else: no clock, no session.
package final class ServerState {
  /// What is the same for all entries.
  package struct Settings: Sendable {
    /// The property that tells the partition of an object; nil where there are no partitions.
    package var partitionProperty: String?
    /// By class the fields that filters may use.
    package var fields: [String: [String]]

    package init(partitionProperty: String? = nil, fields: [String: [String]] = [:]) {
      (self.partitionProperty, self.fields) = (partitionProperty, fields)
    }

    /// The fields of a class that filters may use. The property of the partition is always one.
    func fields(of table: String) -> [String] {
      let named = fields[table] ?? []
      guard let partitionProperty, !named.contains(partitionProperty) else { return named }
      return named + [partitionProperty]
    }
  }

  package let settings: Settings
  /// Where the state stands in the log.
  private(set) var header: ServerStore.Header
  /// By their numbers.
  private(set) var replicas: [UInt64: Replica]
  /// The numbers of the replicas by their ordinals; 0 is none.
  package private(set) var numbers: [UInt64]
  /// What users may do, each from a version on, by the user; of nobody in particular, by the empty text.
  private(set) var rules: [String: [(from: UInt64, AccessRules)]]

  /// The version of the last entry.
  package var version: UInt64 { header.version }
  /// The tag of the last entry.
  package var tag: UInt64 { header.tag }
  /// A changeset that was written before it is not accepted.
  package var horizon: UInt64 { header.horizon }
  /// The latest stamp of all that was decided.
  package var mark: Stamp { header.mark }

  /// The state that stands in a file; that of an empty log where there is none.
  ///
  /// - Throws: `.corrupted`.
  package init(_ transaction: WriteTransaction, settings: Settings) throws(StorageError) {
    self.settings = settings
    let store = try ServerStore(transaction)
    header = try store.header()
    (replicas, numbers) = try store.replicas()
    rules = try store.rules()
  }

  /// The history of a version; nil where it changed nothing, and before the horizon.
  package func history(
    of version: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> HistoryEntry? {
    try ServerStore(transaction).history(of: version)
  }

  /// Integrates the next entry of the log.
  ///
  /// Whatever stands in an entry, it is integrated: one that is wrong has no effect.
  ///
  /// - Parameter isSkipped: the entry can't be integrated, and is to have no effect.
  /// - Returns: what an upload did; nil of other entries, and of one without effect.
  /// - Throws: `StorageError`. The transaction is to be cancelled then, and the state is to be read anew. After `.limitExceeded` or `.notSyncable` the entry is to be skipped:
  ///   whoever integrates it comes to the same error. After another one the file can't be read or written.
  @discardableResult
  package func integrate(
    _ record: LogRecord, in transaction: WriteTransaction, isSkipped: Bool = false
  ) throws(StorageError) -> HistoryEntry? {
    header.version += 1
    header.tag = record.tag
    let store = try ServerStore(transaction)
    var done: HistoryEntry?
    switch record.entry {
    case .upload where isSkipped: break
    case .upload(let upload): done = try integrate(upload, time: record.time, transaction)
    case .register(let registration): try register(registration, store)
    case .retire(let replica): try change(replica, store) { $0.isRetired = true }
    case .flexible(let replica):
      let version = version
      try change(replica, store) { $0.flexibleFrom = $0.flexibleFrom ?? version }
    case .rules(let user, let rules):
      self.rules[user ?? "", default: []].append((version, rules))
      try store.store(rules, user: user ?? "", from: version)
    case .querySet(let replica, let number, let filters): try set(number, filters, of: replica, transaction)
    case .trim(let horizon): try trim(to: horizon, store, transaction)
    }
    try store.store(done, version: version, mark: mark, tag: tag, transaction)
    try store.store(header)
    return done
  }

  /// Notes a query set of a replica.
  package func set(
    _ number: UInt64, _ filters: ClassFilters, of replica: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    try change(replica, try ServerStore(transaction)) { $0.querySets[number] = filters }
  }

  /// Notes what an upload changed of its replica, and its stamp.
  func note(_ replica: Replica, number: UInt64, _ stamp: Stamp, _ transaction: WriteTransaction)
    throws(StorageError)
  {
    replicas[number] = replica
    header.mark = max(header.mark, stamp)
    try ServerStore(transaction).store(replica, number: number)
  }

  private func change(
    _ number: UInt64, _ store: ServerStore, _ change: (inout Replica) -> Void
  ) throws(StorageError) {
    guard var replica = replicas[number] else { return }
    change(&replica)
    replicas[number] = replica
    try store.store(replica, number: number)
  }

  private func register(_ registration: Registration, _ store: ServerStore) throws(StorageError) {
    guard replicas[registration.replica] == nil, registration.replica != 0 else { return }
    var replica = Replica(ordinal: UInt32(numbers.count), user: registration.user)
    replica.partition = registration.partition
    if let number = registration.predecessor, let predecessor = replicas[number], predecessor.isRetired {
      replica.predecessors = predecessor.predecessors + [predecessor.ordinal]
    }
    numbers.append(registration.replica)
    replicas[registration.replica] = replica
    try store.store(replica, number: registration.replica)
  }

  /// What a user may do as of a version.
  func rules(of user: String, at version: UInt64) -> AccessRules {
    let all = rules[user] ?? rules[""] ?? []
    return all.last { $0.from <= version }?.1 ?? .everything
  }

  /// The latest stamp of all up to a version.
  func mark(at version: UInt64, _ transaction: WriteTransaction) throws(StorageError) -> Stamp {
    // Before the first entry there is none.
    try ServerStore(transaction).mark(at: version) ?? Stamp(word: 0)
  }

  private func trim(
    to wanted: UInt64, _ store: ServerStore, _ transaction: WriteTransaction
  ) throws(StorageError) {
    let new = min(wanted, version - 1)
    guard new > horizon else { return }
    header.horizon = new
    try MergeRecords(transaction).trim(to: new)
    try store.trim(to: new, transaction)
    for (number, replica) in replicas.sorted(by: { $0.key < $1.key })
    where !replica.refusedCreations.isEmpty || !replica.refusedProperties.isEmpty {
      try change(number, store) { replica in
        replica.refusedCreations = replica.refusedCreations.filter { $0.value > new }
        replica.refusedProperties = replica.refusedProperties.filter { $0.value > new }
      }
    }
  }
}
