import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import TestSupport

/// What must hold.
extension Simulation {
  /// Whoever shows all that the server has shows also what the server makes of the pending changesets, if nothing else comes between.
  func checkPrediction(_ client: Client) throws {
    try sendStep(client)
    while client.session?.steps.isEmpty == false { try applyStep(client) }
    guard let session = client.session, session.upward.isEmpty, session.version == state.version,
      client.partition == nil,
      client.view.querySet == .everything || client.querySets[Int(session.querySet)] == 15,
      client.view.read == .everything
    else { return }
    let transaction = try client.database.beginWrite()
    let shown = try texts(client, transaction)
    transaction.cancel()
    let refusals = count.refusals
    try sendAll(client)
    guard count.refusals == refusals, client.session != nil else { return }
    count.predictions += 1
    defer { client.unpredictable = [] }
    let made = (past[state.version] ?? [:]).mapValues(\.text)
    for key in Set(shown.keys).union(made.keys).subtracting(client.unpredictable).sorted()
    where shown[key] != made[key] {
      // That an object was deleted which the client never saw is not told.
      if made[key] == nil, past[session.version]?[key] == nil { continue }
      throw Failure(
        description: """
          \(client.user) at \(state.version) shows object \(key) as
            \(shown[key] ?? "not there")
          and the server makes of it
            \(made[key] ?? "none")
          """)
    }
  }

  func sendAll(_ client: Client) throws {
    var count = -1
    while let session = client.session, session.upward.count != count {
      count = session.upward.count
      try send(client)
    }
    while client.session?.upward.isEmpty == false { try receive(client) }
  }

  // MARK: - Checks

  /// What was done to an object is told only to who sees it after each change.
  func checkLeaks(_ step: Step, _ view: View) throws {
    for object in step.objects {
      guard case .effects(let all) = object.change, case .int(let key) = object.name.key else { continue }
      for case .others(let decided, _) in all {
        let field = past[decided.version]?[key]?.field
        guard let field, view.shows([field], of: ModelClass.name, ModelClass.settings) else {
          throw Failure(description: "a change of object \(key) outside the view is told")
        }
      }
    }
  }

  func texts(_ client: Client, _ transaction: WriteTransaction) throws -> [Int64: String] {
    let position = try ClientFile(transaction).position
    return try ModelClass.texts(transaction) { position.replicas[Int($0)] }
  }

  /// What stands in the file without its pending changesets is what the server had at its version.
  func checkBase(_ client: Client) throws {
    let transaction = try client.database.beginWrite()
    defer { transaction.cancel() }
    guard let changelog = try transaction.changesets() else { return }
    var pending: [StoredChangeset] = []
    try changelog.forEach(transaction) {
      pending.append($0)
      return true
    }
    for changeset in pending.reversed() { try transaction.undo(changeset) }
    let position = try ClientFile(transaction).position
    try compare(try texts(client, transaction), position.version, client)
  }

  /// What a file has is what the server had at a version, as far as the replica saw it.
  func compare(_ found: [Int64: String], _ version: UInt64, _ client: Client) throws {
    let expected = (past[version] ?? [:]).filter {
      client.view.shows([$0.value.field], of: ModelClass.name, ModelClass.settings)
    }
    for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key]?.text {
      throw Failure(
        description: """
          \(client.user) at \(version): object \(key) is
            \(found[key] ?? "not there")
          in place of
            \(expected[key]?.text ?? "none")
          """)
    }
  }

  func checkAll() throws {
    for client in clients {
      let transaction = try client.database.beginWrite()
      defer { transaction.cancel() }
      let position = try ClientFile(transaction).position
      guard position.version == state.version else {
        throw Failure(description: "\(client.user) is at \(position.version) of \(state.version)")
      }
      guard try transaction.changesets()?.count(transaction) == 0 else {
        var found: [UInt64] = []
        try transaction.changesets()?.forEach(transaction) {
          found.append($0.sequence)
          return true
        }
        throw Failure(
          description:
            "\(client.user) has pending changesets at the end: \(found), decided \(position.decided.sequence)"
        )
      }
      try compare(try texts(client, transaction), state.version, client)
      guard try MergeRecords(transaction).tree.count() == 0 else {
        throw Failure(description: "\(client.user) keeps records without pending changesets")
      }
    }
    for client in clients where !client.written.isEmpty {
      let text = past[state.version]?[client.logKey]?.text ?? ""
      let expected = "6:<" + client.written.map { "\($0)," }.joined() + ">"
      guard text.contains(expected), text.contains("3:\(client.written.count);") else {
        throw Failure(description: "commits of \(client.user) are lost: \(text) in place of \(expected)")
      }
    }
    for client in clients where !client.isReset {
      let replica = try replica(client)
      let made = state.numbers.firstIndex(of: replica).flatMap { refusalsMade[UInt32($0)] } ?? 0
      guard made == client.refusals else {
        throw Failure(description: "\(client.user) was told \(client.refusals) of \(made) refusals")
      }
    }
    for database in clients.map(\.database) + [server] {
      let check = IntegrityCheck.run(try database.snapshot())
      guard check.isClean else { throw Failure(description: "\(check.findings)") }
    }
  }
}
