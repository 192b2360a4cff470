import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Synchronization
import Testing

/// How sessions end, and which of them begin again without the app.
@Suite struct SyncedFileEndTests {
  /// A file that has said hello, in a world in which the test plays the server.
  private struct Begun {
    let world: SyncWorld
    let file: NetworkedFile
    let socket: DrivenSocket
    let channel: UInt64

    init() throws {
      let world = try SyncWorld()
      let file = try world.file()
      file.core.start()
      let socket = try world.socket()
      socket.open()
      channel = try world.hello(0, socket)
      self.world = world
      self.file = file
      self.socket = socket
    }

    /// Ends a session as a server does.
    func end(_ error: ProtocolError, on channel: UInt64) {
      socket.give(.error(error), on: channel)
      socket.give(frame: [], on: channel)
    }
  }

  // MARK: - Errors

  @Test func `a session that is told to come back later does so, on another channel`() throws {
    let begun = try Begun()
    let (world, file, socket) = (begun.world, begun.file, begun.socket)
    defer { world.end() }
    let downloaded = file.downloaded()
    let error = ProtocolError(code: 9, text: "There is much to do.", action: .tryLater, wait: 5000)
    begun.end(error, on: begun.channel)
    try world.until("the wait") { world.clock.longWaits.contains(5000) }
    try file.settle()
    #expect(file.notes.count(.lost(.ended(error))) == 1)
    world.clock.advance(4999)
    try world.stays("no other hello") { socket.hellos.count == 1 }
    world.clock.advance(1)
    let second = try world.hello(1, socket)
    #expect(second > begun.channel)
    // Each wait is twice as long as the one before, if the server does not ask for a longer one.
    begun.end(ProtocolError(code: 12, text: "Again.", action: .reset), on: second)
    try world.until("the wait") { world.clock.waits.contains(2000) }
    world.clock.advance(2000)
    #expect(try world.hello(2, socket) > second)
    #expect(world.network.sockets.count == 1 && socket.ending == nil)
    // A call that waits for the download continues to wait.
    try file.settle()
    #expect(downloaded.all.isEmpty && !file.notes.hasEnded)
  }

  @Test func `a session that waits begins at once if the app asks for it`() throws {
    let begun = try Begun()
    let (world, file, socket) = (begun.world, begun.file, begun.socket)
    defer { world.end() }
    begun.end(
      ProtocolError(code: 11, text: "Later.", action: .tryLater, wait: 200_000), on: begun.channel)
    try world.until("the wait") { world.clock.waits.contains(200_000) }
    file.core.start()
    _ = try world.hello(1, socket)
    // The wait that was cut short does not begin a session of its own.
    world.clock.advance(200_000)
    try world.stays("two hellos") { socket.hellos.count == 2 }
  }

  @Test func `a session that waits does not begin once it is stopped`() throws {
    let begun = try Begun()
    let (world, file, socket) = (begun.world, begun.file, begun.socket)
    defer { world.end() }
    begun.end(ProtocolError(code: 11, text: "Later.", action: .tryLater, wait: 2000), on: begun.channel)
    try world.until("the wait") { world.clock.waits.contains(2000) }
    file.core.stop()
    try file.settle()
    world.clock.advance(10_000)
    try world.stays("no other hello") { socket.hellos.count == 1 }
    file.core.start()
    _ = try world.hello(1, socket)
  }

  @Test(arguments: [ProtocolError.Action.updateApp, .stop])
  func `a session that is told to stop does not run until it is started again`(action: ProtocolError.Action)
    throws
  {
    let begun = try Begun()
    let (world, file, socket) = (begun.world, begun.file, begun.socket)
    defer { world.end() }
    try file.write(1)
    let (uploaded, downloaded, shown) = (file.uploaded(), file.downloaded(), file.shown(1))
    let error = ProtocolError(code: 7, text: "No.", action: action)
    begun.end(error, on: begun.channel)
    try world.until(uploaded, are: [.ended(error)], tick: 0)
    try world.until(downloaded, are: [.ended(error)], tick: 0)
    try world.until(shown, are: [.failure(.ended(error))], tick: 0)
    try world.until("the end") { file.notes.all.contains(.ended(.ended(error))) }
    // The WebSocket stays open for other files.
    world.clock.advance(20_000)
    try world.stays("no other hello") { socket.hellos.count == 1 && socket.ending == nil }
    file.core.start()
    #expect(try world.hello(1, socket) > begun.channel)
    #expect(file.notes.count(.ended(.ended(error))) == 1)
  }

  @Test(arguments: [false, true])
  func `a session whose user has to log in logs the user out, unless there was a newer log-in`(
    isNewer: Bool
  ) throws {
    let begun = try Begun()
    let (world, file) = (begun.world, begun.file)
    defer { world.end() }
    let other = try world.file()
    other.core.start()
    _ = try world.hello(1, begun.socket)
    let downloaded = file.downloaded()
    if isNewer { world.access.logInAnew() }
    begun.end(ProtocolError(code: 6, text: "Log in.", action: .logIn), on: begun.channel)
    try world.until("the question") { world.access.asked == [nil, .user(token: "token1")] }
    guard !isNewer else {
      // Both files continue, in a WebSocket of the newer log-in.
      let second = try world.socket(1)
      second.open()
      _ = try world.hello(1, second)
      #expect(second.request.subprotocols.last == "realm-token.token2")
      #expect(!file.notes.hasEnded && !other.notes.hasEnded && downloaded.all.isEmpty)
      return
    }
    let loggedOut = SyncedFileProblem.loggedOut(DrivenAccess.loggedOut)
    try world.until(downloaded, are: [loggedOut], tick: 0)
    for file in [file, other] {
      try world.until("the end") { file.notes.all.contains(.ended(loggedOut)) }
    }
    world.clock.advance(3_600_000)
    try world.stays("no other try") { world.network.sockets.count == 1 }
    world.access.logIn()
    file.core.start()
    _ = try world.socket(1)
  }

  @Test func `an error of one file leaves the others alone`() throws {
    let begun = try Begun()
    let (world, socket) = (begun.world, begun.socket)
    defer { world.end() }
    let other = try world.file()
    other.core.start()
    let channel = try world.hello(1, socket)
    begun.end(ProtocolError(code: 2, text: "No.", action: .stop), on: begun.channel)
    try world.until("the end") { begun.file.notes.hasEnded }
    try other.settle()
    #expect(!other.notes.hasEnded && socket.ending == nil)
    socket.give(DrivenFile.welcome(.registered(DrivenFile.registered())), on: channel)
    try world.until("a start") {
      socket.frames.contains { frame in
        if frame.channel == channel, case .start? = frame.message { true } else { false }
      }
    }
  }

  @Test func `the client opens another channel after one that the server has closed`() throws {
    let begun = try Begun()
    let (world, socket) = (begun.world, begun.socket)
    defer { world.end() }
    var channel = begun.channel
    for (index, wait) in ([1000, 2000, 4000] as [UInt64]).enumerated() {
      socket.give(frame: [], on: channel)
      try world.until("the wait") { world.clock.waits.contains(wait) }
      world.clock.advance(wait)
      let next = try world.hello(index + 1, socket)
      #expect(next > channel)
      channel = next
    }
    #expect(world.network.sockets.count == 1 && !begun.file.notes.hasEnded)
  }

  @Test func `bytes that are not a message end the session`() throws {
    let begun = try Begun()
    defer { begun.world.end() }
    let downloaded = begun.file.downloaded()
    begun.socket.give(frame: [254, 1], on: begun.channel)
    try begun.world.until("the end") { begun.file.notes.hasEnded }
    let problem = downloaded.all.first ?? nil
    guard case .failed(.damagedMessage)? = problem else {
      Issue.record("the wait has ended with \(downloaded.all)")
      return
    }
    try begun.world.until("the end of the channel") { begun.socket.left == [begun.channel] }
    #expect(begun.socket.ending == nil)
  }

  // MARK: - Ending at once

  @Test func `a handler may end its own session at once`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      let ended = Outcomes<Bool>()
      file.notes.react { note, core in
        guard note == .changed, ended.all.isEmpty else { return }
        let isOver = core.endAtOnce { true }
        ended.add(isOver)
      }
      file.core.start()
      try world.until(ended, are: [true])
      try world.until("the end of the channel") { try world.server?.channels() == 0 }
      try file.settle()
      #expect(!file.notes.hasEnded)
    }
  }

  @Test func `a session can be ended at once while it works`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let (file, other) = (try world.file(), try world.file())
      try world.start(file)
      try world.start(other)
      for key in 1...50 as ClosedRange<Int64> { try other.write(key) }
      try world.until("an object", tick: 20) { try !file.keys().isEmpty }
      let isClosed = file.core.endAtOnce {
        file.database.close()
        return true
      }
      #expect(isClosed)
      // Calls that come late do no harm to a file that is closed.
      file.core.didCommit()
      file.core.report()
      try file.settle()
      try world.until(other.uploaded(), are: [nil])
      try world.until("one channel") { try world.server?.channels() == 1 }
      #expect(!file.notes.hasEnded)
    }
  }

  // MARK: - Files that are gone

  @Test func `the server gives up the files that a client reports as gone`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let (gone, file) = (try world.file(), try world.file())
      #expect(try ClientReplica.number(in: gone.database.snapshot()) == nil)
      try world.start(gone)
      let replica = try #require(try ClientReplica.number(in: gone.database.snapshot()))
      gone.core.stop()
      try gone.settle()
      file.notes.gone.withLock { $0 = [replica, replica &+ 1] }
      try world.start(file)
      // The server also answers for a number that is not a file, so that no client need report it again.
      try world.until("the answers", tick: 20) {
        file.notes.all.contains(.retired(replica)) && file.notes.all.contains(.retired(replica &+ 1))
      }
      #expect(try world.server?.app.figures().replicas == 1)
      #expect(file.notes.count(.retired(replica)) == 1 && !file.notes.hasEnded)
      // If the file comes back all the same, the server resets it, and it keeps its changes.
      try gone.write(1)
      gone.core.start()
      try world.until("the reset", tick: 20) { gone.notes.all.contains(.wasReset(isRecovered: true)) }
      try world.until("the object", tick: 20) { try file.keys() == [1] }
    }
  }

  // MARK: - Refusals

  @Test func `a refusal is told, in a later session if it was not told before`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path) {
        let rights = SyncAppSettings.Rights(read: "TRUEPREDICATE", write: "q == 1")
        $0.rights = [ModelClass.name: rights]
      }
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      try file.write(1, 2)
      try world.until(file.uploaded(), are: [nil])
      try world.until("the refusal") { file.notes.all.contains(.hasRefusals) }
      #expect(try file.keys() == [])
      // The program ends before it has asked for the refusal.
      file.core.stop()
      try file.settle()
      let later = try world.file(nil, database: file.database)
      later.core.start()
      try world.until("the refusal", tick: 20) { later.notes.all.contains(.hasRefusals) }
      let (refusals, last) = try later.core.refusals(after: 0)
      #expect(refusals.map(\.reason) == [.notPermitted])
      // The refusals are kept until the app was told of them.
      #expect(try later.core.refusals(after: 0).refusals == refusals)
      #expect(try later.core.refusals(after: last).refusals.isEmpty)
      later.core.forgetRefusals(upTo: last)
      try later.settle()
      #expect(try later.core.refusals(after: 0).refusals.isEmpty)
    }
  }
}
