import RealmStorage
import RealmSync

/// Takes in what clients send after their start.
extension SyncServer {
  func receive(
    _ message: ClientMessage, _ running: ServerSession.Running, _ id: SessionID, _ time: UInt64
  ) throws(StorageError) {
    switch message {
    case .querySet(let set): try receive(set, running, id, time)
    case .upload(let upload): try receive(upload, running, id, time)
    case .mark(let request):
      var running = running
      running.owed = node.end
      become(id, .running(running))
      send(.mark(request: request, version: node.end), to: id)
    case .retire(let replica): try retire(replica, id, time)
    case .chunk: fail(id, .wrongTime, "A chunk is sent only where both sides have the capability 'chunks'.")
    case .hello, .start: fail(id, .wrongTime, "A client starts once.")
    case .skipped: break
    }
  }

  /// Gives up a file of the user that is gone. The client is told when this is stored. It is told at once if the number
  /// is not that of a file of the user, or the file was given up before.
  private func retire(_ replica: UInt64, _ id: SessionID, _ time: UInt64) throws(StorageError) {
    guard let user = session(id)?.user, node.state.mayRetire(replica, user: user) else {
      return send(.retired(replica: replica), to: id)
    }
    try append(.retire(replica: replica), time)
    change(id) { $0.retiring.append(replica) }
  }

  /// Tells the clients which of the files that they have said to be gone are given up now.
  func answerRetired() {
    let state = node.state
    for id in ids {
      let done = session(id)?.retiring.filter { state.isRetired($0) } ?? []
      guard !done.isEmpty else { continue }
      for replica in done { send(.retired(replica: replica), to: id) }
      change(id) { session in session.retiring.removeAll { state.isRetired($0) } }
    }
  }

  private func receive(
    _ set: QuerySet, _ running: ServerSession.Running, _ id: SessionID, _ time: UInt64
  ) throws(StorageError) {
    guard set.number > running.asked else {
      // A client that connects again sends each query set of which it does not know that the server has it.
      guard node.state.differs(set.hash, from: set.number, of: running.replica) else { return }
      // A file and its copy have made different query sets with the same number. The file would show what the query set
      // of the other one shows.
      try append(.retire(replica: running.replica), time)
      return fail(id, .reset, "The file has been copied, and the copy has other queries.")
    }
    guard set.number < 1 << 62 else {
      return fail(id, .limit, "The number of a query set is greater than any that a file has given.")
    }
    var running = running
    running.sets += 1
    let known = node.state.querySets(of: running.replica).count
    guard max(running.sets, known) <= limits.querySets else {
      return fail(id, .tooMuch, "Too many query sets have come in one session.")
    }
    let answer = try filters(of: set)
    switch answer {
    case .success(let filters):
      let known = node.state.querySetBytes(of: running.replica, from: running.first)
      let kept = max(running.setBytes, known)
      guard kept + filters.size <= limits.querySetsBytes else {
        return fail(id, .tooMuch, "The query sets of the session take too much space.")
      }
      running.setBytes += filters.size
      try append(
        .querySet(
          replica: running.replica, number: set.number, oldest: running.first, hash: set.hash, filters), time)
      running.asked = set.number
      running.sent.insert(set.number)
    case .failure(let problem):
      running.refused[set.number] = running.lastGood
      // No step has to wait for a query set that is refused.
      if set.number >= running.awaited { running.awaited = running.asked }
      send(.querySetRefused(number: set.number, code: problem.code, text: problem.text), to: id)
    }
    become(id, .running(running))
  }

  /// The filters of what the queries of a set show.
  private func filters(
    of set: QuerySet
  ) throws(StorageError) -> Result<ClassFilters, FilterProblem> {
    guard set.queries.count <= Int(limits.messages.querySets) else {
      let text = "A query set has at most \(limits.messages.querySets) queries."
      return .failure(FilterProblem(code: 204, text: text))
    }
    var filters = ClassFilters()
    let snapshot = try node.database.snapshot()
    for query in set.queries {
      guard query.table.utf8.count <= TableSchema.maximumNameLength else {
        let text = "The name of a class has at most \(TableSchema.maximumNameLength) bytes."
        return .failure(FilterProblem(code: 201, text: text))
      }
      let schema = try snapshot.table(query.table)?.schema
      do throws(FilterProblem) {
        let filter = try FieldFilter.parse(
          query.predicate, of: query.table, fields: node.state.settings.fields(of: query.table),
          purpose: .query
        ) { name in
          schema?.columns.first { $0.name == name && $0.collection == .none }?.type
        }
        try filters.add(filter, to: query.table)
      } catch { return .failure(error) }
    }
    guard filters.size <= limits.querySetBytes else {
      let text =
        "The queries of a set take more than \(limits.querySetBytes) bytes: use fewer of them, or shorter lists."
      return .failure(FilterProblem(code: FilterProblem.Code.tooLong, text: text))
    }
    return .success(filters)
  }

  private func receive(
    _ message: UploadMessage, _ running: ServerSession.Running, _ id: SessionID, _ time: UInt64
  ) throws(StorageError) {
    guard !isFull else {
      let text = "The app's file has reached its limit. Whoever runs the server can raise it."
      let wait = limits.messages.longestWait
      return fail(
        id, ProtocolError(code: SessionError.tooMuch.code, text: text, action: .tryLater, wait: wait))
    }
    guard message.base <= running.version else {
      let text =
        "A changeset names the base \(message.base), and the client was told up to \(running.version)."
      return fail(id, .wrongTime, text)
    }
    guard message.base >= node.state.horizon else {
      return fail(id, .reset, "A changeset is older than what the server keeps.")
    }
    // A changeset that the server has already is skipped.
    let last = max(running.appended, node.state.lastSequence(of: running.replica))
    guard message.sequence > last else { return }
    guard message.sequence == last + 1 else {
      return fail(id, .wrongTime, "The changeset \(message.sequence) comes behind the changeset \(last).")
    }
    let querySet = node.state.querySet(message.querySet, of: running.replica)
    guard let named = running.named(querySet, known: node.state.querySets(of: running.replica)) else {
      return fail(id, .wrongTime, "A changeset names the query set \(message.querySet), which was not sent.")
    }
    guard !message.isAllOrNothing else {
      let text = "This server can't refuse a whole changeset for one of its objects."
      return fail(id, .limit, text)
    }
    guard let user = session(id)?.user else { return }
    var running = running
    running.appended = message.sequence
    become(id, .running(running))
    try append(
      .upload(
        Upload(
          replica: running.replica, user: user, sequence: message.sequence, previous: message.previous,
          hash: message.hash, base: message.base, stamp: message.stamp,
          querySets: [named, running.querySet], replicas: message.replicas, changeset: message.changeset)),
      time)
  }
}

extension QuerySet {
  /// A hash of the query set, which differs for other query sets. It is never 0.
  fileprivate var hash: UInt64 {
    ClientMessage.querySet(self).bytes.contentHash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } | 1
  }
}

extension ClassFilters {
  /// Adds the filter of a query to those of the other queries of the class.
  fileprivate mutating func add(_ filter: FieldFilter, to table: String) throws(FilterProblem) {
    let terms = (byClass[table]?.terms ?? []) + filter.terms
    guard terms.count <= FieldFilter.mostTerms else {
      let text = "The queries of '\(table)' have more than \(FieldFilter.mostTerms) alternatives together."
      throw FilterProblem(code: 205, text: text)
    }
    byClass[table] = FieldFilter(terms: terms)
  }
}

extension ServerSession.Running {
  /// The number of the newest query set that was sent and not refused.
  fileprivate var lastGood: UInt64 { max(asked, wanted) }

  /// The query set that counts for a changeset that names a number; nil if no query set with this number was ever sent.
  fileprivate func named(_ number: UInt64, known: Set<UInt64>) -> UInt64? {
    if let good = refused[number] { return good }
    guard number != 0, number != querySet, !known.contains(number), !sent.contains(number) else {
      return number
    }
    return nil
  }
}
