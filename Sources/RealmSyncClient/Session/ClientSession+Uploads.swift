import RealmStorage
import RealmSync

/// The messages that the file sends by itself.
extension ClientSession {
  /// Sends the changes of the file that were not sent yet. It must be called after each commit of the app.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  package func upload(time: UInt64) -> [Action] {
    guard case .running(var running) = state else { return [] }
    do throws(ClientProblem) {
      if running.reset != nil { return try askForSets(running) }
      guard let bound = try durableBound(time) else {
        let waited = time - min(time, undurableSince ?? time)
        return [.callAgain(after: UInt32(Self.longestWait - min(Self.longestWait, waited)))]
      }
      let actions = try reading { (file) throws(ClientProblem) in
        try file.messages(&running, below: bound).map { Action.send($0) }
      }
      state = .running(running)
      return actions
    } catch {
      return actions(error)
    }
  }

  /// The durable part of a file: all changesets below a sequence, and the query sets up to a number.
  fileprivate struct Durable {
    var sequence: UInt64 = 0
    var querySet: UInt64 = 0
  }

  /// The durable part of the file; nil if waiting for more durable changes is worthwhile.
  private func durableBound(_ time: UInt64) throws(ClientProblem) -> Durable? {
    let snapshot = try storing { () throws(StorageError) in try database.snapshot() }
    if !database.isDurable(snapshot.version) {
      // The clock may have been set back.
      let since = min(undurableSince ?? time, time)
      undurableSince = since
      guard time >= since + Self.longestWait else { return nil }
      try flush()
    }
    undurableSince = nil
    let changelog = try storing { () throws(StorageError) in try snapshot.changelog() }
    return changelog.map { Durable(sequence: $0.state.nextSequence, querySet: $0.state.querySet) }
      ?? Durable()
  }

  /// The query sets that a file sends during a reset. They are the one in force and the newest one, because the server
  /// may refuse the newest. Nothing else is sent.
  private func askForSets(_ running: Running) throws(ClientProblem) -> [Action] {
    var running = running
    let sets = try reading { (file) throws(ClientProblem) in
      let newest = file.newestQuerySet
      var sets: [QuerySet] = []
      for number in Set([file.position.querySet, newest]).sorted() where number > running.asked {
        if let set = try file.querySet(number) { sets.append(set) }
      }
      return sets
    }
    guard let last = sets.last else { return [] }
    running.asked = last.number
    state = .running(running)
    return sets.map { .send(.querySet($0)) }
  }
}

extension ClientFile {
  /// The messages that have to be sent next.
  ///
  /// A query set goes before the uploads that name it, and behind those that do not.
  fileprivate func messages(
    _ running: inout ClientSession.Running, below bound: ClientSession.Durable
  ) throws(ClientProblem) -> [ClientMessage] {
    var messages: [ClientMessage] = []
    while running.bytesSent - running.bytesDecided < max(1, running.limit) {
      var upload: UploadMessage?
      if running.sent.sequence + position.earlierSequences + 1 < bound.sequence {
        upload = try self.upload(after: running.sent)
      }
      let needed = upload?.querySet ?? min(newestQuerySet, bound.querySet)
      // The first changes of a file that was made from an unsynced file name the first query set. They wait until the
      // file has that set.
      guard needed <= bound.querySet else { break }
      if needed > running.asked {
        running.asked = needed
        if let set = try querySet(needed) { messages.append(.querySet(set)) }
        continue
      }
      guard let upload else { break }
      let message = ClientMessage.upload(upload)
      running.sent = NamedChangeset(sequence: upload.sequence, hash: upload.hash)
      running.bytesSent += UInt64(message.bytes.count)
      running.underWay.append((upload.sequence, running.bytesSent))
      messages.append(message)
    }
    return messages
  }
}
