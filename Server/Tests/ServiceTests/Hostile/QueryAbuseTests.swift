import Front
import Service
import Testing

/// Attacks with query sets, and with files that are made for them.
@Suite(.timeLimit(.minutes(5))) struct QueryAbuseTests {
  /// An app in which queries may use the property `size` of notes.
  private static func place() throws -> Place {
    try Place(["dev": openDefinition("dev", "fields:\n  Note: [size]\n")])
  }

  private static func frame(_ number: UInt64, _ queries: [(table: String, predicate: String)]) -> [UInt8] {
    var frame: [UInt8] = [8]
    frame += Bytes.number(number)
    frame += Bytes.number(UInt64(queries.count))
    for (table, predicate) in queries {
      frame += Bytes.text(table)
      frame += Bytes.text(predicate)
    }
    return frame
  }

  /// A predicate of nearly 8 KiB.
  private static let long =
    "size IN {" + (1000..<2300).map { "\($0)" }.joined(separator: ", ") + "}"

  /// The code with which a query set is refused.
  private func refusal(of number: UInt64, on channel: UInt64, _ socket: Client) async throws -> UInt64 {
    var fields = try await socket.message(10, on: channel).fields(10)
    let refused = try fields.number()
    #expect(refused == number)
    return try fields.number()
  }

  @Test func `huge query sets are refused`() async throws {
    try await withServer(Self.place()) { server in
      try await withNeighbour(server, "huge query sets") { _ in
        let socket = try await server.newSocket()
        _ = try await socket.start(on: 1)
        func queries(_ predicate: String, _ count: Int = 1) -> [(table: String, predicate: String)] {
          (0..<count).map { _ in (table: "Note", predicate: predicate) }
        }
        let sets: [(queries: [(table: String, predicate: String)], code: UInt64)] = [
          (queries("size == 1", 101), 204), (queries(Self.long + String(repeating: " ", count: 8192)), 205),
          // These queries have more alternatives than a class may have, with the longest text allowed.
          (queries(Self.long, 100), 205), (queries("color == 1"), 203),
          (queries(String(repeating: "(", count: 8000)), 201),
        ]
        var number: UInt64 = 0
        for _ in 0..<2 {
          for (queries, code) in sets {
            number += 1
            socket.send(Self.frame(number, queries), on: 1)
            let found = try await refusal(of: number, on: 1, socket)
            #expect(found == code)
          }
        }
        try await socket.roundTrip(on: 1)
      }
    }
  }

  @Test func `queries that are slow to answer have their turns, and so have all other clients`() async throws
  {
    try await withServer(Self.place()) { server in
      try await withNeighbour(server, "slow queries") { _ in
        let writer = try await server.newSocket()
        let welcome = try await writer.start(on: 1)
        writer.send(Frames.querySet(of: "Note"), on: 1)
        let upload = ClientUpload(welcome, Changesets.objects("Note", keys: 0..<30, data: [1]))
        writer.send(upload.frame, on: 1)
        try await writer.roundTrip(on: 1)
        let socket = try await server.newSocket()
        _ = try await socket.start(on: 1)
        // Each object is compared with some ten thousand numbers.
        let queries = (0..<10).map { _ in (table: "Note", predicate: Self.long) }
        for number in 1...5 as ClosedRange<UInt64> {
          let last = (table: "Note", predicate: "size == \(number)")
          socket.send(Self.frame(number, queries + [last]), on: 1)
          _ = try await socket.message(Frames.stepNumber, on: 1)
        }
      }
    }
  }

  @Test func `a file that changes its query set without end is told to come back later`() async throws {
    try await withServer(Self.place()) { server in
      try await withNeighbour(server, "query sets in a loop") { _ in
        let socket = try await server.newSocket()
        _ = try await socket.start(on: 1)
        for number in 1...1001 as ClosedRange<UInt64> {
          socket.send(Self.frame(number, [("Note", "size == \(number)")]), on: 1)
        }
        let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: 1))
        #expect(error.code == 9 && error.action == 1)
      }
    }
  }

  @Test func `a user who asks for all data with new files again and again gets ten of them`() async throws {
    try await withServer(Self.place()) { server in
      try await withNeighbour(server, "bootstraps with new files") { _ in
        let user = try await server.newUser()
        for _ in 0..<10 {
          let socket = try await Client.socket(at: server.port, token: user.accessToken)
          _ = try await socket.start(on: 1)
          socket.send(Frames.querySet(of: "Diary"), on: 1)
          _ = try await socket.message(Frames.stepNumber, on: 1)
          socket.close()
        }
        for _ in 0..<10 {
          let socket = try await Client.socket(at: server.port, token: user.accessToken)
          socket.send(Frames.hello, on: 1)
          let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: 1))
          #expect(error.code == 9 && error.action == 1 && error.wait == 60_000)
          socket.close()
        }
      }
    }
  }

  @Test func `the number of a user's files is limited`() async throws {
    let limits = "limits:\n  replicas-per-user: 3\n"
    try await withServer(Place(["dev": openDefinition("dev", limits)])) { server in
      try await withNeighbour(server, "too many files") { _ in
        let socket = try await server.newSocket()
        for channel in 1...3 as ClosedRange<UInt64> { _ = try await socket.hello(on: channel) }
        for channel in 4...20 as ClosedRange<UInt64> {
          socket.send(Frames.hello, on: channel)
          let error = try await ErrorMessage(socket.message(ErrorMessage.number, on: channel))
          #expect(error.code == 9 && error.action == 1 && error.text.contains("too many files"))
        }
      }
    }
  }

  @Test func `a client that reads nothing does not make the server hold more than one step of its user`()
    async throws
  {
    // The times must be long enough for the honest neighbour to answer pings.
    let change: (inout RunningServer.Settings) -> Void = { settings in
      settings.front.times.ping = .seconds(2)
      settings.front.times.pong = .seconds(10)
    }
    let (files, mebibytes) = (6, 24)
    try await withServer(Self.place(), settings: change) { server in
      try await withNeighbour(server, "a client that reads nothing") { _ in
        let writer = try await server.newSocket()
        let welcome = try await writer.start(on: 1)
        writer.send(Frames.querySet(of: "Note"), on: 1)
        let data = Noise.mebibyte + Noise.mebibyte
        var upload = ClientUpload(welcome, Changesets.objects("Note", keys: 0..<1, data: data))
        for key in 1...mebibytes / 2 {
          writer.send(unmasked: Bytes.number(1) + upload.frame)
          #expect(try await writer.decision(of: upload.sequence, on: 1).reasons.isEmpty)
          upload = upload.next(Changesets.objects("Note", keys: key..<key + 1, data: data))
        }
        writer.close()
        let stalled = try await server.newSocket()
        for channel in 1...UInt64(files) { _ = try await stalled.start(on: channel) }
        try await stalled.stopReading()
        for channel in 1...UInt64(files) { stalled.send(Frames.querySet(of: "Note"), on: channel) }
        // The client is cut off in the end. Until then it makes the server hold at most one copy of the data.
        var most = 0
        let isCutOff = try await becomes {
          most = max(most, try await server.metric("unsent_bytes"))
          return try await server.metric("connections") == 1
        }
        #expect(isCutOff)
        #expect(most < 2 * mebibytes << 20, "\(most)")
        stalled.close()
      }
    }
  }
}
