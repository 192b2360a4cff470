import RealmStorage
import RealmSync

/// The state that the server has computed from the log: the objects, the records for merging, the replicas and the
/// history.
///
/// Two states that have integrated the same entries are equal, because the integration of an entry depends on the state
/// and the entry alone: on no clock and no session.
package final class ServerState {
  /// The settings that apply to all entries.
  package struct Settings: Sendable, Equatable {
    /// The property that tells the partition of an object; nil if there are no partitions.
    package var partitionProperty: String?
    /// The fields that filters may use, by class. New fields are added behind the others, and none is removed, because
    /// the history keeps the values in this order.
    package var fields: [String: [String]]

    package init(partitionProperty: String? = nil, fields: [String: [String]] = [:]) {
      (self.partitionProperty, self.fields) = (partitionProperty, fields)
    }

    /// The fields of a class that filters may use. The property of the partition is always one of them.
    func fields(of table: String) -> [String] {
      let named = fields[table] ?? []
      guard let partitionProperty else { return named }
      // The property of the partition is the first field, so that its place never changes.
      return [partitionProperty] + named.filter { $0 != partitionProperty }
    }
  }

  package let settings: Settings
  /// The version of the state, and what was computed from the whole log up to it.
  private(set) var header: ServerStore.Header
  /// The replicas, by number.
  private(set) var replicas: [UInt64: Replica]
  /// The numbers of the replicas, by ordinal. The ordinal 0 stands for no replica.
  package private(set) var numbers: [UInt64]
  /// The rules by user, each with the version from which on they apply. Under the empty text stand the rules for users
  /// that have no rules of their own.
  private(set) var rules: [String: [(from: UInt64, AccessRules)]]
  /// The data of users by user, each with the version from which on it applies.
  private(set) var users: [String: [(from: UInt64, [String: [Value]])]]

  /// The version of the last entry.
  package var version: UInt64 { header.version }
  /// The tag of the last entry.
  package var tag: UInt64 { header.tag }
  /// The horizon of the log. A changeset whose base is before it is not accepted.
  package var horizon: UInt64 { header.horizon }
  /// The latest stamp of all decided changesets.
  package var mark: Stamp { header.mark }

  /// Reads the state from a file. A file without a state gives the state of an empty log.
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

  /// The history of a version; nil if the version changed nothing, and for versions up to the horizon.
  package func history(
    of version: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> HistoryEntry? {
    try ServerStore(transaction, settings).history(of: version)
  }

  /// Integrates the next entry of the log.
  ///
  /// Each entry is integrated, whatever it contains. An invalid entry has no effect.
  ///
  /// - Parameter isSkipped: true if the entry can't be integrated. If it is an upload, all its objects are refused.
  /// - Returns: the effects of an upload; nil for other entries, and for an upload that is not accepted.
  /// - Throws: `StorageError`. The caller then cancels the transaction and reads the state anew. After `.notSyncable`,
  ///   `.instructionDoesNotFit`, `.duplicateKey`, and `.limitExceeded` for a limit other than memory, file size and
  ///   versions, the entry has to be skipped, because every node gets the same error for it. After another error the
  ///   file can't be read or written.
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

  /// Stores a query set of a replica.
  package func set(
    _ number: UInt64, _ filters: ClassFilters, of replica: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    try change(replica, try ServerStore(transaction, settings)) { $0.querySets[number] = filters }
  }

  /// The size in bytes, about, of the query sets of a replica from a number on.
  func querySetBytes(of replica: UInt64, from oldest: UInt64) -> Int {
    let sets = replicas[replica]?.querySets.filter { $0.key >= oldest }
    return sets?.values.reduce(0) { $0 + $1.size } ?? 0
  }

  /// Stores a replica as an upload has changed it, and takes the stamp of the upload into the mark.
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
    // A replica with a partition sees all objects of the partition.
    if registration.partition != nil { replica.querySets[Self.partitionQuerySet] = .everything }
    if let number = registration.predecessor, let predecessor = replicas[number], predecessor.isRetired {
      replica.predecessors = predecessor.predecessors + [predecessor.ordinal]
      // The objects of the former partition are shown by a query set that no client sends.
      if predecessor.flexibleFrom != nil, registration.partition == nil {
        replica.querySets[Self.partitionQuerySet] = predecessor.querySets[Self.partitionQuerySet]
        // The client may still name the partition in its hello.
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

  /// The rules that apply to a user as of a version.
  func rules(of user: String, at version: UInt64) -> AccessRules {
    let own = rules[user]?.last { $0.from <= version }
    return (own ?? rules[""]?.last { $0.from <= version })?.1 ?? .everything
  }

  /// A user and a partition, with the data of the user as of a version.
  func asking(_ user: String, partition: Value?, at version: UInt64) -> FieldFilter.Asking {
    FieldFilter.Asking(
      user: user, partition: partition, data: users[user]?.last { $0.from <= version }?.1 ?? [:])
  }

  // MARK: - One meaning

  /// The greatest number of rules of merging that this library knows.
  package static let newestSemantics: UInt64 = 1

  /// Whether this library knows the rules of merging with a number.
  static func knows(semantics number: UInt64) -> Bool { (1...newestSemantics).contains(number) }

  /// The number of versions after which nodes compare the hashes of their states again.
  package static let versionsOfHash: UInt64 = 1000

  /// The number of the rules of merging by which entries are integrated. A node that does not know the rules stops.
  package var semantics: UInt64 { header.semantics }
  /// The time at which the last entry was appended, in milliseconds since 1970.
  package var time: UInt64 { header.time }

  /// Whether the hash of another node at a version is the one that this state had there; nil if this state does not
  /// know its hash at that version any more.
  package func agrees(_ version: UInt64, _ hash: [UInt8]) -> Bool? {
    version == header.hashed ? hash == header.hash : nil
  }

  /// The hash over the effects of all entries up to the last version at which nodes compare, and that version.
  package var stateHash: (version: UInt64, hash: [UInt8]) { (header.hashed, header.hash) }

  /// Takes the effects of the current version into the hash. Each hash contains the one before it, so two states with
  /// the same hash have had the same effects at each version.
  private func noteHash(of done: HistoryEntry?) {
    var bytes = header.running
    bytes.appendInteger(version)
    bytes.appendInteger(mark.word)
    done?.append(to: &bytes, isCompressed: false)
    header.running = bytes.contentHash
    if version % Self.versionsOfHash == 0 { (header.hashed, header.hash) = (version, header.running) }
  }

  /// The latest stamp of all changesets up to a version.
  func mark(at version: UInt64, _ transaction: WriteTransaction) throws(StorageError) -> Stamp {
    // There is no stamp before the first entry.
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
