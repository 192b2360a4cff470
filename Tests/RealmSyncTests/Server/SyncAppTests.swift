import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// The server of an app with the connections of its clients. Every message is written to bytes and read from them.
@Suite struct SyncAppTests {
  private static let time: UInt64 = 1_800_000_000_000

  /// A WebSocket of a client, with the client's files.
  private final class Socket {
    let app: SyncApp
    let connection: SyncApp.Connection
    var files: [UInt64: ClientSession] = [:]
    private(set) var isClosed = false
    private(set) var closedChannels: [UInt64] = []
    private var upward: [[UInt8]] = []

    init(_ app: SyncApp, _ user: String, data: [String: [Value]] = [:]) throws {
      self.app = app
      connection = try app.connect(user: user, data: data, time: time)
    }

    func open(_ channel: UInt64, _ predicate: String = "") throws -> Database {
      var options = DatabaseOptions()
      options.history = .synced
      let database = try Database(creatingIn: MemoryStorage(name: "file"), options: options)
      try database.write { transaction in
        var file = try ClientFile(transaction)
        _ = try file.setQueries([DrivenClient.query(predicate)])
      }
      let session = ClientSession(database)
      files[channel] = session
      take(try session.connected(), channel)
      return database
    }

    func send(_ bytes: [UInt8], _ channel: UInt64) {
      var message: [UInt8] = []
      message.appendVarint(channel)
      upward.append(message + bytes)
    }

    private func take(_ actions: [ClientSession.Action], _ channel: UInt64) {
      for case .send(let message) in actions { send(message.bytes, channel) }
    }

    private func take(_ actions: [SyncApp.Action]) throws {
      for action in actions {
        switch action {
        case .close(let connection, _): if connection == self.connection { isClosed = true }
        case .send(let message, let connection):
          guard connection == self.connection else { continue }
          app.noteSent(message, to: connection)
          var reader = ByteReader(message.bytes)
          let channel = reader.varint() ?? 0
          #expect(channel == message.channel)
          let frame = Array(message.bytes.suffix(reader.count))
          guard !frame.isEmpty else {
            closedChannels.append(channel)
            continue
          }
          guard let session = files[channel] else { continue }
          take(session.receive(try ServerMessage(bytes: frame), time: time), channel)
        }
      }
    }

    /// Continues until both sides have nothing more to say.
    func exchange() throws {
      for _ in 0..<100 {
        for (channel, session) in files where session.isConnected {
          take(session.upload(time: time), channel)
        }
        let messages = upward
        upward = []
        for message in messages { try take(try app.receive(message, from: connection, time: time)) }
        try take(try app.run(time: time))
        if messages.isEmpty { return }
      }
      Issue.record("the client and the server talk without end")
    }
  }

  private static func app(_ path: String, _ change: (inout SyncAppSettings) -> Void = { _ in }) throws
    -> SyncApp
  {
    var settings = SyncAppSettings()
    settings.fields = [ModelClass.name: ["q"]]
    change(&settings)
    var drawn = SeededGenerator(seed: 7)
    return try SyncApp(path: path, settings: settings, time: time) { drawn.next() >> 1 | 1 }
  }

  private static func write(_ key: Int64, _ field: Int64, _ database: Database) throws {
    try database.write { transaction in
      if try transaction.table(ModelClass.name) == nil { try ModelClass.make(transaction) }
      _ = try transaction.table(ModelClass.name)?.insert(["id": .int(key), "q": .int(field)])
    }
  }

  @Test func `files of one connection get the same objects, each on its own channel`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path)
      let socket = try Socket(app, "anna")
      let (first, second) = (try socket.open(1), try socket.open(2, "q == 1"))
      try Self.write(1, 1, first)
      try Self.write(2, 2, first)
      try socket.exchange()
      #expect(try first.modelKeys() == [1, 2] && second.modelKeys() == [1])
      try Self.write(3, 1, second)
      try socket.exchange()
      #expect(try first.modelKeys() == [1, 2, 3] && second.modelKeys() == [1, 3])
      #expect(try app.figures().channels == 2)
      // A channel that its client closes is gone, and its number is not used again.
      socket.send([], 1)
      socket.files[1] = nil
      try socket.exchange()
      #expect(try app.figures().channels == 1)
      socket.send([1, 2, 3], 1)
      try socket.exchange()
      #expect(try app.figures().channels == 1 && !socket.isClosed)
      app.disconnect(socket.connection)
      #expect(try app.figures().connections == 0)
      app.close()
    }
  }

  @Test func `a damaged message ends its channel, and the other channels continue`() throws {
    try withTemporaryPath { path in
      let socket = try Socket(Self.app(path), "anna")
      let file = try socket.open(1)
      try socket.exchange()
      socket.send([255, 255, 255], 2)
      try Self.write(1, 1, file)
      try socket.exchange()
      #expect(socket.closedChannels == [2])
      #expect(try file.modelKeys() == [1] && socket.app.figures().channels == 1)
    }
  }

  @Test func `a message without a channel ends the connection`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path)
      let socket = try Socket(app, "anna")
      socket.send([2], 0)
      try socket.exchange()
      #expect(socket.isClosed)
      #expect(try app.figures().connections == 0)
    }
  }

  @Test func `a channel above the limit is refused, and the others continue`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path) { $0.limits.channels = 3 }
      let socket = try Socket(app, "anna")
      let files = try (1...4 as ClosedRange<UInt64>).map { channel in try socket.open(channel) }
      try Self.write(1, 1, files[0])
      try socket.exchange()
      #expect(!socket.isClosed && socket.closedChannels == [4])
      #expect(socket.files[4]?.isConnected == false)
      #expect(try files[2].modelKeys() == [1] && app.figures().channels == 3)
      // If another channel is closed, there is room.
      socket.send([], 1)
      socket.files[1] = nil
      let file = try socket.open(5)
      try socket.exchange()
      #expect(try file.modelKeys() == [1] && app.figures().channels == 3)
      #expect(!socket.isClosed && socket.closedChannels == [4])
    }
  }

  @Test func `the server continues, whatever comes over a connection`() throws {
    for seed in Slow.seeds(10, slow: 500) {
      try withTemporaryPath { path in
        var generator = SeededGenerator(seed: seed)
        let app = try Self.app(path)
        let honest = try Socket(app, "honest")
        let file = try honest.open(1)
        try honest.exchange()
        for round in 0..<30 {
          let hostile = try Socket(app, "hostile")
          _ = try hostile.open(1)
          for _ in 0..<20 {
            let length = generator.chance(50) ? generator.below(8) : generator.below(300)
            hostile.send(generator.bytes(length), UInt64(generator.below(4)))
          }
          try hostile.exchange()
          app.disconnect(hostile.connection)
          try Self.write(Int64(round), 1, file)
          try honest.exchange()
          #expect(!honest.isClosed && honest.closedChannels.isEmpty, "seed \(seed)")
        }
        let other = try Socket(app, "other")
        let copy = try other.open(1)
        try other.exchange()
        #expect(try copy.modelKeys() == Array(0..<30), "seed \(seed)")
      }
    }
  }

  // MARK: - Settings

  @Test func `rights are read from their texts, and apply from the next start on`() throws {
    try withTemporaryPath { path in
      let open = try Self.app(path)
      let writer = try Socket(open, "writer")
      let file = try writer.open(1)
      for key in 1...3 as ClosedRange<Int64> { try Self.write(key, key, file) }
      try writer.exchange()
      open.close()
      let app = try Self.app(path) {
        let text = "q IN $user.custom_data.numbers"
        $0.rights = [ModelClass.name: SyncAppSettings.Rights(read: text, write: text, insert: "q == 3")]
      }
      let anna = try Socket(app, "anna", data: ["custom_data.numbers": [.int(1), .int(3)]])
      let copy = try anna.open(1)
      try anna.exchange()
      #expect(try copy.modelKeys() == [1, 3])
      try Self.write(11, 1, copy)
      try Self.write(13, 3, copy)
      try anna.exchange()
      #expect(try copy.modelKeys() == [1, 3, 13])
      #expect(try app.figures().refusals == [3: 1])
      // The data of the user has changed.
      let later = try Socket(app, "anna", data: ["custom_data.numbers": [.int(2)]])
      let other = try later.open(1)
      try later.exchange()
      #expect(try other.modelKeys() == [2])
    }
  }

  @Test func `no user may use a class without rights`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path) { $0.rights = [:] }
      let socket = try Socket(app, "anna")
      let file = try socket.open(1)
      try Self.write(1, 1, file)
      try socket.exchange()
      #expect(try file.modelKeys() == [])
      #expect(try app.figures().refusals == [3: 1])
    }
  }

  @Test func `fields keep their order, and the property of the partition can't change`() throws {
    try withTemporaryPath { path in
      try Self.app(path) { $0.fields = ["A": ["x", "y"]] }.close()
      let app = try Self.app(path) { $0.fields = ["A": ["z", "y"], "B": ["w"]] }
      #expect(app.fields == ["A": ["x", "y", "z"], "B": ["w"]])
      app.close()
      #expect(throws: SyncAppProblem.self) { try Self.app(path) { $0.partitionProperty = "p" } }
    }
  }

  @Test func `the error for a right that can't be read names that right`() throws {
    try withTemporaryPath { path in
      let error = #expect(throws: SyncAppProblem.self) {
        try Self.app(path) {
          $0.rights = [ModelClass.name: SyncAppSettings.Rights(read: "TRUEPREDICATE", write: "other == 1")]
        }
      }
      #expect(error?.table == ModelClass.name && error?.right == "write")
      let text = SyncAppSettings.problem(inRight: "other == 1", of: "A", fields: ["q"])
      #expect(text?.contains("other") == true)
      #expect(SyncAppSettings.problem(inRight: "q == $user.id", of: "A", fields: ["q"]) == nil)
    }
  }

  // MARK: - Running

  @Test func `a backup is made while the server runs, and a server can start with it`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path)
      let socket = try Socket(app, "anna")
      let file = try socket.open(1)
      try Self.write(1, 1, file)
      try socket.exchange()
      try app.backup(to: path + ".backup")
      try Self.write(2, 1, file)
      try socket.exchange()
      app.close()
      let restored = try Self.app(path + ".backup")
      let other = try Socket(restored, "other")
      let copy = try other.open(1)
      try other.exchange()
      #expect(try copy.modelKeys() == [1])
      restored.close()
      try FileManager.default.removeItem(atPath: path + ".backup")
    }
  }

  @Test func `a server that stops tells its clients when to come back`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path)
      let socket = try Socket(app, "anna")
      _ = try socket.open(1)
      try socket.exchange()
      let actions = app.stop(wait: 5000)
      let frames = actions.compactMap { action in
        if case .send(let message, _) = action { message.bytes } else { nil }
      }
      #expect(frames.count == 2 && frames.last == [1])
      guard case .error(let error) = try ServerMessage(bytes: Array(frames[0].dropFirst())) else {
        Issue.record("the client is told no error")
        return
      }
      #expect(error.action == .tryLater && (5000...10_000).contains(error.wait))
    }
  }

  @Test func `a retired file comes back with the changes that it had not sent`() throws {
    try withTemporaryPath { path in
      let app = try Self.app(path)
      let socket = try Socket(app, "anna")
      let file = try socket.open(1)
      try Self.write(1, 1, file)
      try socket.exchange()
      let replica = try #require(app.figures().oldestReplica)
      #expect(try !app.retire(replica: replica &+ 1, time: Self.time))
      #expect(try app.retire(replica: replica, time: Self.time))
      try Self.write(2, 1, file)
      try socket.exchange()
      #expect(try app.figures().replicas == 0)
      let again = try Socket(app, "anna")
      again.files[1] = socket.files[1]
      socket.files[1]?.disconnected()
      for message in try again.files[1]?.connected() ?? [] {
        if case .send(let message) = message { again.send(message.bytes, 1) }
      }
      try again.exchange()
      #expect(try file.modelKeys() == [1, 2] && app.figures().replicas == 1)
    }
  }
}
