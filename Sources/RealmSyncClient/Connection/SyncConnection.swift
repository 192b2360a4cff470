import Dispatch
import RealmStorage
import RealmSync

/// The WebSocket of a user to a server, and the channels in it (docs/sync-protocol.md, "Channels").
///
/// The WebSocket is opened when the first file needs it, opened again if it is lost, and closed some time after the
/// last file has left.
package final class SyncConnection: @unchecked Sendable {
  // Sendable: all mutable state is used on the queue.

  /// The greatest number of channels that a server allows in a WebSocket (docs/sync-protocol.md, "Channels"). A user
  /// with more files needs another connection for them.
  package static let mostMembers = 100

  package struct Settings: Sendable, Equatable {
    /// All times are in milliseconds.
    package var connectTimeout: UInt64 = 120_000
    package var linger: UInt64 = 30_000
    package var pingPeriod: UInt64 = 60_000
    package var pongTimeout: UInt64 = 120_000

    package init() {}
  }

  private enum State {
    /// No file needs the connection, or no other try is to be made.
    case idle
    case routing
    case opening(any SyncSocket)
    case open(any SyncSocket)
    /// Another try follows.
    case waiting
  }

  private struct Member {
    let member: any ConnectionMember
    /// The number that the member has chosen. It gets the number back with the events of its channel.
    let run: UInt64
    var channel: UInt64?
  }

  /// A channel of the WebSocket. Members know it by a handle, which is never used again. It gets its number in the
  /// WebSocket with its first frame, because a server takes no number that is not greater than all before.
  private struct Channel {
    let member: ObjectIdentifier
    var number: UInt64?
  }

  private let network: any SyncNetwork
  private let access: any SyncAccess
  private let settings: Settings
  private let clock: any SyncClock
  private let queue = DispatchQueue(label: "io.realm.sync.connection")
  private var state = State.idle
  /// The number of the present try. Events of an earlier try are ignored.
  private var attempt: UInt64 = 0
  private var refusal: RouteRefusal?
  /// The access token of the present try.
  private var token = ""
  private var hasWorked = false
  private var backOff = BackOff()
  /// True if the connection was made directly after another one, and has not been of use yet.
  private var isRepeated = false
  /// True if the connection has been of use, so that its end does not count as a failure.
  private var hadProgress = false
  private var members: [ObjectIdentifier: Member] = [:]
  /// The channels by their handles.
  private var channels: [UInt64: Channel] = [:]
  private var handles: [UInt64: UInt64] = [:]
  private var lastHandle: UInt64 = 0
  /// The first handle of the present WebSocket.
  private var firstHandle: UInt64 = 1
  private var lastNumber: UInt64 = 0
  /// The time at which the WebSocket was opened.
  private var openedAt: UInt64 = 0
  /// The number of the present wait for the end. An earlier wait has no effect.
  private var lingers: UInt64 = 0
  private var observation: (any NetworkObservation)?

  /// - Parameter monitor: reports when waiting for the next try has become pointless; nil if nothing reports that.
  package init(
    _ network: any SyncNetwork, _ access: any SyncAccess, settings: Settings = Settings(),
    clock: any SyncClock = SystemClock(), monitor: (any NetworkMonitor)? = nil
  ) {
    (self.network, self.access, self.settings, self.clock) = (network, access, settings, clock)
    observation = monitor?.observe { [weak self] in self?.reconnect() }
  }

  // MARK: - Members

  /// Adds a file, which gets channels until it leaves.
  ///
  /// - Parameters:
  ///   - run: a number that the member has chosen.
  ///   - atOnce: true ends a wait for the next try.
  package func join(_ member: any ConnectionMember, run: UInt64, atOnce: Bool = false) {
    queue.async { [self] in
      lingers += 1
      if atOnce { backOff.reset() }
      add(member, run, atOnce: atOnce)
    }
  }

  private func add(_ member: any ConnectionMember, _ run: UInt64, atOnce: Bool) {
    members[ObjectIdentifier(member)] = Member(member: member, run: run)
    switch state {
    case .open: openChannel(ObjectIdentifier(member))
    case .idle: connect()
    case .routing, .opening: member.connectionBecame(.connecting)
    case .waiting: if atOnce { connect() } else { member.connectionBecame(.disconnected) }
    }
  }

  /// Removes a file, which needs no channel any more.
  package func leave(_ member: any ConnectionMember) {
    queue.async { [self] in
      guard remove(member) else { return }
      guard members.isEmpty else { return }
      if case .open = state { linger() } else { end() }
    }
  }

  /// Removes a member and closes its channel. Returns true if it was a member.
  private func remove(_ member: any ConnectionMember) -> Bool {
    guard let known = members.removeValue(forKey: ObjectIdentifier(member)) else { return false }
    if let handle = known.channel, let channel = channels.removeValue(forKey: handle),
      let number = channel.number
    {
      handles[number] = nil
      transmit([], number)
    }
    return true
  }

  /// Handles the message of a server on a channel that the user has to log in: the log-in of the WebSocket is over. The
  /// giver of the token logs the user out if the user still has that token, and all members are told. Otherwise a new
  /// WebSocket is opened, with a channel for each member.
  ///
  /// - Parameters:
  ///   - channel: the channel on which it was told. A channel of an earlier WebSocket says nothing about the present
  ///     one.
  ///   - run: the number of `join`. The member has another channel from now on.
  package func endLogIn(toldOn channel: UInt64, to member: any ConnectionMember, run: UInt64) {
    queue.async { [self] in
      lingers += 1
      _ = remove(member)
      guard case .open = state, channel >= firstHandle else { return add(member, run, atOnce: false) }
      members[ObjectIdentifier(member)] = Member(member: member, run: run)
      refusal = .user(token: token)
      lose(.closed(code: 4003, text: "The user has to log in."), retries: true, atOnce: true)
    }
  }

  private func linger() {
    lingers += 1
    let current = lingers
    clock.after(settings.linger, on: queue) { [weak self] in
      guard let self, current == self.lingers, self.members.isEmpty else { return }
      self.end()
    }
  }

  /// Tries to connect at once, even if no other try was to be made.
  package func reconnect() {
    queue.async { [self] in
      backOff.reset()
      switch state {
      case .idle, .waiting: if !members.isEmpty { connect() }
      case .routing, .opening, .open: break
      }
    }
  }

  /// Closes the WebSocket and opens another one, because the headers or the address have changed.
  package func restart() {
    queue.async { [self] in
      (refusal, hasWorked) = (.route, false)
      drop(.closed(code: 1000, text: "The connection is made anew."))
      if !members.isEmpty { connect() }
    }
  }

  /// Closes the WebSocket at once, because its user is logged out.
  package func close() { queue.async { [self] in end() } }

  /// Notes that a session has got what it asked for.
  package func noteProgress() {
    queue.async { [self] in
      (hadProgress, isRepeated) = (true, false)
      backOff.reset()
    }
  }

  /// Takes over the waits between tries that a server has told in a session.
  package func follow(_ limits: Welcome.Limits) { queue.async { [self] in backOff.follow(limits) } }

  package func send(_ frame: [UInt8], on channel: UInt64) {
    queue.async { [self] in
      guard let known = channels[channel] else { return }
      if let number = known.number { return transmit(frame, number) }
      lastNumber += 1
      channels[channel]?.number = lastNumber
      handles[lastNumber] = channel
      transmit(frame, lastNumber)
    }
  }

  /// Reports that a frame of a channel was processed.
  ///
  /// - Parameter bytes: the number of bytes of the frame.
  package func taken(_ bytes: Int, on channel: UInt64) {
    queue.async { [self] in
      if case .open(let socket) = state, channel >= firstHandle {
        socket.taken(bytes + SocketLimit.messageCost)
      }
    }
  }

  private func transmit(_ frame: [UInt8], _ number: UInt64) {
    guard case .open(let socket) = state else { return }
    var message: [UInt8] = []
    message.reserveCapacity(frame.count + 3)
    message.appendVarint(number)
    message += frame
    socket.send(message)
  }

  private func openChannel(_ id: ObjectIdentifier) {
    guard let member = members[id] else { return }
    lastHandle += 1
    members[id]?.channel = lastHandle
    channels[lastHandle] = Channel(member: id)
    member.member.connectionBecame(.connected)
    member.member.opened(channel: lastHandle, run: member.run)
  }

  // MARK: - The connection

  private func connect() {
    attempt += 1
    let current = attempt
    let refused = refusal
    (state, hadProgress, refusal) = (.routing, false, nil)
    for member in members.values { member.member.connectionBecame(.connecting) }
    access.route(after: refused) { [weak self] result in
      guard let self else { return }
      self.queue.async {
        guard current == self.attempt else { return }
        switch result {
        case .success(let route): self.open(route)
        case .failure(.notNow(let problem)): self.fail(.network(problem))
        case .failure(.loggedOut(let text)): self.fail(.loggedOut(text))
        }
      }
    }
  }

  private func open(_ route: SyncRoute) {
    let current = attempt
    token = route.token
    let request = SocketRequest(
      url: route.url, headers: route.headers, subprotocols: ["realm-sync.1", "realm-token.\(route.token)"],
      connectTimeout: settings.connectTimeout, pingPeriod: settings.pingPeriod,
      pongTimeout: settings.pongTimeout, certificate: route.certificate)
    let socket = network.connect(request) { [weak self] event in
      guard let self else { return }
      self.queue.async { if current == self.attempt { self.receive(event) } }
    }
    state = .opening(socket)
  }

  private func receive(_ event: SocketEvent) {
    switch event {
    case .opened:
      guard case .opening(let socket) = state else { return }
      (state, hasWorked, openedAt) = (.open(socket), true, clock.now)
      (channels, handles, lastNumber, firstHandle) = ([:], [:], 0, lastHandle + 1)
      for id in members.keys { openChannel(id) }
    case .message(let bytes): receive(bytes)
    case .closed(let end): ended(end)
    }
  }

  private func receive(_ bytes: [UInt8]) {
    guard case .open(let socket) = state else { return }
    var reader = ByteReader(bytes)
    guard let number = reader.varint(), number > 0 else {
      // The server speaks another protocol. The connection is closed and tried again later.
      return lose(.closed(code: 1002, text: "A message of the server has no channel."), retries: true)
    }
    guard let handle = handles[number], let id = channels[handle]?.member, let member = members[id]?.member
    else { return socket.taken(bytes.count + SocketLimit.messageCost) }
    let frame = Array(bytes.suffix(reader.count))
    guard frame.isEmpty else {
      socket.taken(bytes.count - frame.count)
      return member.received(frame, on: handle)
    }
    socket.taken(bytes.count + SocketLimit.messageCost)
    (handles[number], channels[handle], members[id]) = (nil, nil, nil)
    member.connectionBecame(.disconnected)
    member.closed(channel: handle, because: .server)
    if members.isEmpty { linger() }
  }

  private func ended(_ end: SocketEnd) {
    switch end {
    case .closedHere: lose(.closed(code: 1000, text: ""), retries: true)
    case .code(let code, let text):
      switch code {
      case 4001: refusal = .token
      case 4003: refusal = .user(token: token)
      default: break
      }
      // The first step always arrives. If tokens end directly behind it again and again, new ones are fetched more and
      // more slowly.
      let hasServed = hadProgress && clock.now >= openedAt + Self.served
      lose(
        .closed(code: code, text: ServerText.readable(text)), retries: true,
        atOnce: code == 4003 || (code == 4001 && hasServed))
    case .refused(let answer): refused(answer.status)
    case .problem(let problem):
      if !hasWorked { refusal = .route }
      lose(.network(problem), retries: true)
    }
  }

  /// The milliseconds after which a connection counts as one that has served.
  private static let served: UInt64 = 10_000

  /// Handles an answer to the handshake with another status than 101.
  private func refused(_ status: Int) {
    let loss = ConnectionLoss.network(.lost("The server has answered with the status \(status)."))
    switch status {
    case 401:
      refusal = .token
      lose(loss, retries: true, atOnce: true)
    // No server of this protocol answers with 403, but something in front of it may. The status says nothing about the
    // user's log-in.
    case 403: lose(.barred(status: status), retries: true)
    case 300..<400:
      refusal = .route
      lose(loss, retries: true)
    case 408, 429, 500...: lose(loss, retries: true)
    default:
      if hasWorked {
        fail(.refused(status: status))
      } else {
        refusal = .route
        hasWorked = true
        lose(loss, retries: true)
      }
    }
  }

  private func fail(_ loss: ConnectionLoss) { lose(loss, retries: !loss.isFinal) }

  /// Handles a connection that was lost or could not be made.
  ///
  /// - Parameters:
  ///   - retries: true if another connection is made, after a wait that grows with consecutive failures.
  ///   - atOnce: true if it is made now, unless the last one was also made at once and has not been of use.
  private func lose(_ loss: ConnectionLoss, retries: Bool, atOnce: Bool = false) {
    // A token that is refused again and again is replaced more and more slowly.
    let isAtOnce = atOnce && (refusal == .user(token: token) || !isRepeated)
    isRepeated = atOnce
    let without = members.values.filter { $0.channel == nil }
    drop(loss, isTold: !isAtOnce)
    if !isAtOnce { for member in without { member.member.failed(loss, run: member.run) } }
    guard retries, !members.isEmpty else {
      // The next file that joins may have a new log-in.
      refusal = nil
      return
    }
    state = .waiting
    let current = attempt
    let wait = isAtOnce ? 0 : backOff.next(clock)
    clock.after(wait, on: queue) { [weak self] in
      guard let self, current == self.attempt, case .waiting = self.state else { return }
      self.connect()
    }
  }

  /// Closes the connection and all channels.
  ///
  /// - Parameter isTold: true if members are told of a loss; false if another connection is made at once.
  private func drop(_ loss: ConnectionLoss, isTold: Bool = false) {
    switch state {
    case .opening(let socket), .open(let socket): socket.close()
    case .idle, .routing, .waiting: break
    }
    attempt += 1
    state = .idle
    (channels, handles) = ([:], [:])
    for (id, member) in members {
      members[id]?.channel = nil
      member.member.connectionBecame(.disconnected)
      if let channel = member.channel {
        member.member.closed(channel: channel, because: isTold ? .loss(loss) : .renewal)
      }
    }
  }

  private func end() {
    drop(.closed(code: 1000, text: ""))
    refusal = nil
  }
}
