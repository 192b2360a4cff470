import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Several handles have a synced file open, as several processes do. One of them has the session.
@Suite struct SyncAgentTests {
  private static func database(_ path: String) throws -> Database {
    var options = DatabaseOptions()
    options.history = .synced
    return try Database(path: path, options: options)
  }

  /// Two handles of a file. The first one has the session, and the second one has heard that.
  private static func pair(_ body: (SyncWorld, NetworkedFile, NetworkedFile) throws -> Void) throws {
    try withTemporaryPath { server in
      try withTemporaryPath { path in
        let world = try SyncWorld(server: server)
        defer { world.end() }
        let one = try world.file("", database: database(path))
        let other = try world.file(nil, database: database(path))
        try world.start(one)
        other.core.start()
        try world.until("the other session") { other.notes.all.contains(.hasOtherAgent) }
        try body(world, one, other)
      }
    }
  }

  /// Tells all handles that there may be commits, as handles learn it that wait for commits of other processes.
  private static func hear(_ files: NetworkedFile...) -> Bool {
    for file in files { file.core.othersMayHaveCommitted() }
    return true
  }

  @Test func `one handle of a file talks with the server`() throws {
    try Self.pair { world, one, other in
      for _ in 0..<3 { other.core.othersMayHaveEnded() }
      try other.settle()
      #expect(try world.server?.channels() == 1 && world.socket().hellos.count == 1)
      #expect(other.notes.count(.hasOtherAgent) == 1 && !other.notes.hasEnded)
      #expect(!one.notes.all.contains(.hasOtherAgent))
    }
  }

  @Test func `one handle uploads the commits of another, and the other shows the downloads`() throws {
    try Self.pair { world, one, other in
      let third = try world.file()
      try world.start(third)
      try other.write(1)
      let uploaded = other.uploaded()
      try world.until("the upload", tick: 20) { Self.hear(one, other) && uploaded.all == [nil] }
      try world.until("the object", tick: 20) { try third.keys() == [1] }
      try third.write(2)
      try world.until("the other object", tick: 20) { try Self.hear(one, other) && other.keys() == [1, 2] }
      try world.until("a change that is told") { Self.hear(other) && other.notes.all.contains(.changed) }
      #expect(try world.server?.channels() == 2)
    }
  }

  @Test func `a query set of one handle is asked for by the other one`() throws {
    try Self.pair { world, one, other in
      let shown = other.shown(try other.ask("q == 1"))
      try world.until("the query set", tick: 20) {
        Self.hear(one, other) && shown.all == [.success(true)]
      }
      let refused = other.shown(try other.ask("m == 1"))
      try world.until("the refusal", tick: 20) { Self.hear(one, other) && !refused.all.isEmpty }
      guard case .failure(.querySetRefused)? = refused.all.first else {
        Issue.record("the wait has ended with \(refused.all)")
        return
      }
    }
  }

  @Test func `a wait for a download is refused if another handle has the session`() throws {
    try Self.pair { world, one, other in
      try world.until(other.downloaded(), are: [.otherAgent])
      other.core.stop()
      let downloaded = other.downloaded()
      try other.settle()
      #expect(downloaded.all.isEmpty)
      other.core.start()
      try world.until(downloaded, are: [.otherAgent])
      try world.until(one.downloaded(), are: [nil])
    }
  }

  @Test(arguments: [false, true])
  func `a session begins when that of another handle ends`(isClosed: Bool) throws {
    try Self.pair { world, one, other in
      if isClosed {
        let isOver = one.core.endAtOnce {
          one.database.close()
          return true
        }
        #expect(isOver)
      } else {
        one.core.stop()
      }
      try world.until("the session") {
        other.core.othersMayHaveEnded()
        return other.notes.all.contains(.became(.connected))
      }
      try other.write(1)
      try world.until(other.uploaded(), are: [nil])
      try world.until(other.downloaded(), are: [nil])
      guard !isClosed else { return }
      one.core.start()
      try world.until("the other session") { one.notes.all.contains(.hasOtherAgent) }
      #expect(try one.keys() == [1])
    }
  }

  @Test func `a session begins when the process that had it has died without notice`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld()
      defer { world.end() }
      let gone = try Self.database(path)
      #expect(try gone.becomeSyncAgent())
      let file = try world.file("", database: Self.database(path))
      file.core.start()
      try world.until("the other session") { file.notes.all.contains(.hasOtherAgent) }
      file.core.othersMayHaveEnded()
      try file.settle()
      #expect(world.network.sockets.isEmpty)
      gone.close()
      file.core.othersMayHaveEnded()
      let socket = try world.socket()
      socket.open()
      _ = try world.hello(0, socket)
      #expect(file.notes.count(.hasOtherAgent) == 1)
    }
  }
}
