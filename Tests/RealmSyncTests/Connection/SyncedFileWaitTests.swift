import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Every wait for a session is told its outcome once, and never too early.
@Suite struct SyncedFileWaitTests {
  /// Two files that have had a step.
  private static func pair(
    _ body: (SyncWorld, NetworkedFile, NetworkedFile) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let (one, other) = (try world.file(), try world.file())
      try world.start(one)
      try world.start(other)
      try body(world, one, other)
    }
  }

  // MARK: - Uploads

  @Test func `a commit of an app is uploaded, and comes to the other files`() throws {
    try Self.pair { world, one, other in
      try one.write(1)
      let uploaded = one.uploaded()
      try one.settle()
      #expect(uploaded.all.isEmpty)
      try world.until(uploaded, are: [nil])
      try world.until("the object", tick: 20) { try other.keys() == [1] }
      // If there is nothing to upload, the wait ends at once.
      let again = one.uploaded()
      try one.settle()
      #expect(again.all == [nil])
    }
  }

  @Test func `a wait for an upload does not include commits that come later`() throws {
    try Self.pair { world, one, _ in
      try one.write(1)
      let uploaded = one.uploaded()
      try world.until(uploaded, are: [nil])
      one.core.stop()
      try one.settle()
      try one.write(2)
      let later = one.uploaded()
      try one.settle()
      #expect(later.all.isEmpty && uploaded.all == [nil])
      one.core.start()
      try world.until(later, are: [nil])
      #expect(uploaded.all == [nil])
    }
  }

  @Test func `whoever waited for uploads finds their figures complete`() throws {
    try Self.pair { world, one, _ in
      try one.write(1)
      try one.settle()
      let last = Outcomes<FileNotes.Note?>()
      one.core.whenUploaded { [notes = one.notes] _ in last.add(notes.uploads.last) }
      try world.until("the outcome") { !last.all.isEmpty }
      guard case .uploaded(let done, let total)? = last.all.first ?? nil else {
        Issue.record("\(last.all)")
        return
      }
      #expect(total > 0 && done == total)
    }
  }

  @Test func `the figures of uploads count all bytes in the end`() throws {
    try Self.pair { world, one, _ in
      one.core.stop()
      for key in 1...3 as ClosedRange<Int64> { try one.write(key) }
      try one.settle()
      guard case .uploaded(0, of: let total)? = one.notes.uploads.last, total > 0 else {
        Issue.record("the figures are \(one.notes.uploads)")
        return
      }
      one.core.start()
      try world.until(one.uploaded(), are: [nil])
      try one.settle()
      #expect(one.notes.uploads.last == .uploaded(total, of: total))
      let count = one.notes.uploads.count
      one.core.report()
      try one.settle()
      #expect(one.notes.uploads.count == count + 1)
    }
  }

  // MARK: - Downloads

  @Test func `a wait for a download ends when the file has all objects that the server had`() throws {
    try Self.pair { world, one, other in
      one.core.stop()
      try other.write(1)
      try world.until(other.uploaded(), are: [nil])
      let keys = Outcomes<[Int64]>()
      let database = one.database
      one.core.whenDownloaded { _ in keys.add((try? database.modelKeys()) ?? []) }
      try one.settle()
      #expect(keys.all.isEmpty)
      one.core.start()
      try world.until(keys, are: [[1]])
      #expect(one.notes.all.contains(.downloaded(1, of: 1)))
      // The second wait is in the same session.
      try other.write(2)
      try world.until(other.uploaded(), are: [nil])
      let more = Outcomes<[Int64]>()
      one.core.whenDownloaded { _ in more.add((try? database.modelKeys()) ?? []) }
      try world.until(more, are: [[1, 2]])
    }
  }

  @Test func `waits that began before the first start are told their outcome`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try file.write(1)
      let (uploaded, downloaded, shown) = (file.uploaded(), file.downloaded(), file.shown(1))
      try file.settle()
      #expect(uploaded.all.isEmpty && downloaded.all.isEmpty && shown.all.isEmpty)
      file.core.start()
      try world.until(uploaded, are: [nil])
      try world.until(downloaded, are: [nil])
      try world.until(shown, are: [.success(true)])
    }
  }

  @Test func `a wait continues after a lost connection`() throws {
    try Self.pair { world, one, other in
      try other.write(1)
      try world.until(other.uploaded(), are: [nil])
      let socket = try world.socket()
      let downloaded = one.downloaded()
      try one.write(2)
      let uploaded = one.uploaded()
      try world.until("the question", serves: false) { socket.frames.contains(where: \.isMark) }
      socket.end(.problem(.lost("The connection broke.")))
      try world.until(downloaded, are: [nil])
      try world.until(uploaded, are: [nil])
      #expect(world.network.sockets.count == 2)
      #expect(try one.keys() == [1, 2])
    }
  }

  @Test func `waits continue after a reset`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      try world.start(file)
      try file.write(1)
      try world.until(file.uploaded(), are: [nil])
      let server = try #require(world.server)
      let replica = try #require(try server.replica())
      file.core.stop()
      try file.settle()
      #expect(try server.app.retire(replica: replica, time: world.clock.now))
      try file.write(2)
      let (uploaded, downloaded) = (file.uploaded(), file.downloaded())
      file.core.start()
      // The server learns only from the start that it has to reset the file. It does not answer what it was asked
      // before that.
      try world.until(uploaded, are: [nil])
      try world.until(downloaded, are: [nil])
      #expect(file.notes.all.contains(.wasReset(isRecovered: true)))
      #expect(file.notes.count(.willBeReset) == 1 && file.notes.count(.willDownloadAnew) == 1)
      #expect(try file.keys() == [1, 2])
    }
  }

  // MARK: - Query sets

  @Test func `a wait for a query set is told that the set is in force, or that a newer one is`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file(nil)
      let (old, new) = (try file.ask("q == 1"), try file.ask("q == 2"))
      let (superseded, shown) = (file.shown(old), file.shown(new))
      file.core.start()
      try world.until(superseded, are: [.success(false)])
      try world.until(shown, are: [.success(true)])
      // The file knows the outcome of both sets now.
      try world.until(file.shown(old), are: [.success(false)])
      try world.until(file.shown(new), are: [.success(true)])
    }
  }

  @Test func `a wait for a query set that the server can't use is told the reason, also later`() throws {
    try withTemporaryPath { path in
      let world = try SyncWorld(server: path)
      defer { world.end() }
      let file = try world.file()
      file.core.start()
      try world.until(file.shown(1), are: [.success(true)])
      let number = try file.ask("m == 1")
      let shown = file.shown(number)
      try world.until("the refusal", tick: 20) { !shown.all.isEmpty }
      guard case .failure(.querySetRefused(203, let text))? = shown.all.first else {
        Issue.record("the wait has ended with \(shown.all)")
        return
      }
      #expect(!text.isEmpty && shown.all.count == 1)
      file.core.stop()
      try world.until(file.shown(number), are: shown.all)
      file.core.start()
      try world.until(file.shown(number), are: shown.all)
      #expect(!file.notes.hasEnded)
    }
  }

  // MARK: - Withdrawing

  @Test func `a withdrawn wait is not told an outcome, and nothing of it is kept`() throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    try file.write(1)
    let told = Outcomes<Int>()
    var withdrawals: [@Sendable () -> Void] = []
    for number in 0..<10 {
      withdrawals.append(file.core.whenUploaded { _ in told.add(number) })
      withdrawals.append(file.core.whenDownloaded { _ in told.add(number) })
      withdrawals.append(file.core.whenShown(querySet: 1) { _ in told.add(number) })
    }
    #expect(file.core.countOfWaits == 30)
    for withdraw in withdrawals.dropLast(3) { withdraw() }
    #expect(file.core.countOfWaits == 3)
    file.core.start()
    file.core.stop()
    try file.settle()
    #expect(told.all == [9, 9, 9] && file.core.countOfWaits == 0)
    for withdraw in withdrawals { withdraw() }
    try file.settle()
    #expect(told.all.count == 3)
  }

  // MARK: - The end

  @Test func `waits are told once that the session is stopped`() throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    try file.write(1)
    let (uploaded, downloaded, shown) = (file.uploaded(), file.downloaded(), file.shown(1))
    file.core.start()
    let socket = try world.socket()
    socket.open()
    _ = try world.hello(0, socket)
    #expect(uploaded.all.isEmpty && downloaded.all.isEmpty && shown.all.isEmpty)
    file.core.stop()
    file.core.stop()
    try world.until(uploaded, are: [.stopped])
    try world.until(downloaded, are: [.stopped])
    try world.until(shown, are: [.failure(.stopped)])
    try file.settle()
    #expect(uploaded.all.count == 1 && downloaded.all.count == 1 && shown.all.count == 1)
  }

  @Test func `waits are told that the file is closed, whether or not the session runs`() throws {
    for isStarted in [false, true] {
      let world = try SyncWorld()
      defer { world.end() }
      let file = try world.file()
      try file.write(1)
      if isStarted { file.core.start() }
      let (uploaded, downloaded, shown) = (file.uploaded(), file.downloaded(), file.shown(1))
      let isOver = file.core.endAtOnce { true }
      #expect(isOver)
      #expect(uploaded.all == [.stopped] && downloaded.all == [.stopped], "started: \(isStarted)")
      #expect(shown.all == [.failure(.stopped)], "started: \(isStarted)")
    }
  }
}
