import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// The checks of a simulation.
extension Simulation {
  /// Checks the prediction of a client that shows all objects of the server: it also shows the result that the server
  /// will make of the pending changesets, if no other change comes first.
  func checkPrediction(_ client: Client) throws {
    try runServer()
    while client.connection?.downward.isEmpty == false { try deliver(client) }
    guard let connection = client.connection, connection.upward.isEmpty, connection.downward.isEmpty,
      client.partition == nil
    else { return }
    let position = try inFile(client) { $0.position }
    guard position.version == state.version, position.tag == state.tag, try mask(client, position) == 15,
      try view(client, position, try replica(client)).read == .everything
    else { return }
    let transaction = try client.database.beginWrite()
    let shown = try texts(client, transaction)
    transaction.cancel()
    let refusals = count.refusals
    time += 100
    try perform(client.session.upload(time: time), client)
    while client.connection?.upward.isEmpty == false { try receive(client.connection) }
    try runServer()
    guard count.refusals == refusals, client.connection != nil,
      try inFile(client, { try $0.start(wanted: 0).last?.sequence ?? 0 })
        == state.lastSequence(of: replica(client))
    else { return }
    count.predictions += 1
    defer { client.unpredictable = [] }
    let made = (past[state.version] ?? [:]).mapValues(\.text)
    for key in Set(shown.keys).union(made.keys).subtracting(client.unpredictable).sorted()
    where shown[key] != made[key] {
      // A client is not told of the deletion of an object that it never saw.
      if made[key] == nil, past[position.version]?[key] == nil { continue }
      throw Failure(
        description: """
          \(client.user) at \(position.version) shows object \(key) as
            \(shown[key] ?? "not there")
          and the server at \(state.version) makes of it
            \(made[key] ?? "none")
          """)
    }
  }

  // MARK: - Checks

  /// Checks that the change of an object is told only to a client that sees the object after the change.
  func checkLeaks(_ step: Step, to replica: UInt64) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let view = state.view(of: replica, querySet: step.querySet, at: step.to)
    for object in step.objects {
      guard case .effects(let all) = object.change else { continue }
      for case .others(let decided, _) in all {
        let entry = try state.history(of: decided.version, transaction)
        let after = entry?.objects.first { $0.name == object.name }?.after
        guard view.shows(after, of: object.name.table, ModelClass.settings) else {
          throw Failure(
            kind: .leaked, description: "a change of object \(object.name.key) outside the view is told")
        }
      }
    }
  }

  /// The objects that a file shows, as a mask over the values of the filter field.
  func mask(_ client: Client, _ position: ClientPosition) throws -> Int {
    client.partition != nil && position.querySet > 0 ? 15 : client.querySets[Int(position.querySet)]
  }

  /// The view that decides which objects a file has.
  func view(_ client: Client, _ position: ClientPosition, _ number: UInt64) throws -> View {
    let querySet = position.querySet == 0 ? ClassFilters() : ModelClass.filters(try mask(client, position))
    var view = state.view(of: number, querySet: 0, at: position.version)
    view.querySet = querySet
    return view
  }

  func texts(_ client: Client, _ transaction: WriteTransaction) throws -> [Int64: String] {
    let position = try ClientFile(transaction).position
    return try ModelClass.texts(transaction) { position.replicas[Int($0)] }
  }

  /// Checks that a file without its pending changesets has the objects that the server had at the file's version.
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
    try compare(try texts(client, transaction), ClientFile(transaction), client)
  }

  /// Checks that a file has the objects that the server had at a version, as far as the replica saw them.
  func compare(
    _ found: [Int64: String], _ file: ClientFile, _ client: Client, at version: UInt64? = nil
  ) throws {
    let version = version ?? file.position.version
    let view = try view(client, file.position, file.number)
    let expected = (past[version] ?? [:]).filter {
      view.shows([$0.value.field], of: ModelClass.name, ModelClass.settings)
    }
    for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key]?.text {
      throw Failure(
        description: """
          \(client.user) at \(version) with query set \(file.position.querySet): object \(key) is
            \(found[key] ?? "not there")
          in place of
            \(expected[key]?.text ?? "none")
          """)
    }
  }

  /// Checks that no commit is lost or counts twice.
  private func checkCommits() throws {
    for client in clients {
      let found = try noted(client, in: database)
      let lost = Set(client.written).subtracting(found)
      guard lost.isEmpty else {
        throw Failure(kind: .lost, description: "the commits \(lost.sorted()) of \(client.user) are lost")
      }
      guard !client.isCopied, !client.written.isEmpty else { continue }
      let text = past[state.version]?[client.logKey]?.text ?? ""
      guard found.count == client.written.count, text.contains("3:\(client.written.count);") else {
        throw Failure(description: "commits of \(client.user) count twice: \(text)")
      }
    }
  }

  func checkAll() throws {
    for client in clients {
      let transaction = try client.database.beginWrite()
      defer { transaction.cancel() }
      let file = try ClientFile(transaction)
      let position = file.position
      guard try transaction.changesets()?.count(transaction) == 0 else {
        var found: [UInt64] = []
        try transaction.changesets()?.forEach(transaction) {
          found.append($0.sequence)
          return true
        }
        throw Failure(
          kind: .hung,
          description:
            "\(client.user) has pending changesets at the end: \(found), decided \(position.decided.sequence)"
        )
      }
      // No change of the versions that a client was not told of concerns it.
      try compare(try texts(client, transaction), file, client, at: state.version)
      guard try MergeRecords(transaction).tree.count() == 0 else {
        throw Failure(description: "\(client.user) keeps records without pending changesets")
      }
    }
    try checkCommits()
    for client in clients where !client.isReset {
      let made = refusalsMade[try replica(client)] ?? 0
      guard made == client.refusals || client.hasLostPower && made < client.refusals else {
        throw Failure(description: "\(client.user) was told \(client.refusals) of \(made) refusals")
      }
    }
    for database in clients.map(\.database) + [database] {
      let check = IntegrityCheck.run(try database.snapshot())
      guard check.isClean else { throw Failure(description: "\(check.findings)") }
    }
  }
}
