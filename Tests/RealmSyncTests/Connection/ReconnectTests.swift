import Dispatch
import RealmSync
import RealmSyncClient
import RealmTestSupport
import Testing

/// How a client connects again if a connection was lost or could not be opened.
@Suite struct ReconnectTests {
  private static func refused(_ status: Int) -> SocketEnd { .refused(NetworkAnswer(status: status)) }
  private static let unreachable = NetworkProblem.unreachable("Nobody listens.")
  private static let loggedOut = SyncedFileProblem.loggedOut(DrivenAccess.loggedOut)
  private static let hour: UInt64 = 3_600_000

  /// A file that was started in a world without a server.
  private static func started(drawsGreatest: Bool = false) throws -> (SyncWorld, NetworkedFile) {
    let world = try SyncWorld(drawsGreatest: drawsGreatest)
    let file = try world.file()
    file.core.start()
    return (world, file)
  }

  // MARK: - Waits

  @Test(arguments: [false, true])
  func `waits double from 1 second to 300 seconds, and are shorter by at most a quarter`(isLess: Bool) throws
  {
    let (world, _) = try Self.started(drawsGreatest: isLess)
    defer { world.end() }
    let seconds: [UInt64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    for (index, wait) in seconds.map({ $0 * (isLess ? 750 : 1000) }).enumerated() {
      let socket = try world.socket(index)
      socket.end(.problem(Self.unreachable))
      try world.until("a wait") { world.clock.longWaits.count > index }
      #expect(world.clock.longWaits[index] == wait)
      world.clock.advance(wait - 1)
      if index < 3 { try world.stays("no other try") { world.network.sockets.count == index + 1 } }
      world.clock.advance(1)
    }
    _ = try world.socket(seconds.count)
  }

  struct ToldWaits: Sendable {
    let first: UInt32
    let longest: UInt32
    let waits: [UInt64]

    init(_ first: UInt32, _ longest: UInt32, _ waits: [UInt64]) {
      (self.first, self.longest, self.waits) = (first, longest, waits)
    }
  }

  /// Waits that a server tells, and the waits that the client makes of them. A server can't make its clients try
  /// without pause, and can't make them stop.
  private static let toldWaits = [
    ToldWaits(3000, 7000, [3000, 6000, 7000, 7000]), ToldWaits(5000, 10, [5000, 5000]),
    ToldWaits(0, 0, [100, 100]), ToldWaits(.max, .max, [hour, hour]),
  ]

  /// A world whose file was told these waits, with its WebSocket and its channel.
  private static func told(_ told: ToldWaits) throws -> (SyncWorld, DrivenSocket, UInt64) {
    let (world, _) = try started()
    let socket = try world.socket()
    socket.open()
    let channel = try world.hello(0, socket)
    let registered = DrivenFile.welcome(.registered(DrivenFile.registered()))
    guard case .welcome(var welcome) = registered else { return (world, socket, channel) }
    (welcome.limits.firstWait, welcome.limits.longestWait) = (told.first, told.longest)
    socket.give(.welcome(welcome), on: channel)
    try world.until("the start") { socket.frames.count > 1 }
    return (world, socket, channel)
  }

  @Test(arguments: toldWaits)
  func `a connection waits as the server tells in its welcome`(told: ToldWaits) throws {
    let (world, _, _) = try Self.told(told)
    defer { world.end() }
    // Shorter waits belong to timers that do not try again.
    func waits() -> [UInt64] { world.clock.waits.filter { $0 >= 100 } }
    for (index, wait) in told.waits.enumerated() {
      try world.socket(index).end(.problem(Self.unreachable))
      try world.until("a wait") { waits().count == index + 1 }
      #expect(waits().last == wait)
      world.clock.advance(wait)
    }
    _ = try world.socket(told.waits.count)
  }

  @Test func `a session waits as the server tells in its welcome`() throws {
    let (world, socket, channel) = try Self.told(ToldWaits(3000, 7000, []))
    defer { world.end() }
    socket.give(.error(ProtocolError(code: 9, text: "Later.", action: .tryLater)), on: channel)
    socket.give(frame: [], on: channel)
    try world.until("a wait") { world.clock.waits.contains(3000) }
    world.clock.advance(2999)
    try world.stays("one hello") { socket.hellos.count == 1 }
    world.clock.advance(1)
    _ = try world.hello(1, socket)
  }

  @Test func `waits start again after a step`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      world.server?.accepts = false
      let file = try world.file()
      file.core.start()
      for index in 0..<3 {
        try world.socket(index, tick: 100).end(Self.refused(503))
        try world.until("a wait") { world.clock.longWaits.count > index }
      }
      world.server?.accepts = true
      let socket = try world.socket(3, tick: 100)
      try world.until("the first step") { file.notes.all.contains(.changed) }
      socket.end(.problem(.lost("The connection broke.")))
      try world.until("a wait") { world.clock.longWaits.count > 3 }
      #expect(world.clock.longWaits == [1000, 2000, 4000, 1000])
      _ = try world.socket(4, tick: 100)
    }
  }

  @Test func `an app that asks for a connection gets one at once, and the waits start again`() throws {
    let (world, file) = try Self.started()
    defer { world.end() }
    for index in 0..<3 {
      try world.socket(index, tick: 100).end(.problem(Self.unreachable))
      try world.until("a wait") { world.clock.longWaits.count > index }
    }
    file.core.start()
    try world.socket(3).end(.problem(Self.unreachable))
    try world.until("a wait") { world.clock.longWaits.count > 3 }
    #expect(world.clock.longWaits == [1000, 2000, 4000, 1000])
    // The wait that was cut short does not cause a try of its own.
    world.clock.advance(4000)
    _ = try world.socket(4)
    try world.stays("one try") { world.network.sockets.count == 5 }
  }

  @Test func `the client tries at once if a network is there again, or another one`() throws {
    let (world, _) = try Self.started()
    defer { world.end() }
    world.changes.take(["wireless"])
    for index in 0..<3 {
      try world.socket(index, tick: 100).end(.problem(Self.unreachable))
      try world.until("a wait") { world.clock.longWaits.count > index }
    }
    world.changes.take(["wireless"])
    world.changes.take([])
    try world.stays("no other try") { world.network.sockets.count == 3 }
    world.changes.take(["wireless"])
    try world.socket(3).end(.problem(Self.unreachable))
    try world.until("a wait") { world.clock.longWaits.count > 3 }
    #expect(world.clock.longWaits == [1000, 2000, 4000, 1000])
    world.changes.take(["cable", "wireless"])
    _ = try world.socket(4)
    // A try that is under way is not started again.
    world.changes.take(["cable"])
    try world.stays("one try") { world.network.sockets.count == 5 }
  }

  @Test func `an observer hears of changes of the network until it goes away`() {
    let (changes, told) = (NetworkChanges(), Outcomes<Int>())
    var observation: (any NetworkObservation)? = changes.observe { told.add(1) }
    changes.take(["cable"])
    #expect(told.all.isEmpty)
    changes.take(["wireless"])
    #expect(told.all == [1])
    withExtendedLifetime(observation) {}
    observation = nil
    changes.take(["cable"])
    #expect(told.all == [1])
  }

  @Test func `the client tries nothing for a file that has stopped during the wait`() throws {
    let (world, file) = try Self.started()
    defer { world.end() }
    try world.socket().end(.problem(Self.unreachable))
    try world.until("a wait") { world.clock.longWaits == [1000] }
    file.core.stop()
    try file.settle()
    world.clock.advance(Self.hour)
    try world.stays("no other try") { world.network.sockets.count == 1 }
    file.core.start()
    _ = try world.socket(1)
  }

  @Test func `the client tries later if it can't get a token now`() throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    world.access.fail(Self.unreachable)
    file.core.start()
    for index in 0..<2 {
      try world.until("a wait", tick: 100) { world.clock.longWaits.count > index }
    }
    #expect(world.clock.longWaits == [1000, 2000])
    try file.settle()
    #expect(file.notes.count(.lost(.network(Self.unreachable))) == 2)
    world.access.fail(nil)
    _ = try world.socket(0, tick: 100)
  }

  // MARK: - Tokens

  @Test func `a token that the server refuses is replaced at once, and then more and more slowly`() throws {
    let (world, _) = try Self.started()
    defer { world.end() }
    for (index, waits) in ([[], [1000], [1000, 2000]] as [[UInt64]]).enumerated() {
      try world.socket(index).end(Self.refused(401))
      try world.until("the end of the try") {
        world.clock.longWaits == waits && world.access.asked.count == (index == 0 ? 2 : index + 1)
      }
      world.clock.advance(waits.last ?? 0)
    }
    _ = try world.socket(3)
    #expect(world.access.asked == [nil, .token, .token, .token])
    let tokens = world.network.sockets.map { $0.request.subprotocols.last ?? "" }
    #expect(tokens == (1...4).map { "realm-token.token\($0)" })
  }

  @Test func `a connection whose token has expired is made again at once, with another token`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      world.clock.advance(1_800_000)
      try world.socket().end(.code(4001, ""))
      let second = try world.socket(1)
      #expect(world.access.asked == [nil, .token])
      #expect(second.request.subprotocols == ["realm-sync.1", "realm-token.token2"])
      #expect(world.clock.longWaits.isEmpty)
      try file.write(1)
      try world.until(file.uploaded(), are: [nil])
    }
  }

  @Test func `the client waits before it replaces tokens that expire before a first step`() throws {
    let (world, _) = try Self.started()
    defer { world.end() }
    for (index, wait) in ([1000, 2000, 4000] as [UInt64]).enumerated() {
      let socket = try world.socket(index)
      socket.open()
      _ = try world.hello(0, socket)
      socket.end(.code(4001, ""))
      try world.until("a wait") { world.clock.longWaits.count > index }
      #expect(world.clock.longWaits.last == wait)
      world.clock.advance(wait)
    }
    _ = try world.socket(3)
    #expect(world.access.asked == [nil, .token, .token, .token])
  }

  @Test func `the client waits before it replaces tokens that expire after each first step`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      file.core.start()
      // This happens if the clock of the server or of the client is wrong. No time passes here.
      for index in 0..<4 where world.clock.longWaits.isEmpty {
        let socket = try world.socket(index)
        try file.settle()
        let steps = file.notes.count(.changed)
        try world.until("a step") { file.notes.count(.changed) > steps }
        socket.end(.code(4001, ""))
        try world.until("another try") {
          world.network.sockets.count > index + 1 || !world.clock.longWaits.isEmpty
        }
      }
      #expect(!world.clock.longWaits.isEmpty)
    }
  }

  // MARK: - Users who are let in no more

  @Test func `a user whom the server no longer lets in is logged out at once`() throws {
    let (world, file) = try Self.started()
    defer { world.end() }
    let (uploaded, downloaded) = (file.uploaded(), file.downloaded())
    try file.write(1)
    let written = file.uploaded()
    let socket = try world.socket()
    socket.open()
    _ = try world.hello(0, socket)
    socket.end(.code(4003, ""))
    try world.until("the log-out") { world.access.asked == [nil, .user(token: "token1")] }
    try world.until(written, are: [Self.loggedOut], tick: 0)
    try world.until(downloaded, are: [Self.loggedOut], tick: 0)
    #expect(uploaded.all == [nil])
    try world.until("the end") { file.notes.all.contains(.ended(Self.loggedOut)) }
    world.clock.advance(Self.hour)
    try world.stays("no other try") { world.network.sockets.count == 1 }
    // After the next log-in the session begins again.
    world.access.logIn()
    file.core.start()
    let second = try world.socket(1)
    second.open()
    _ = try world.hello(0, second)
    #expect(world.access.asked == [nil, .user(token: "token1"), nil])
  }

  @Test func `the late end of a log-in does not end the next log-in`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      // The user has logged in again, and only now does the server tell the WebSocket that the earlier log-in is over.
      world.access.logInAnew()
      try world.socket().end(.code(4003, ""))
      let second = try world.socket(1)
      #expect(world.access.asked == [nil, .user(token: "token1")])
      #expect(second.request.subprotocols == ["realm-sync.1", "realm-token.token2"])
      try file.write(1)
      try world.until(file.uploaded(), are: [nil])
      #expect(!file.notes.hasEnded)
    }
  }

  @Test func `a refusal by a proxy before the server logs no user out, and the client tries later`() throws {
    let (world, file) = try Self.started()
    defer { world.end() }
    let downloaded = file.downloaded()
    for index in 0..<3 {
      try world.socket(index, tick: 100).end(Self.refused(403))
      try world.until("a wait") { world.clock.longWaits.count > index }
    }
    #expect(world.clock.longWaits == [1000, 2000, 4000])
    #expect(world.access.asked == [nil, nil, nil])
    try file.settle()
    #expect(file.notes.count(.lost(.barred(status: 403))) == 3)
    #expect(!file.notes.hasEnded && downloaded.all.isEmpty)
    let socket = try world.socket(3, tick: 100)
    socket.open()
    _ = try world.hello(0, socket)
  }

  @Test func `the end of an unused log-in does not end the next log-in`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      let socket = try world.socket()
      // The user logs out, of which the server tells the WebSocket, and then logs in again.
      file.core.stop()
      try world.until("the end of the channel") { !socket.left.isEmpty }
      socket.end(.code(4003, ""))
      file.core.start()
      _ = try world.socket(1)
      #expect(world.access.asked == [nil, nil])
      try file.write(1)
      try world.until(file.uploaded(), are: [nil])
    }
  }

  @Test func `the late news of a log-out does not end the session that began after the next log-in`() throws {
    let world = try SyncWorld()
    defer { world.end() }
    let (file, other) = (try world.file(), try world.file())
    world.access.hold()
    file.core.start()
    other.core.start()
    try file.settle()
    try other.settle()
    try world.until("the question for a token") { world.access.asked.count == 1 }
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    file.core.inTurn { gate.wait() }
    file.core.stop()
    file.core.start()
    world.access.logOut()
    world.access.release()
    try world.until("the log-out of the other") {
      other.notes.all.contains { $0 == .lost(Self.loggedOut) || $0 == .ended(Self.loggedOut) }
    }
    try world.stays("no try") { world.network.sockets.isEmpty }
    world.access.logIn()
    gate.signal()
    let socket = try world.socket()
    socket.open()
    _ = try world.hello(0, socket)
  }

  // MARK: - Addresses

  @Test(arguments: [300, 301, 302, 308])
  func `the client asks for a new address if the server has moved`(status: Int) throws {
    let (world, _) = try Self.started()
    defer { world.end() }
    try world.socket().end(Self.refused(status))
    let second = try world.socket(1, tick: 20)
    #expect(world.access.asked == [nil, .route])
    #expect(second.request.url == "ws://server/2")
  }

  @Test(arguments: [400, 404, 410])
  func `a client that a server does not let in asks for the address once, and then gives up`(
    status: Int
  ) throws {
    let (world, file) = try Self.started()
    defer { world.end() }
    let downloaded = file.downloaded()
    try world.socket().end(Self.refused(status))
    try world.socket(1, tick: 20).end(Self.refused(status))
    try world.until(downloaded, are: [.refused(status: status)], tick: 0)
    try world.until("the end") { file.notes.all.contains(.ended(.refused(status: status))) }
    #expect(world.access.asked == [nil, .route])
    world.clock.advance(Self.hour)
    try world.stays("no other try") { world.network.sockets.count == 2 }
    file.core.start()
    _ = try world.socket(2)
  }

  @Test(arguments: [408, 429, 500, 502, 503])
  func `the client tries later if a server can let no client in now`(status: Int) throws {
    let (world, file) = try Self.started()
    defer { world.end() }
    for index in 0..<3 { try world.socket(index, tick: 100).end(Self.refused(status)) }
    try world.until("a wait") { world.clock.longWaits.count > 2 }
    #expect(world.clock.longWaits == [1000, 2000, 4000])
    #expect(world.access.asked == [nil, nil, nil])
    #expect(!file.notes.hasEnded)
  }

  @Test func `a connection that is made again asks for the address, and the files continue`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      let first = try world.socket()
      world.connection.restart()
      try world.until("the end of the WebSocket") { first.ending == .closedHere }
      _ = try world.socket(1)
      #expect(world.access.asked == [nil, .route])
      try file.write(1)
      try world.until(file.uploaded(), are: [nil])
    }
  }
}
