import Front
import Testing

/// Numbers that are the same for the same seed (Marsaglia's xorshift).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: Int) { state = UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

@Suite(.timeLimit(.minutes(5))) struct MutationTests {
  private static let honest = [
    RawClient.request("GET /status/200?x=1"),
    RawClient.request("POST /echo", headers: ["Accept: */*"], body: "some words"),
    RawClient.request("POST /echo", headers: ["Transfer-Encoding: chunked"]) + "3\r\nabc\r\n0\r\n\r\n",
    RawClient.request("GET /socket", headers: RawClient.handshake),
    RawClient.request("PUT /only-get", headers: ["Connection: close", "Authorization: Bearer x"]),
  ]

  /// A request in which some bytes were changed, removed, repeated or added.
  private static func mutated(_ seed: Int) -> [UInt8] {
    var numbers = SeededNumbers(seed)
    var bytes = Array(honest[seed % honest.count].utf8)
    for _ in 0..<Int.random(in: 1...4, using: &numbers) {
      let place = Int.random(in: 0..<bytes.count, using: &numbers)
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
      case 3: bytes.removeSubrange(place...)
      default: bytes.insert(contentsOf: bytes[place...], at: place)
      }
      if bytes.isEmpty { bytes = [0] }
    }
    return bytes
  }

  /// Checks that the server answers, or closes the connection.
  private static func isServed(_ seed: Int, _ port: Int) async throws {
    let client = try await RawClient.connect(to: port)
    client.send(mutated(seed))
    do {
      _ = try await client.inbox.next { bytes -> UInt8? in bytes.first }
    } catch is ConnectionEnded {}
    client.close()
  }

  @Test func changedRequestsDoNoHarm() async throws {
    let change: (inout FrontSettings) -> Void = { settings in
      settings.times.header = .milliseconds(50)
      settings.times.body = .milliseconds(50)
      settings.times.idle = .milliseconds(500)
    }
    try await withFront(settings: change) { front in
      try await withFront { patient in
        let port = front.port
        for start in stride(from: 0, to: 2000, by: 50) {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in start..<(start + 50) {
              group.addTask { try await Self.isServed(seed, port) }
            }
            try await group.waitForAll()
          }
          // The first front allows too little time for a sure answer, so many clients try.
          let client = try await RawClient.connect(to: patient.port)
          #expect(try await client.ask("POST /echo", body: "honest").text == "honest")
          #expect(try await isAnswered(front))
        }
      }
    }
  }

  private func isAnswered(_ front: Front) async throws -> Bool {
    for _ in 0..<100 {
      let client = try await RawClient.connect(to: front.port)
      if (try? await client.ask("POST /echo", body: "honest"))?.text == "honest" { return true }
    }
    return false
  }
}
