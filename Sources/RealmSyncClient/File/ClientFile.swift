import RealmStorage
import RealmSync

/// A client's file, as its session with a server changes it. Nothing here uses a network.
///
/// Whatever belongs together is changed by one transaction: the objects, the position of the file in the log, and the
/// pending changesets.
package struct ClientFile {
  let transaction: WriteTransaction
  private(set) var pending: PendingChangesets
  package private(set) var position: ClientPosition

  package init(_ transaction: WriteTransaction) throws(ClientProblem) {
    self.transaction = transaction
    do throws(StorageError) {
      position = try ClientPosition(try transaction.tree(ClientPosition.tree))
      guard let pending = try PendingChangesets(transaction) else {
        throw .otherHistory(isSynced: false, path: "")
      }
      guard Int(pending.state.replica) < position.replicas.count else {
        throw try transaction.tree(ClientPosition.tree).damaged
      }
      self.pending = pending
    } catch {
      if case .otherHistory = error { throw .notSynced }
      throw .storage(error)
    }
  }

  /// The number of the file as a replica. For a file without a number it is the greatest number of 64 bits.
  package var number: UInt64 { position.replicas[Int(pending.state.replica)] }

  func storing<Result>(_ body: () throws(StorageError) -> Result) throws(ClientProblem) -> Result {
    do throws(StorageError) {
      return try body()
    } catch {
      if case .instructionDoesNotFit(_, let table, let property, _) = error {
        throw .otherSchema(table: table, property: property)
      }
      throw .storage(error)
    }
  }

  /// The query set that a server gives to each replica with a partition.
  static let partitionQuerySet: UInt64 = 1

  // MARK: - Registration

  /// Takes over the number that a server has given the file. Changes that were written before count as written upon the
  /// version of the registration, and as later than everything that was decided until then.
  ///
  /// - Parameter partition: the property of the partition and its value in all objects of the file; nil for a file
  ///   without a partition.
  package mutating func register(
    _ registered: Welcome.Registered, partition: MergeContext.Partition?, time: UInt64
  ) throws(ClientProblem) {
    var position = position
    try check(registered.replica)
    try check(registered.mark, time: time)
    guard registered.version < Self.latestVersion else { throw .wrongAnswer }
    guard !position.isCopy else { return try registerCopy(registered, partition) }
    position.rename(pending.state.replica, to: registered.replica)
    (position.version, position.tag) = (registered.version, registered.tag)
    (position.sessionNumber, position.partition) = (registered.sessionNumber, partition)
    position.querySet = 0
    try storing { () throws(StorageError) in
      var last = registered.mark
      for sequence in try pending.sequences() {
        guard let stamp = try pending.pending(sequence)?.stored.stamp else { continue }
        last = max(stamp, last.next)
        if partition != nil, try pending.pending(sequence)?.stored.querySet == 0 {
          try pending.set(querySet: ClientFile.partitionQuerySet, of: sequence)
        }
        try pending.set(base: registered.version, stamp: last, of: sequence)
      }
      try pending.store(above: 0)
      try store(position, mark: last)
      guard partition != nil else { return }
      try transaction.changeChangelogState { $0.querySet = max($0.querySet, Self.partitionQuerySet) }
    }
    try renew(position)
  }

  /// Registers a file that is a copy. It goes on from the copied state, and changes since then count as written upon
  /// that state.
  private mutating func registerCopy(
    _ registered: Welcome.Registered, _ partition: MergeContext.Partition?
  ) throws(ClientProblem) {
    var position = position
    position.rename(pending.state.replica, to: registered.replica)
    position.sessionNumber = registered.sessionNumber
    // The copy shows another partition, or none. The server resets a file that names a tag which no version has.
    if position.partition != partition { position.tag = ~position.tag }
    position.partition = partition
    let mark = pending.state.lastStamp
    try storing { () throws(StorageError) in
      try store(position, mark: mark)
      guard partition != nil else { return }
      try transaction.changeChangelogState { $0.querySet = max($0.querySet, Self.partitionQuerySet) }
    }
    try renew(position)
  }

  /// Takes over a position, and reads the pending changesets anew, because they have changed.
  mutating func renew(_ position: ClientPosition) throws(ClientProblem) {
    self.position = position
    let pending = try storing { () throws(StorageError) in try PendingChangesets(transaction) }
    if let pending { self.pending = pending }
  }

  private func check(_ number: UInt64) throws(ClientProblem) {
    guard number != 0, number != .max, !position.replicas.contains(number) else { throw .wrongAnswer }
  }

  private func check(_ mark: Stamp, time: UInt64) throws(ClientProblem) {
    var clock = HybridClock(last: pending.state.lastStamp, offset: pending.state.clockOffset)
    guard clock.receive(mark, at: time) else { throw .markAhead(milliseconds: mark.milliseconds) }
  }

  /// Checks that a step leads forwards, and to a query set that exists.
  private func check(_ step: Step) throws(ClientProblem) {
    guard step.to >= step.from, step.to < Self.latestVersion, step.querySet <= newestQuerySet else {
      throw .wrongAnswer
    }
  }

  private static let latestVersion: UInt64 = 1 << 62

  private func store(_ position: ClientPosition, mark: Stamp) throws(StorageError) {
    try position.store(in: try transaction.tree(ClientPosition.tree))
    try transaction.changeChangelogState { state in
      state.base = position.version
      state.lastStamp = max(state.lastStamp, mark)
    }
  }

  /// True if the clock of the server differs from that of the machine by another offset than the file has stored.
  package func isNew(offset: Int64) -> Bool {
    let known = pending.state.clockOffset
    let clock = HybridClock(offset: offset)
    return abs(clock.offset - known) >= Self.leastOffset
  }

  /// The least change of the offset that counts, in milliseconds. A smaller change means nothing, because messages take
  /// time.
  private static let leastOffset: Int64 = 1000

  /// Notes by how many milliseconds the server's clock is ahead.
  package mutating func learn(offset: Int64) throws(ClientProblem) {
    guard isNew(offset: offset) else { return }
    try storing { () throws(StorageError) in
      try transaction.changeChangelogState { state in
        var clock = HybridClock(last: state.lastStamp, offset: state.clockOffset)
        clock.learn(offset: offset)
        state.clockOffset = clock.offset
      }
    }
    try renew(position)
  }

  // MARK: - Steps

  /// Applies a step whose parts are complete.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  /// - Returns: the refusals of the file's own changesets.
  /// - Throws: `ClientProblem`. The transaction must be cancelled then.
  package mutating func apply(_ parts: StepParts, time: UInt64) throws(ClientProblem) -> [Refusal] {
    guard let step = parts.header else { throw .incompleteStep }
    guard step.from == position.version else {
      throw .otherVersion(file: position.version, step: step.from)
    }
    try check(step)
    try check(step.mark, time: time)
    guard position.hasRoom(for: parts.replicas) else { throw .tooManyReplicas }
    let decided = try checkOwn(step)
    for part in parts.held { try checkOwnChanges(in: part, told: step.own) }
    let new = try storing { () throws(StorageError) in
      var application = try StepApplication(step, pending, position, transaction)
      var position = try transaction.gatheringObjects { () throws(StorageError) in
        try application.apply(parts)
      }
      (position.version, position.tag) = (step.to, step.tag)
      (position.querySet, position.isCopy) = (step.querySet, false)
      if step.partition == nil, position.partition != nil, position.flexibleFrom == nil {
        position.flexibleFrom = step.to
      }
      position.decided = decided
      let last = step.lastSequence &+ position.earlierSequences
      try pending.store(above: last)
      try transaction.acknowledge(upTo: last)
      try store(position, mark: step.mark)
      try QuerySetStore(transaction).forget(before: step.querySet)
      try SubscriptionStore.forget(before: step.querySet, in: transaction.tree(ClientPosition.tree))
      try RefusalStore(transaction).add(step.own.flatMap(\.refusals))
      let tree = try transaction.tree(ClientPosition.tree)
      if let mark = try ResetMark.read(from: tree), decided.sequence >= mark.last {
        try ResetMark.remove(from: tree)
      }
      return position
    }
    try renew(new)
    return step.own.flatMap(\.refusals)
  }

  /// The position of the file, as a session tells it when it begins.
  package func start(wanted: UInt64) throws(ClientProblem) -> SessionStart {
    var (last, all) = (position.decided, [NamedChangeset]())
    while let message = try upload(after: last) {
      last = NamedChangeset(sequence: message.sequence, hash: message.hash)
      all.append(last)
    }
    return SessionStart(
      version: position.version, tag: position.tag, sessionNumber: position.sessionNumber,
      querySet: position.querySet, wanted: wanted, last: last.sequence == 0 ? nil : last, pending: all,
      leastBase: try leastBase())
  }

  /// Stores the session number that the file has to name next. It must be durable before the file names it.
  package mutating func note(sessionNumber: UInt64) throws(ClientProblem) {
    var position = position
    position.sessionNumber = sessionNumber
    try storing { () throws(StorageError) in try position.store(in: transaction.tree(ClientPosition.tree)) }
    self.position = position
  }

  // MARK: - Resets

  /// Replaces the content of the file by what the server has. The changes that no server has decided are written again
  /// on top of it, or dropped.
  ///
  /// - Parameters:
  ///   - parts: all parts of the step from nothing to the view at a version.
  ///   - dropsPending: true if the changes that no server has decided are not written again.
  ///   - time: the time of the machine, in milliseconds since 1970.
  /// - Throws: `ClientProblem`. The transaction must be cancelled then.
  package mutating func reset(
    _ reset: Welcome.Reset, _ parts: StepParts, dropsPending: Bool = false, time: UInt64
  ) throws(ClientProblem) {
    guard let step = parts.header else { throw .incompleteStep }
    guard step.from == reset.registered.version else {
      throw .otherVersion(file: reset.registered.version, step: step.from)
    }
    try check(reset.registered.replica)
    guard position.replicas.count < MessageLimit.stepReplicas else { throw .tooManyReplicas }
    try check(step)
    try check(step.mark, time: time)
    guard position.hasRoom(for: parts.replicas) else { throw .tooManyReplicas }
    for part in parts.held { try checkOwnChanges(in: part, resetTo: reset.registered.replica) }
    var decided = position.decided
    for changeset in reset.integrated where changeset.sequence > decided.sequence {
      guard let message = try upload(after: decided), message.sequence == changeset.sequence,
        message.hash == changeset.hash
      else { throw .wrongAnswer }
      decided = changeset
    }
    let last = decided.sequence &+ position.earlierSequences
    let wasCopy = position.isCopy
    let made = try storing { () throws(StorageError) -> ClientPosition? in
      let end = try pending.sequences().last ?? last
      let dropped = dropsPending ? end : last
      var run = try FileReset(
        reset, step, decided: max(last, dropped), pending, position, time: time, transaction)
      let reached = try transaction.gatheringObjects { () throws(StorageError) in try run.run(parts) }
      guard let position = reached else { return nil }
      try store(position, mark: step.mark)
      try QuerySetStore(transaction).forget(before: step.querySet)
      try SubscriptionStore.forget(before: step.querySet, in: transaction.tree(ClientPosition.tree))
      try RefusalStore(transaction).add(reset.refusals + step.own.flatMap(\.refusals))
      // The beginning of a copy does not count as a reset, because the app had nothing that was replaced.
      guard !wasCopy else { return position }
      guard end > last else {
        // Nothing was written again, so no loop of resets can follow.
        try ResetMark.remove(from: transaction.tree(ClientPosition.tree))
        return position
      }
      let kept = max(end, position.earlierSequences) - position.earlierSequences
      try ResetMark(hasDropped: dropsPending, last: kept, time: time)
        .store(in: transaction.tree(ClientPosition.tree))
      return position
    }
    guard let new = made else { throw .wrongAnswer }
    try renew(new)
  }

  /// Checks that the server decided the file's own changesets, and not those of a copy.
  ///
  /// - Returns: the last changeset that is decided.
  private func checkOwn(_ step: Step) throws(ClientProblem) -> NamedChangeset {
    var decided = position.decided
    for own in step.own where own.sequence > decided.sequence {
      guard own.sequence == decided.sequence + 1, let message = try upload(after: decided),
        message.hash == own.hash
      else { throw .otherChangeset(sequence: own.sequence) }
      decided = NamedChangeset(sequence: own.sequence, hash: own.hash)
    }
    guard step.lastSequence == decided.sequence else { throw .otherChangeset(sequence: step.lastSequence) }
    return decided
  }

  /// The least base of the pending changesets; nil if there are none, or if they have none.
  package func leastBase() throws(ClientProblem) -> UInt64? {
    try storing { () throws(StorageError) in
      guard let first = try pending.sequences().first else { return nil }
      return try pending.pending(first)?.stored.base
    }
  }

  // MARK: - Uploads

  /// The upload of the changeset that follows another one; nil behind the last.
  package func upload(after previous: NamedChangeset) throws(ClientProblem) -> UploadMessage? {
    try storing { () throws(StorageError) in
      guard let pending = try pending.pending(previous.sequence + position.earlierSequences + 1) else {
        return nil
      }
      return UploadMessage(pending, previous, position)
    }
  }
}

extension UploadMessage {
  init(_ pending: PendingChangesets.Pending, _ previous: NamedChangeset, _ position: ClientPosition) {
    var replicas: [UInt64] = [0]
    var places: [UInt64: UInt32] = [0: 0]
    let changeset = pending.changeset.mapReplicas { index in
      let number = Int(index) < position.replicas.count ? position.replicas[Int(index)] : 0
      if let known = places[number] { return known }
      let place = UInt32(replicas.count)
      replicas.append(number)
      places[number] = place
      return place
    }
    self.init(
      sequence: previous.sequence + 1, previous: previous.hash, base: pending.stored.base ?? 0,
      stamp: pending.stored.stamp, querySet: pending.stored.querySet, replicas: replicas, changeset: changeset
    )
  }
}
