import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// The messages between a client and the server.
extension Simulation {
  func connect(_ client: Client) throws {
    guard client.connection == nil else { return }
    client.connection = Connection(server.connect(user: client.user))
    try perform(try client.session.connected(), client)
  }

  /// Breaks the connection, with all messages that are under way to the client. Messages under way to the server may
  /// still arrive.
  func lose(_ client: Client) throws {
    guard let connection = client.connection else { return }
    if !connection.upward.isEmpty || !connection.downward.isEmpty { count.broken += 1 }
    client.connection = nil
    client.session.disconnected()
    if generator.chance(50) {
      server.disconnect(connection.id)
    } else {
      connection.downward = []
      lingering.append(connection)
    }
  }

  /// Carries out the actions of a client's session.
  func perform(_ actions: [ClientSession.Action], _ client: Client) throws {
    for action in actions {
      switch action {
      case .send(let message): client.connection?.upward.append(message.bytes)
      case .disconnect: try lose(client)
      case .failed(let problem): throw Failure(description: "\(client.user) fails: \(problem)")
      case .refused: try takeRefusals(client)
      case .willReset: client.unpredictable = Set(0..<Int64(keys))
      case .didReset:
        count.resets += 1
        guard mayReset else { throw Failure(description: "\(client.user) is reset without a cause") }
        client.isReset = true
        if client.isWritingToLost { client.written = [] }
        client.isWritingToLost = false
      case .applied:
        count.applied += 1
        try checkBase(client)
      case .querySetRefused(let number, _, let text):
        throw Failure(description: "the query set \(number) of \(client.user) is refused: \(text)")
      case .showsQuerySet, .mark, .retired, .callAgain, .ended: break
      }
    }
  }

  private func takeRefusals(_ client: Client) throws {
    client.refusals += try inFile(client) { file in
      let refusals = try file.refusals()
      try file.forgetRefusals(upTo: refusals.last?.number ?? 0)
      return refusals.count
    }
  }

  /// Gives the server the next message of a client.
  func receive(_ connection: Connection?) throws {
    guard let connection, !connection.upward.isEmpty else { return }
    let message = try ClientMessage(bytes: connection.upward.removeFirst())
    if case .upload(let upload) = message {
      count.uploads += 1
      let name = UploadName(replica: server.replica(of: connection.id) ?? 0, sequence: upload.sequence)
      sent[name] = upload.changeset
    }
    try server.receive(message, from: connection.id, time: time)
    if connection.upward.isEmpty { lingering.removeAll { $0 === connection } }
  }

  /// Lets the server integrate the messages that have come, and answer them.
  func runServer() throws {
    let old = state.version
    let actions = try server.run(time: time)
    let transaction = try database.beginWrite()
    past[state.version] = try present(transaction)
    for version in stride(from: old + 1, through: state.version, by: 1) {
      guard let entry = try state.history(of: version, transaction) else { continue }
      count.refusals += entry.refusals.count
      let replica = state.numbers[Int(entry.replica)]
      refusalsMade[replica, default: 0] += entry.refusals.count
      let name = UploadName(replica: replica, sequence: entry.sequence)
      if let changeset = sent.removeValue(forKey: name) { count.decided.add(changeset, entry) }
    }
    transaction.cancel()
    for action in actions {
      switch action {
      case .send(let frame, let id):
        server.noteSent(frame.count, by: id)
        if case .step(let step) = try ServerMessage(bytes: frame) { try note(step, id) }
        clients.first { $0.connection?.id == id }?.connection?.downward.append(frame)
      case .close(let id):
        // The client learns of the close after all messages that were sent.
        lingering.removeAll { $0.id == id }
      }
    }
  }

  private func note(_ step: Step, _ id: SyncServer.SessionID) throws {
    for object in step.objects {
      switch object.change {
      case .effects: count.effects += 1
      case .whole: count.whole += 1
      case .left: count.left += 1
      case .deleted: count.deleted += 1
      }
    }
    if let replica = server.replica(of: id) { try checkLeaks(step, to: replica) }
  }

  /// Gives the client the next message of the server.
  func deliver(_ client: Client) throws {
    guard let connection = client.connection, !connection.downward.isEmpty else { return }
    let message = try ServerMessage(bytes: connection.downward.removeFirst())
    try note(message, client)
    // A client may lose power right after its answer.
    try perform(client.session.receive(message, time: time), client)
  }

  private func note(_ message: ServerMessage, _ client: Client) throws {
    guard case .step(let step) = message else { return }
    let hasPending = try inFile(client) { file in try file.upload(after: file.position.decided) != nil }
    for object in step.objects {
      if hasPending, case .whole = object.change, case .int(let key) = object.name.key {
        client.unpredictable.insert(key)
      }
    }
    if step.isLast, !hasPending { client.unpredictable = [] }
  }

  /// Carries messages until a client and the server have nothing more to say.
  func exchange(_ client: Client) throws {
    for _ in 0..<1000 {
      time += 100
      try connect(client)
      try perform(client.session.upload(time: time), client)
      while client.connection?.upward.isEmpty == false { try receive(client.connection) }
      try runServer()
      guard client.connection?.downward.isEmpty == false || server.hasWork else { return }
      while client.connection?.downward.isEmpty == false { try deliver(client) }
    }
    throw Failure(kind: .hung, description: "\(client.user) and the server talk without end")
  }

  func present(_ transaction: WriteTransaction) throws -> [Int64: Past] {
    let texts = try ModelClass.texts(transaction) { [state] in state.numbers[Int($0)] }
    var found: [Int64: Past] = [:]
    for (key, text) in texts {
      let object = try transaction.object(ObjectName(ModelClass.name, .int(key)))
      found[key] = Past(text: text, field: try object.values(of: ["q"])?.first ?? .null)
    }
    return found
  }
}
