import RealmStorage
import RealmSync

/// What the server has made of the log: the objects, what is recorded of them for merging, the replicas and the history.
///
/// Two states that integrated the same entries are the same. To integrate an entry reads the state and the entry, and nothing else: no clock, no session.
package final class ServerState {
  /// What is the same for all entries.
  package struct Settings: Sendable, Equatable {
    /// The property that tells the partition of an object; nil where there are no partitions.
    package var partitionProperty: String?
    /// By class the fields that filters may use. Later ones are added behind the others, and none is taken away: the history has the values in this order.
    package var fields: [String: [String]]

    package init(partitionProperty: String? = nil, fields: [String: [String]] = [:]) {
      (self.partitionProperty, self.fields) = (partitionProperty, fields)
    }

    /// The fields of a class that filters may use. The property of the partition is always one.
    func fields(of table: String) -> [String] {
      let named = fields[table] ?? []
      guard let partitionProperty else { return named }
      // It is the first, so that its place stays as it is.
      return [partitionProperty] + named.filter { $0 != partitionProperty }
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
  /// What is known of users, each from a version on, by the user.
  private(set) var users: [String: [(from: UInt64, [String: [Value]])]]

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
    let store = try ServerStore(transaction, settings)
    header = try store.header()
    (replicas, numbers) = try store.replicas()
    rules = try store.rules()
    users = try store.users()
  }

  /// The history of a version; nil where it changed nothing, and before the horizon.
  package func history(
    of version: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> HistoryEntry? {
    try ServerStore(transaction, settings).history(of: version)
  }

  /// Integrates the next entry of the log.
  ///
  /// Whatever stands in an entry, it is integrated: one that is wrong has no effect.
  ///
  /// - Parameter isSkipped: the entry can't be integrated. If it is an upload, all its objects are refused.
  /// - Returns: what an upload did; nil of other entries, and of one without effect.
  /// - Throws: `StorageError`. The transaction is to be cancelled then, and the state is to be read anew. After `.limitExceeded` or `.notSyncable` the entry is to be skipped:
  ///   whoever integrates it comes to the same error. After another one the file can't be read or written.
  @discardableResult
  package func integrate(
    _ record: LogRecord, in transaction: WriteTransaction, isSkipped: Bool = false
  ) throws(StorageError) -> HistoryEntry? {
    header.version += 1
    header.tag = record.tag
    let store = try ServerStore(transaction, settings)
    var done: HistoryEntry?
    switch record.entry {
    case .upload(let upload) where isSkipped: done = try refuse(upload, time: record.time, transaction)
    case .upload(let upload): done = try integrate(upload, time: record.time, transaction)
    case .register(let registration): try register(registration, store)
    case .retire(let replica): try change(replica, store) { $0.isRetired = true }
    case .flexible(let replica): try makeFlexible(replica, store)
    case .rules(let user, let rules):
      self.rules[user ?? "", default: []].append((version, rules))
      try store.store(rules, user: user ?? "", from: version)
    case .user(let user, let data):
      users[user, default: []].append((version, data))
      try store.store(data, user: user, from: version)
    case .time, .stateHash: break
    case .semantics(let number): header.semantics = number
    case .querySet(let replica, let number, let oldest, let hash, let filters):
      try change(replica, store) { replica in
        guard number > replica.querySets.keys.max() ?? 0 else { return }
        replica.querySets[number] = filters
        replica.querySetHashes[number] = hash
        replica.querySets = replica.querySets.filter { $0.key >= min(oldest, number) }
        replica.querySetHashes = replica.querySetHashes.filter { $0.key >= min(oldest, number) }
      }
    case .trim(let horizon): try trim(to: horizon, store, transaction)
    }
    header.time = record.time
    noteHash(of: done)
    try store.store(done, version: version, mark: mark, tag: tag, transaction)
    try store.store(header)
    return done
  }

  /// Notes a query set of a replica.
  package func set(
    _ number: UInt64, _ filters: ClassFilters, of replica: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    try change(replica, try ServerStore(transaction, settings)) { $0.querySets[number] = filters }
  }

  /// How many bytes the query sets of a replica take, about, from a number on.
  func querySetBytes(of replica: UInt64, from oldest: UInt64) -> Int {
    let sets = replicas[replica]?.querySets.filter { $0.key >= oldest }
    return sets?.values.reduce(0) { $0 + $1.size } ?? 0
  }

  /// Notes what an upload changed of its replica, and its stamp.
  func note(_ replica: Replica, number: UInt64, _ stamp: Stamp, _ transaction: WriteTransaction)
    throws(StorageError)
  {
    replicas[number] = replica
    header.mark = max(header.mark, stamp)
    try ServerStore(transaction, settings).store(replica, number: number)
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
    // A replica with a partition sees all of it.
    if registration.partition != nil { replica.querySets[Self.partitionQuerySet] = .everything }
    if let number = registration.predecessor, let predecessor = replicas[number], predecessor.isRetired {
      replica.predecessors = predecessor.predecessors + [predecessor.ordinal]
      // What was its partition is shown by a set that no client sends.
      if predecessor.flexibleFrom != nil, registration.partition == nil {
        replica.querySets[Self.partitionQuerySet] = predecessor.querySets[Self.partitionQuerySet]
        // Its client may still tell the partition.
        replica.flexibleFrom = version
      }
    }
    numbers.append(registration.replica)
    replicas[registration.replica] = replica
    try store.store(replica, number: registration.replica)
  }

  /// The number of the query set that every replica with a partition has from the beginning.
  package static let partitionQuerySet: UInt64 = 1

  private func makeFlexible(_ number: UInt64, _ store: ServerStore) throws(StorageError) {
    let (version, property) = (version, settings.partitionProperty)
    try change(number, store) { replica in
      guard let property, let partition = replica.partition, replica.flexibleFrom == nil else { return }
      replica.flexibleFrom = version
      guard replica.querySets.keys.max() == Self.partitionQuerySet else { return }
      let filter = FieldFilter(terms: [[FieldFilter.Condition(property, .equal, [.value(partition)])]])
      replica.querySets[Self.partitionQuerySet] = ClassFilters(others: filter)
    }
  }

  /// What a user may do as of a version.
  func rules(of user: String, at version: UInt64) -> AccessRules {
    let own = rules[user]?.last { $0.from <= version }
    return (own ?? rules[""]?.last { $0.from <= version })?.1 ?? .everything
  }

  /// A user and a partition, with what is known of the user as of a version.
  func asking(_ user: String, partition: Value?, at version: UInt64) -> FieldFilter.Asking {
    FieldFilter.Asking(
      user: user, partition: partition, data: users[user]?.last { $0.from <= version }?.1 ?? [:])
  }

  // MARK: - One meaning

  /// The rules of merging that this library knows, by their greatest number.
  package static let newestSemantics: UInt64 = 1

  /// Whether this library knows the rules of a number.
  static func knows(semantics number: UInt64) -> Bool { (1...newestSemantics).contains(number) }

  /// Nodes compare what they have made of the log once in so many versions.
  package static let versionsOfHash: UInt64 = 1000

  /// The number of the rules that entries are integrated by. A node that does not know it stops.
  package var semantics: UInt64 { header.semantics }
  /// When the last entry was appended, in milliseconds since 1970.
  package var time: UInt64 { header.time }

  /// Whether a node that says to have made something of the log up to a version has made the same of it; nil where this is not known any more.
  package func agrees(_ version: UInt64, _ hash: [UInt8]) -> Bool? {
    version == header.hashed ? hash == header.hash : nil
  }

  /// The hash of all that was made of the log up to a version, and that version.
  package var stateHash: (version: UInt64, hash: [UInt8]) { (header.hashed, header.hash) }

  /// The hash goes over what each version did, in order: two states of one hash have come to the same at each of them.
  private func noteHash(of done: HistoryEntry?) {
    var bytes = header.running
    bytes.appendInteger(version)
    bytes.appendInteger(mark.word)
    done?.append(to: &bytes, isCompressed: false)
    header.running = bytes.contentHash
    if version % Self.versionsOfHash == 0 { (header.hashed, header.hash) = (version, header.running) }
  }

  /// The latest stamp of all up to a version.
  func mark(at version: UInt64, _ transaction: WriteTransaction) throws(StorageError) -> Stamp {
    // Before the first entry there is none.
    try ServerStore(transaction, settings).mark(at: version) ?? Stamp(word: 0)
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
