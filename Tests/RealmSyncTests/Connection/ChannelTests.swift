import Dispatch
import RealmSync
import RealmSyncClient
import RealmTestSupport
import Testing

/// The channels of a connection.
@Suite struct ChannelTests {
  @Test func `the numbers of channels grow in the order in which files say hello`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let files = try (0..<4).map { _ in try world.file() }
      let gates = files.map { _ in DispatchSemaphore(value: 0) }
      defer { for gate in gates { gate.signal() } }
      for (file, gate) in zip(files, gates) {
        file.core.start()
        file.core.inTurn { gate.wait() }
      }
      let socket = try world.socket()
      // One session gets its channel late, because its queue has other work or the disk is slow.
      for (count, gate) in gates.reversed().enumerated() {
        gate.signal()
        _ = try world.hello(count, socket)
      }
      #expect(socket.hellos == socket.hellos.sorted() && Set(socket.hellos).count == 4)
      for file in files { try world.until("a first step") { file.notes.all.contains(.changed) } }
    }
  }

  @Test func `files share a WebSocket, which stays when one of them leaves`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let (one, other) = (try world.file(), try world.file())
      try world.start(one)
      try world.start(other)
      let socket = try world.socket()
      #expect(try world.server?.channels() == 2)
      one.core.stop()
      try world.until("the end of a channel") { try world.server?.channels() == 1 }
      #expect(socket.left == [socket.hellos[0]])
      try other.write(1)
      try world.until(other.uploaded(), are: [nil])
      #expect(world.network.sockets.count == 1 && socket.ending == nil)
      #expect(socket.request.subprotocols == ["realm-sync.1", "realm-token.token1"])
    }
  }

  @Test func `a file that stops and starts in quick order has a channel in the end`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      for key in 1...20 as ClosedRange<Int64> {
        file.core.stop()
        file.core.start()
        try file.write(key)
      }
      try world.until(file.uploaded(), are: [nil])
      let hellos = try world.socket().hellos
      #expect(hellos == hellos.sorted() && Set(hellos).count == hellos.count)
      #expect(world.network.sockets.count == 1)
      try world.until("one channel") { try world.server?.channels() == 1 }
    }
  }

  @Test func `a session that was started before the connection begins only once`() throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    for _ in 0..<3 { file.core.start() }
    let socket = try world.socket()
    socket.open()
    _ = try world.hello(0, socket)
    file.core.start()
    try world.stays("one hello") { socket.hellos.count == 1 && world.network.sockets.count == 1 }
  }

  // MARK: - The end of the WebSocket

  @Test func `the WebSocket is closed some time after the last file has left`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      let socket = try world.socket()
      file.core.stop()
      try world.until("the wait for its end") { world.clock.waits.contains(30_000) }
      world.clock.advance(29_999)
      try world.stays("the WebSocket is open") { socket.ending == nil }
      world.clock.advance(1)
      try world.until("the end of the WebSocket") { socket.ending == .closedHere }
      // A file that starts later gets another WebSocket.
      file.core.start()
      _ = try world.socket(1)
    }
  }

  @Test func `the WebSocket's time after the last file starts again if another file came and left`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      let socket = try world.socket()
      func leave(_ count: Int) throws {
        file.core.stop()
        try world.until("a wait for the end") { world.clock.waits.count { $0 == 30_000 } == count }
      }
      try leave(1)
      world.clock.advance(20_000)
      file.core.start()
      try world.until("another channel") { socket.hellos.count == 2 }
      try leave(2)
      world.clock.advance(20_000)
      // The first wait is over, and the second one is not.
      try world.stays("the WebSocket is open") { socket.ending == nil }
      world.clock.advance(10_000)
      try world.until("the end of the WebSocket") { socket.ending == .closedHere }
    }
  }

  // MARK: - What comes late

  /// Calls `body` with a file that has said hello and whose session then stands still. Meanwhile its WebSocket gets
  /// answers and is lost, and a second WebSocket opens.
  private static func late(_ body: (SyncWorld, _ second: DrivenSocket) throws -> Void) throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    file.core.start()
    let first = try world.socket()
    first.open()
    let channel = try world.hello(0, first)
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    file.core.inTurn { gate.wait() }
    first.give(DrivenFile.welcome(.registered(DrivenFile.registered())), on: channel)
    first.end(.problem(.lost("The connection broke.")))
    try world.until("the wait for another") { world.clock.longWaits == [1000] }
    world.clock.advance(1000)
    let second = try world.socket(1)
    second.open()
    gate.signal()
    _ = try world.hello(0, second)
    try body(world, second)
  }

  @Test func `a session does not send messages for a lost WebSocket to the next one`() throws {
    try Self.late { world, second in
      #expect(second.frames.first?.isHello == true)
      try world.stays("a hello") { second.frames.count == 1 }
    }
  }

  @Test func `bytes that came from a lost WebSocket do not count as worked on for the next one`() throws {
    try Self.late { world, second in
      try world.stays("no byte") { second.takenBytes == 0 }
    }
  }

  @Test func `every byte that comes is reported as worked on, even if no session wants it`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let (one, other) = (try world.file(), try world.file())
      try world.start(one)
      try world.start(other)
      for key in 1...10 as ClosedRange<Int64> { try one.write(key) }
      try world.until("the objects", tick: 20) { try other.keys() == Array(1...10) }
      let socket = try world.socket()
      try world.until("all bytes") { socket.takenBytes == socket.givenBytes }
      one.core.stop()
      try world.until("the end of a channel") { !socket.left.isEmpty }
      // The server did not know yet that the client has closed the channel.
      socket.give(.mark(request: 1, version: 1), on: socket.left[0])
      socket.give(frame: [7, 8, 9], on: 1000)
      socket.give(frame: [], on: 1001)
      try world.until("all bytes") { socket.takenBytes == socket.givenBytes }
      #expect(!other.notes.hasEnded)
    }
  }

  @Test(arguments: [[], [0], [0, 1, 2], [255, 255]] as [[UInt8]])
  func `a message without a channel ends the WebSocket, and another is opened later`(
    message: [UInt8]
  ) throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    file.core.start()
    let socket = try world.socket()
    socket.open()
    _ = try world.hello(0, socket)
    socket.give(message)
    try world.until("the end of the WebSocket") { socket.ending == .closedHere }
    try world.until("the wait for another") { world.clock.longWaits == [1000] }
    world.clock.advance(1000)
    let second = try world.socket(1)
    second.open()
    _ = try world.hello(0, second)
  }
}
