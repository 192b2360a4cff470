import RealmStorage
import RealmSync

/// How a replica that connects again goes on.
package enum Resumption: Sendable, Equatable {
  /// From where it is. It is to name this session number the next time.
  case goesOn(sessionNumber: UInt64)
  /// As a new replica, whose file is replaced by what the server has.
  ///
  /// - isInDoubt: somebody else may have used its identity: a copy of the file, or the server goes on from an older copy of its state.
  case reset(isInDoubt: Bool)
}

extension ServerState {
  /// The session number of a replica that was just registered.
  package func begin(_ replica: UInt64, sessionNumber: UInt64, _ transaction: WriteTransaction)
    throws(StorageError)
  {
    guard let replica = replicas[replica] else { return }
    try ServerStore(transaction).store(
      confirmed: sessionNumber, offered: sessionNumber, replica: replica.ordinal)
  }

  /// Whether a replica can go on from where it says that it is.
  ///
  /// A file is reset where what it has can't be told apart from what the server has, and for no other reason: lost answers and a loss of power are none.
  ///
  /// - Parameter offered: a session number that was never offered before.
  /// - Throws: `StorageError`.
  package func resume(
    _ number: UInt64, _ start: SessionStart, offering offered: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) -> Resumption {
    guard let replica = replicas[number], !replica.isRetired else { return .reset(isInDoubt: true) }
    let store = try ServerStore(transaction)
    if start.version >= horizon, start.version > 0, try store.tag(of: start.version) != start.tag {
      return .reset(isInDoubt: true)
    }
    guard let numbers = try store.sessionNumbers(replica.ordinal),
      start.sessionNumber == numbers.confirmed || start.sessionNumber == numbers.offered,
      replica.lastSequence <= start.last?.sequence ?? 0, try isOwn(start.pending, replica, store)
    else { return .reset(isInDoubt: true) }
    guard start.version >= horizon, start.leastBase ?? .max >= horizon else {
      return .reset(isInDoubt: false)
    }
    try store.store(confirmed: start.sessionNumber, offered: offered, replica: replica.ordinal)
    try store.removeHashes(
      below: start.pending.first?.sequence ?? (start.last?.sequence ?? 0) + 1, replica: replica.ordinal)
    return .goesOn(sessionNumber: offered)
  }

  /// Whether none of the changesets is another one at the server.
  private func isOwn(
    _ pending: [NamedChangeset], _ replica: Replica, _ store: ServerStore
  ) throws(StorageError) -> Bool {
    for changeset in pending {
      let known = try store.hash(of: changeset.sequence, replica: replica.ordinal)
      guard known == nil || known == changeset.hash else { return false }
    }
    return true
  }

  /// What a replica that is reset is told of its changesets.
  ///
  /// - Precondition: it is retired: nothing of it is accepted any more.
  package func recovery(
    of number: UInt64, _ start: SessionStart, _ transaction: WriteTransaction
  ) throws(StorageError) -> (integrated: [NamedChangeset], refusals: [Refusal]) {
    guard let replica = replicas[number] else { return ([], []) }
    let store = try ServerStore(transaction)
    var integrated: [NamedChangeset] = []
    for changeset in start.pending
    where try store.hash(of: changeset.sequence, replica: replica.ordinal) == changeset.hash {
      integrated.append(changeset)
    }
    var refusals: [Refusal] = []
    var version = max(start.version, horizon)
    while version < self.version {
      version += 1
      if let entry = try store.history(of: version), entry.replica == replica.ordinal {
        refusals += entry.refusals
      }
    }
    return (integrated, refusals)
  }
}
