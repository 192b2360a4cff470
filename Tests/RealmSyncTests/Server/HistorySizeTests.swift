import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// The size of a server's history, and its limit.
@Suite struct HistorySizeTests {
  private static let day: UInt64 = 86_400_000

  private static func bytes(_ driven: DrivenServer) throws -> UInt64 {
    let transaction = try driven.database.beginWrite()
    defer { transaction.cancel() }
    return try driven.state.historyBytes(transaction)
  }

  /// A server with many changes that one of its files has not seen. That file is not connected.
  private static func filled() throws -> (DrivenServer, writer: DrivenClient, behind: DrivenClient) {
    let driven = try DrivenServer()
    let (writer, behind) = (try driven.running("writer"), try driven.running("anna"))
    driven.server.disconnect(behind.id)
    var generator = SeededGenerator(seed: 4)
    for key in 1...40 as ClosedRange<Int64> {
      // The text is random, so that compression does not make it shorter.
      let text = generator.bytes(300).map { String($0, radix: 36) }.joined()
      try writer.upload(.creation(key, 1, text: text))
      try driven.run()
    }
    return (driven, writer, behind)
  }

  @Test func `the history grows with each upload, and shrinks with each trim`() throws {
    let (driven, writer, _) = try Self.filled()
    let whole = try Self.bytes(driven)
    #expect(whole > 40 * 300)
    try writer.upload(.creation(41, 1, text: String(repeating: "x", count: 10_000)))
    try driven.run()
    let more = try Self.bytes(driven) - whole
    #expect(more > 20 && more < 10_000, "what can be compressed takes \(more) bytes")
    try driven.append(.trim(horizon: driven.state.version))
    try driven.run()
    #expect(try Self.bytes(driven) < 200)
    // The size is the same for another node that starts with this file.
    let node = try ServerNode(driven.database, settings: ModelClass.settings, log: MemoryLog())
    let transaction = try driven.database.beginWrite()
    defer { transaction.cancel() }
    #expect(try node.state.historyBytes(transaction) == driven.state.historyBytes(transaction))
  }

  @Test func `the oldest part of a history with too many bytes goes, and files that need it are reset`()
    throws
  {
    let (driven, writer, behind) = try Self.filled()
    let whole = try Self.bytes(driven)
    // The file behind needs the history, and the history is not too large.
    #expect(try driven.server.trim(offline: Self.day, keeping: whole, time: driven.time) == nil)
    #expect(try driven.server.trim(offline: nil, keeping: whole, time: driven.time) == nil)
    try driven.run()
    #expect(driven.state.horizon <= behind.version)
    let end = driven.state.version
    let cut = try #require(
      try driven.server.trim(offline: Self.day, keeping: whole / 2, time: driven.time))
    #expect(cut.bytes > whole - 200 && cut.bytes < whole + 200)
    #expect(cut.horizon > behind.version && cut.horizon < end)
    #expect(cut.replicas >= 1)
    try driven.run()
    #expect(driven.state.horizon == cut.horizon)
    // About half of the history is left: not more than the limit, and not much less. The entry of the trim is added to
    // it.
    let left = try Self.bytes(driven)
    #expect(left <= whole / 2 + 200 && left > whole / 2 - 2000)
    // A client that is up to date continues.
    try writer.upload(.creation(50, 1))
    try driven.run()
    #expect(!writer.isClosed && writer.own.last?.refusals == [])
    behind.connect()
    try driven.exchange(behind.hello, behind.id)
    let answers = try driven.exchange(behind.start, behind.id)
    guard case .reset(let reset)? = answers.welcome(behind.id) else {
      Issue.record("not reset: \(answers.messages[behind.id] ?? [])")
      return
    }
    #expect(!reset.isInDoubt)
    #expect(IntegrityCheck.run(try driven.database.snapshot()).isClean)
  }

  @Test func `an app reports how large its history is, and how often it was cut`() throws {
    try withTemporaryPath { path in
      var settings = SyncAppSettings()
      settings.limits.historyBytes = 1
      var drawn = SeededGenerator(seed: 2)
      var time: UInt64 = 1_800_000_000_000
      let app = try SyncApp(path: path, settings: settings, time: time) { drawn.next() >> 1 | 1 }
      defer { app.close() }
      for number in 0..<3 as Range<Int> {
        // The data of a user is a part of the history.
        _ = try app.connect(user: "anna", data: ["roles": [.string("role \(number)")]], time: time)
        _ = try app.run(time: time)
        time += 1000
      }
      let figures = try app.figures()
      #expect(figures.historyBytes > 0 && figures.historyCuts == 0)
      let cut = try #require(try app.trim(offline: nil, time: time))
      #expect(cut.bytes == figures.historyBytes && cut.replicas == 0)
      _ = try app.run(time: time)
      #expect(try app.figures().historyCuts == 1 && app.figures().historyBytes < figures.historyBytes)
    }
  }
}
