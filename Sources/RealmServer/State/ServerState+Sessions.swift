import RealmStorage
import RealmSync

/// How a replica that connects again goes on.
package enum Resumption: Sendable, Equatable {
  /// The replica goes on from where it is. It has to name this session number in its next session.
  case goesOn(sessionNumber: UInt64)
  /// The file goes on as a new replica, and its content is replaced by what the server has.
  case reset(ResetCause)
}

extension ServerState {
  /// Whether a file may go on as a replica. It may if the server does not know the replica; the file is reset later
  /// then.
  func mayUse(_ number: UInt64, user: String, partition: Value?) -> Bool {
    guard let replica = replicas[number] else { return true }
    return replica.user == user && (replica.partition == partition || replica.flexibleFrom != nil)
  }

  /// Whether a replica is not retired and its changesets up to a sequence are decided.
  func goesOn(_ number: UInt64, appended sequence: UInt64) -> Bool {
    guard let replica = replicas[number] else { return false }
    return !replica.isRetired && replica.lastSequence >= sequence
  }

  func knows(_ replica: UInt64) -> Bool { replicas[replica] != nil }

  /// Whether a user may give up a file: it belongs to the user, and was not given up before.
  func mayRetire(_ number: UInt64, user: String) -> Bool {
    guard let replica = replicas[number] else { return false }
    return replica.user == user && !replica.isRetired
  }

  func isRetired(_ number: UInt64) -> Bool { replicas[number]?.isRetired ?? true }

  /// The number of replicas of a user that are not retired.
  func replicas(of user: String) -> Int { replicas.values.count { $0.user == user && !$0.isRetired } }

  /// The query set that counts for a changeset that names a number. A file with a partition names 0 for what it wrote
  /// before it knew of any query set. Then the query set that shows the partition counts.
  func querySet(_ number: UInt64, of replica: UInt64) -> UInt64 {
    number == 0 && replicas[replica]?.partition != nil ? Self.partitionQuerySet : number
  }

  /// Whether the partition of a replica has become an ordinary filter.
  func isFlexible(_ replica: UInt64) -> Bool { replicas[replica]?.flexibleFrom != nil }

  /// The numbers of the query sets of a replica.
  func querySets(of replica: UInt64) -> Set<UInt64> { Set(replicas[replica]?.querySets.keys ?? [:].keys) }

  /// Whether a replica has sent another query set under the same number. If so, one of two files with this replica is a
  /// copy of the other.
  func differs(_ hash: UInt64, from number: UInt64, of replica: UInt64) -> Bool {
    guard let known = replicas[replica]?.querySetHashes[number], known != 0 else { return false }
    return known != hash
  }

  /// The sequence of the last decided changeset of a replica; 0 if there is none.
  package func lastSequence(of replica: UInt64) -> UInt64 { replicas[replica]?.lastSequence ?? 0 }

  /// Stores the first session number of a replica that was just registered.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  package func begin(
    _ replica: UInt64, sessionNumber: UInt64, time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard let replica = replicas[replica] else { return }
    let session = ServerStore.Session(
      confirmed: sessionNumber, offered: sessionNumber, version: version, time: time)
    try ServerStore(transaction, settings).store(session, replica: replica.ordinal)
  }

  /// Notes for replicas that they are connected now. A time that was noted a moment ago stays as it is.
  ///
  /// - Parameters:
  ///   - time: the time of the machine, in milliseconds since 1970.
  ///   - within: a time that was noted at most this number of milliseconds ago stays.
  /// - Returns: whether a time was stored.
  package func note(
    connected: Set<UInt64>, time: UInt64, within: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    let store = try ServerStore(transaction, settings)
    var isChanged = false
    for number in connected.sorted() {
      guard let replica = replicas[number], !replica.isRetired,
        var session = try store.session(replica.ordinal), time > session.time, time - session.time > within
      else { continue }
      session.time = time
      try store.store(session, replica: replica.ordinal)
      isChanged = true
    }
    return isChanged
  }

  /// Adds the time in which the server did not run to the time of each replica's last connection. No client could
  /// connect meanwhile, so that time does not count as time away.
  ///
  /// The server is assumed to have run until the latest of these times: that of the last entry, that at which a replica
  /// was last noted to be connected, and that at which the server was started last.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  package func passOverDowntime(
    until time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    let store = try ServerStore(transaction, settings)
    var sessions: [(ordinal: UInt32, session: ServerStore.Session)] = []
    for replica in replicas.values where !replica.isRetired {
      if let session = try store.session(replica.ordinal) { sessions.append((replica.ordinal, session)) }
    }
    let last = sessions.reduce(max(self.time, try store.started())) { max($0, $1.session.time) }
    guard version > 0, last < time else { return }
    try store.setStarted(time)
    for (ordinal, session) in sessions.sorted(by: { $0.ordinal < $1.ordinal }) {
      var session = session
      session.time += time - last
      try store.store(session, replica: ordinal)
    }
  }

  /// The version up to which no replica needs the history, apart from replicas that did not connect for a long time.
  ///
  /// - Parameters:
  ///   - time: the time of the machine, in milliseconds since 1970.
  ///   - offline: a replica that did not connect for this number of milliseconds does not count. It is reset when it
  ///     comes back.
  ///   - connected: the replicas that are connected. They count, however long ago their sessions began.
  /// - Returns: the version, and the replicas that do not count and need history before it.
  /// - Throws: `StorageError`.
  package func neededVersion(
    time: UInt64, offline: UInt64, connected: Set<UInt64>, _ transaction: WriteTransaction
  ) throws(StorageError) -> (version: UInt64, left: [UInt64]) {
    let store = try ServerStore(transaction, settings)
    var needed = version
    var left: [(replica: UInt64, version: UInt64)] = []
    for (number, replica) in replicas where !replica.isRetired {
      guard let session = try store.session(replica.ordinal) else { continue }
      if connected.contains(number) || time - min(time, session.time) < offline {
        needed = min(needed, session.version)
      } else {
        left.append((number, session.version))
      }
    }
    return (needed, left.filter { $0.version < needed }.map(\.replica).sorted())
  }

  /// The replica with the oldest version of all that are not retired, and that version; nil if none of them ever
  /// connected.
  func oldest(_ transaction: WriteTransaction) throws(StorageError) -> (replica: UInt64, version: UInt64)? {
    let store = try ServerStore(transaction, settings)
    var found: (replica: UInt64, version: UInt64)?
    for (number, replica) in replicas where !replica.isRetired {
      guard let session = try store.session(replica.ordinal) else { continue }
      if session.version < found?.version ?? .max { found = (number, session.version) }
    }
    return found
  }

  /// Decides whether a replica can go on from where its start says that it is.
  ///
  /// A file is reset if what it has can't be told apart from what the server has, and for no other reason. Lost answers
  /// and a loss of power are not such reasons.
  ///
  /// - Parameters:
  ///   - offered: a session number that was never offered before.
  ///   - time: the time of the machine, in milliseconds since 1970.
  /// - Throws: `StorageError`.
  package func resume(
    _ number: UInt64, _ start: SessionStart, offering offered: UInt64, time: UInt64,
    _ transaction: WriteTransaction
  ) throws(StorageError) -> Resumption {
    guard let replica = replicas[number] else { return .reset(.unknown) }
    guard !replica.isRetired else { return .reset(.retired) }
    let store = try ServerStore(transaction, settings)
    if start.version >= horizon, start.version > 0, try store.tag(of: start.version) != start.tag {
      return .reset(.otherHistory)
    }
    guard let known = try store.session(replica.ordinal),
      start.sessionNumber == known.confirmed || start.sessionNumber == known.offered
    else { return .reset(.otherSession) }
    guard start.isConsistent, replica.lastSequence <= start.last?.sequence ?? 0,
      try isOwn(start, replica, store)
    else { return .reset(.otherChanges) }
    guard start.version >= horizon, start.leastBase ?? .max >= horizon else { return .reset(.forgotten) }
    // A file whose version is before its registration is a copy. It shows what the user of the other file may read.
    guard start.version >= known.version || isReadAlike(at: start.version) else {
      return .reset(.otherRights)
    }
    let session = ServerStore.Session(
      confirmed: start.sessionNumber, offered: offered, version: min(start.version, start.leastBase ?? .max),
      time: time)
    try store.store(session, replica: replica.ordinal)
    try store.removeHashes(
      below: start.pending.first?.sequence ?? replica.lastSequence + 1, replica: replica.ordinal)
    return .goesOn(sessionNumber: offered)
  }

  /// Whether all users may read the same objects at a version.
  private func isReadAlike(at version: UInt64) -> Bool {
    let hasOwn = rules.contains { user, all in !user.isEmpty && all.contains { $0.from <= version } }
    let read = rules(of: "", at: version).read
    return !hasOwn && !read.others.asksForUser && !read.byClass.values.contains { $0.asksForUser }
  }

  /// Whether each decided changeset that a replica names is the one that the server has with its sequence.
  private func isOwn(
    _ start: SessionStart, _ replica: Replica, _ store: ServerStore
  ) throws(StorageError) -> Bool {
    // The server forgets the hashes of the changesets of which the replica knows that they are decided. A file that
    // does not know this any more was restored from a copy.
    guard let last = start.last else { return replica.lastSequence == 0 }
    guard !start.pending.isEmpty || last.sequence == replica.lastSequence else { return false }
    for changeset in start.pending + [last] where changeset.sequence <= replica.lastSequence {
      guard try hash(of: changeset.sequence, replica, store) == changeset.hash else { return false }
    }
    return true
  }

  private func hash(
    of sequence: UInt64, _ replica: Replica, _ store: ServerStore
  ) throws(StorageError) -> [UInt8]? {
    if sequence == replica.lastSequence { return replica.lastHash }
    return try store.hash(of: sequence, replica: replica.ordinal)
  }

  /// The changesets of a replica that is reset which are decided, and its changes that were refused.
  ///
  /// - Precondition: the replica is retired, so that no upload of it is accepted any more.
  package func recovery(
    of number: UInt64, _ start: SessionStart, _ transaction: WriteTransaction
  ) throws(StorageError) -> (integrated: [NamedChangeset], refusals: [Refusal]) {
    guard let replica = replicas[number] else { return ([], []) }
    let store = try ServerStore(transaction, settings)
    // Each hash depends on the hashes before it, so if one is equal, all before it are equal, too.
    var count = 0
    for (place, changeset) in start.pending.enumerated() where changeset.sequence <= replica.lastSequence {
      if try hash(of: changeset.sequence, replica, store) == changeset.hash { count = place + 1 }
    }
    var refusals: [Refusal] = []
    for version in try store.versions(ofReplica: replica.ordinal, after: 0) where version > start.version {
      refusals += try store.history(of: version)?.refusals ?? []
    }
    return (Array(start.pending.prefix(count)), refusals)
  }
}

extension SessionStart {
  /// Whether the pending changesets follow each other up to the last one.
  fileprivate var isConsistent: Bool {
    guard let last else { return pending.isEmpty }
    guard last.sequence < 1 << 62 else { return false }
    var expected = last.sequence
    for changeset in pending.reversed() {
      guard expected > 0, changeset.sequence == expected else { return false }
      expected -= 1
    }
    return true
  }
}

extension FieldFilter {
  /// Whether the filter depends on the user that asks.
  fileprivate var asksForUser: Bool {
    terms.joined().contains { condition in
      if case .user = condition.subject { return true }
      return condition.operands.contains { if case .user = $0 { true } else { false } }
    }
  }
}
