import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import TestSupport

/// What passes between a client and the server.
extension Simulation {
  func present(_ transaction: WriteTransaction) throws -> [Int64: Past] {
    let texts = try ModelClass.texts(transaction) { [state] in state.numbers[Int($0)] }
    var found: [Int64: Past] = [:]
    for (key, text) in texts {
      let object = try transaction.object(ObjectName(ModelClass.name, .int(key)))
      found[key] = Past(text: text, field: try object.values(of: ["q"])?.first ?? .null)
    }
    return found
  }

  func replica(_ client: Client) throws -> UInt64 { try inFile(client) { $0.number } }

  func connect(_ client: Client) throws {
    guard client.session == nil else { return }
    let isNew = try replica(client) == .max
    if try !(isNew ? register(client) : resume(client)) { return }
    let position = try inFile(client) { $0.position }
    let wanted = max(
      position.querySet, state.newestQuerySet(of: try replica(client), upTo: client.wanted))
    client.session = Session(
      sent: position.decided, asked: wanted, wanted: wanted,
      querySet: position.querySet, version: position.version, view: client.view)
  }

  func register(_ client: Client, predecessor: UInt64? = nil) throws -> Welcome.Registered {
    nextReplica += 1
    _ = try append(
      .register(
        Registration(
          replica: nextReplica, user: client.user, partition: client.partition?.value,
          predecessor: predecessor)))
    nextSession += 1
    try inServer { try state.begin(nextReplica, sessionNumber: nextSession, $0) }
    return Welcome.Registered(
      replica: nextReplica, version: state.version, tag: state.tag, mark: state.mark,
      sessionNumber: nextSession)
  }

  /// Answers false where the answer is lost: the file registers again.
  func register(_ client: Client) throws -> Bool {
    let registered = try register(client, predecessor: nil)
    if generator.chance(10) { return false }
    try inFile(client) { try $0.register(registered, partition: client.partition, time: time) }
    return true
  }

  func inServer<Result>(_ body: (WriteTransaction) throws -> Result) throws -> Result {
    let transaction = try server.beginWrite()
    defer { transaction.cancel() }
    let result = try body(transaction)
    try transaction.commit(.relaxed)
    return result
  }

  /// Answers false where the answer is lost.
  func resume(_ client: Client) throws -> Bool {
    let (number, start) = try inFile(client) { ($0.number, try $0.start(wanted: client.wanted)) }
    nextSession += 1
    let answer = try inServer { try state.resume(number, start, offering: nextSession, $0) }
    switch answer {
    case .goesOn(let sessionNumber):
      if generator.chance(3) {
        try reset(client, number, start, isInDoubt: generator.chance(50))
        return true
      }
      if generator.chance(10) { return false }
      // Or the client loses power before the number is durable.
      if generator.chance(90) { try inFile(client) { try $0.note(sessionNumber: sessionNumber) } }
    case .reset(let isInDoubt): try reset(client, number, start, isInDoubt: isInDoubt)
    }
    return true
  }

  func reset(_ client: Client, _ old: UInt64, _ start: SessionStart, isInDoubt: Bool) throws {
    count.resets += 1
    _ = try append(.retire(replica: old))
    let registered = try register(client, predecessor: old)
    let (integrated, refusals) = try inServer { try state.recovery(of: old, start, $0) }
    let wanted = client.wanted
    _ = try append(
      .querySet(
        replica: registered.replica, number: wanted, ModelClass.filters(client.querySets[Int(wanted)])))
    let view = state.view(of: registered.replica, querySet: wanted)
    let step = try inServer {
      try state.step(
        for: registered.replica, from: registered.version, .empty, to: view, querySet: wanted, $0)
    }
    guard let step else { throw Failure(description: "no step for a new replica") }
    let reset = Welcome.Reset(
      registered: registered, integrated: integrated, refusals: refusals, isInDoubt: isInDoubt)
    try inFile(client) { try $0.reset(reset, parts(of: step), time: time) }
    count.recovered += start.pending.count - integrated.count
    client.view = view
    client.isReset = true
    client.unpredictable = Set((0..<Int64(keys)))
    try checkBase(client)
  }

  func send(_ client: Client) throws {
    guard var session = client.session else { return }
    let message = try inFile(client) { try $0.upload(after: session.sent) }
    // A set goes before the uploads that name it, and later ones go after them.
    let needed = message?.querySet ?? client.wanted
    if session.asked < needed {
      session.asked = needed
      session.upward.append(.querySet(needed))
    } else if let message {
      session.upward.append(.upload(message))
      session.sent = NamedChangeset(sequence: message.sequence, hash: message.hash)
    }
    client.session = session
  }

  func receive(_ client: Client) throws {
    guard let session = client.session, !session.upward.isEmpty,
      let next = client.session?.upward.removeFirst()
    else { return }
    let replica = try replica(client)
    switch next {
    case .querySet(let number):
      _ = try append(
        .querySet(replica: replica, number: number, ModelClass.filters(client.querySets[Int(number)])))
      client.session?.wanted = max(session.wanted, number)
    case .upload(let message):
      guard message.base >= state.horizon else {
        // It connects again, and is reset.
        client.session = nil
        return
      }
      count.uploads += 1
      let upload = Upload(
        replica: replica, user: client.user, sequence: message.sequence, previous: message.previous,
        hash: message.hash, base: message.base, stamp: message.stamp,
        querySets: [message.querySet, session.querySet], replicas: message.replicas,
        changeset: message.changeset)
      count.refusals += try append(.upload(upload))?.refusals.count ?? 0
    }
  }

  func sendStep(_ client: Client) throws {
    guard var session = client.session else { return }
    let replica = try replica(client)
    let new = state.view(of: replica, querySet: session.wanted)
    guard session.version < state.version || session.querySet != session.wanted else { return }
    let transaction = try server.beginWrite()
    defer { transaction.cancel() }
    guard
      let step = try state.step(
        for: replica, from: session.version, session.view, to: new, querySet: session.wanted,
        transaction)
    else {
      // It connects again, and is reset.
      client.session = nil
      return
    }
    session.steps.append((step, new))
    (session.version, session.view, session.querySet) = (state.version, new, session.wanted)
    client.session = session
    try checkLeaks(step, new)
    for object in step.objects {
      switch object.change {
      case .effects: count.objects += 1
      case .whole: count.whole += 1
      case .left: count.left += 1
      case .deleted: count.deleted += 1
      }
    }
  }

  /// A step in one part or two, each with a table of replicas of its own.
  func parts(of step: Step) -> [Step] {
    guard generator.chance(30) else { return [step] }
    let half = generator.below(step.objects.count + 1)
    var (first, last) = (step, step)
    first.isLast = false
    first.own = []
    first.objects = Array(step.objects[..<half])
    last.schema = []
    last.replicas = [0] + step.replicas.dropFirst().reversed()
    last.objects = step.objects[half...].map { object in
      object.mapReplicas { $0 == 0 ? 0 : UInt32(step.replicas.count) - $0 }
    }
    return [first, last]
  }
}
