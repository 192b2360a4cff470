import RealmInterchange
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient

/// The commands that carry messages.
extension Lab {
  /// The most connections that a device makes within one sync.
  private static let mostConnections = 5
  private static let mostRounds = 100

  private func note(_ who: String, _ text: String) { log.append("\(who): \(text)") }

  // MARK: - Commands

  func sync(_ name: String?) throws {
    let chosen = try name.map { [try device($0)] } ?? devices
    guard let first = chosen.first else {
      throw LabProblem("There is no device yet.", "Make one by: new a")
    }
    if name != nil { try checkIsOnline(first) }
    try begin(chosen)
    var rounds = 0
    var isMoved = true
    while isMoved, rounds < Self.mostRounds {
      (isMoved, rounds) = (false, rounds + 1)
      for device in chosen where try exchange(device) { isMoved = true }
    }
    for device in chosen { try tellEnd(device) }
    if isMoved { try say("After \(rounds) rounds there is still something to say: the lab has stopped.") }
  }

  /// Breaks the connection in the middle: half of the device's messages arrive, and half of the answers.
  func kill(_ device: LabDevice) throws {
    try checkIsOnline(device)
    try begin([device])
    if device.connection == nil {
      try connect(device)
      try carryUp(device, .max)
      try runServer()
      try carryDown(device, .max)
    }
    try offer(device)
    guard let connection = device.connection else { return try tellEnd(device) }
    let up = connection.upward.count
    try carryUp(device, (up + 1) / 2)
    try runServer()
    let down = connection.downward.count
    try carryDown(device, down / 2)
    for frame in connection.upward { noteLost("\(device.name) → server", frame) }
    for frame in connection.downward { noteLost("server → \(device.name)", frame) }
    drop(device)
    try say(
      "\((up + 1) / 2) of \(Wording.count(up, "message")) of \(device.name) arrived, and \(down / 2) of "
        + "\(Wording.count(down, "answer")); then the connection broke.")
  }

  private func checkIsOnline(_ device: LabDevice) throws(LabProblem) {
    guard device.facts.isOnline else {
      throw LabProblem("\(device.name) is offline.", "Let it connect by: \(device.name) online")
    }
    if let problem = device.problem {
      throw LabProblem(
        "\(device.name) has stopped: \(problem)", "Let it try again by: \(device.name) online")
    }
  }

  private func begin(_ chosen: [LabDevice]) throws {
    log = []
    let tables = try tables()
    for device in chosen {
      (device.connections, device.sent, device.received) = (0, 0, 0)
      if device.facts.isOnline, device.problem == nil { try device.subscribe(tables) }
    }
  }

  private func tellEnd(_ device: LabDevice) throws {
    if let problem = device.problem { return try say("\(device.name): has stopped. \(problem)") }
    guard device.facts.isOnline else { return try say("\(device.name): is offline") }
    let version = try device.reading { $0.position.version }
    let pending = try device.pendingCount()
    try say(
      "\(device.name): sent \(Wording.count(device.sent, "message")), got \(device.received); is at version "
        + "\(version), "
        + (pending == 0 ? "nothing is pending" : "\(Wording.count(pending, "changeset")) pending"))
  }

  // MARK: - One device

  /// Carries all messages between a device and the server.
  ///
  /// - Returns: whether there were any.
  private func exchange(_ device: LabDevice) throws -> Bool {
    var isMoved = false
    for _ in 0..<Self.mostRounds {
      guard device.facts.isOnline, device.problem == nil else { return isMoved }
      if device.connection == nil {
        guard device.connections < Self.mostConnections else { return isMoved }
        try connect(device)
      }
      try offer(device)
      if device.connection?.upward.isEmpty == false { isMoved = true }
      try carryUp(device, .max)
      try runServer()
      guard device.connection?.downward.isEmpty == false else { return isMoved }
      isMoved = true
      try carryDown(device, .max)
    }
    return isMoved
  }

  private func connect(_ device: LabDevice) throws {
    device.connections += 1
    device.lastError = nil
    device.connection = LabDevice.Connection(server.sync.connect(user: device.facts.user))
    let actions: [ClientSession.Action]
    do throws(ClientProblem) {
      actions = try device.session.connected()
    } catch {
      return stop(device, error.description)
    }
    try perform(actions, device)
  }

  /// Sends the changes of the file that are not sent yet, if there is a connection.
  func offer(_ device: LabDevice) throws {
    guard device.connection != nil else { return }
    // Only what is durable is sent.
    try device.database.flush()
    try perform(device.session.upload(time: clock.now()), device)
  }

  /// Breaks the connection, and loses all messages on their way.
  func drop(_ device: LabDevice) {
    guard let connection = device.connection else { return }
    device.connection = nil
    device.session.disconnected()
    server.sync.disconnect(connection.id)
  }

  func dropAll() { for device in devices { drop(device) } }

  private func stop(_ device: LabDevice, _ problem: String) {
    device.problem = folder.shown(problem)
    note(device.name, "stops: \(folder.shown(problem))")
    drop(device)
  }

  // MARK: - Messages

  /// Carries at most `most` messages of a device to the server.
  private func carryUp(_ device: LabDevice, _ most: Int) throws {
    var left = most
    while left > 0, let connection = device.connection, !connection.upward.isEmpty {
      left -= 1
      let frame = connection.upward.removeFirst()
      let message: ClientMessage
      do throws(MessageDamage) {
        message = try ClientMessage(bytes: frame)
      } catch {
        stop(device, error.description)
        continue
      }
      device.sent += 1
      note("\(device.name) → server", LabMessageText.line(message, frame))
      try server.sync.receive(message, from: connection.id, time: clock.now())
    }
  }

  /// Lets the server integrate what has arrived, and puts its answers on their way.
  func runServer() throws {
    repeat {
      for action in try server.sync.run(time: clock.now()) {
        // Before the server closes a connection, it sends an error, and the device closes the connection then.
        guard case .send(let frame, let id) = action else { continue }
        devices.first { $0.connection?.id == id }?.connection?.downward.append(frame)
      }
    } while server.sync.hasWork
  }

  /// Carries at most `most` messages of the server to a device.
  private func carryDown(_ device: LabDevice, _ most: Int) throws {
    var left = most
    while left > 0, let connection = device.connection, !connection.downward.isEmpty {
      left -= 1
      let frame = connection.downward.removeFirst()
      server.sync.noteSent(frame.count, by: connection.id)
      let message: ServerMessage
      do throws(MessageDamage) {
        message = try ServerMessage(bytes: frame)
      } catch {
        try perform(device.session.receive(error), device)
        continue
      }
      device.received += 1
      note("server → \(device.name)", LabMessageText.line(message, frame))
      if case .error(let error) = message { device.lastError = error.text }
      try perform(device.session.receive(message, time: clock.now()), device)
    }
  }

  /// Notes a message that is lost. The numbers of message kinds show which side has sent it.
  private func noteLost(_ way: String, _ frame: [UInt8]) {
    if let message = try? ClientMessage(bytes: frame) {
      note(way, "lost: " + LabMessageText.line(message, frame))
    } else if let message = try? ServerMessage(bytes: frame) {
      note(way, "lost: " + LabMessageText.line(message, frame))
    }
  }

  /// Does what the session of a device requests.
  private func perform(_ actions: [ClientSession.Action], _ device: LabDevice) throws {
    for action in actions {
      switch action {
      case .send(let message): device.connection?.upward.append(message.bytes)
      case .disconnect(let retry): try disconnect(device, retry)
      case .failed(let problem): stop(device, problem.description)
      case .refused: try tellRefusals(device)
      case .applied(let version): note(device.name, "has applied all up to version \(version)")
      case .showsQuerySet(let number): note(device.name, "shows what query set \(number) finds")
      case .querySetRefused(_, _, let text):
        try say("\(device.name): the server refuses the query. \(text)")
      case .willReset(let isInDoubt):
        try say("\(device.name): is reset, since \(LabMessageText.cause(isInDoubt: isInDoubt))")
      case .didReset(let isRecovered):
        let pending = isRecovered ? "what was pending was written again" : "what was pending was dropped"
        note(device.name, "was reset; \(pending)")
      // The next round makes everything durable before it is sent.
      case .callAgain, .mark, .retired, .ended: break
      }
    }
  }

  private func disconnect(_ device: LabDevice, _ retry: ClientSession.Retry) throws {
    drop(device)
    guard device.problem == nil else { return }
    switch retry {
    case .after(0): note(device.name, "connects again")
    case .after:
      device.connections = Self.mostConnections
      try say("\(device.name): tries again at the next sync. \(device.lastError ?? "")")
    case .whenLoggedIn, .withNewerApp, .never:
      stop(device, device.lastError ?? "The session has ended.")
    }
  }

  private func tellRefusals(_ device: LabDevice) throws {
    for (_, refusal) in try device.reading({ try $0.refusals() }) {
      try say("\(device.name): was refused \(refusal.text)")
    }
  }
}
