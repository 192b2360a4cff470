import Front
import Logging
import Testing

/// Keeps the messages of a log as texts.
struct LogKeeper: LogHandler {
  let lines = Tally<String>()
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let parts = all.map { "\($0.key)=\($0.value)" }.sorted()
    lines.add("\(event.level) \(event.message) \(parts.joined(separator: " "))")
  }
}

@Suite(.timeLimit(.minutes(2))) struct LogTests {
  @Test func theLogTellsPathsAndStatusAndNoSecrets() async throws {
    let keeper = LogKeeper()
    let logger = Logger(label: "test", factory: { _ in keeper })
    try await withFront(logger: logger) { front in
      let client = try await RawClient.connect(to: front.port)
      let secret = "secret"
      _ = try await client.ask(
        "POST /echo/path?\(secret)=\(secret)", headers: ["Authorization: Bearer \(secret)", "X: \(secret)"],
        body: secret)
      _ = try await client.upgrade(headers: ["Sec-WebSocket-Protocol: \(secret)"])
      client.send(ClientFrame.binary(Array(secret.utf8)))
      _ = try await client.frame()
      client.send(ClientFrame.bytes(0x81, Array(secret.utf8)))
      #expect(try await client.frame().code == 1003)
      let other = try await RawClient.connect(to: front.port)
      _ = try await other.upgrade("/elsewhere", headers: ["Sec-WebSocket-Protocol: \(secret)"])
      let third = try await RawClient.connect(to: front.port)
      third.send("\(secret) /\(secret) HTTP/1.1\r\n\(secret)\r\n\r\n")
      #expect(try await third.reply().status == 400)
    }
    let lines = keeper.lines.values
    #expect(!lines.contains { $0.contains("secret") })
    let start = "address=127.0.0.1 connection=1"
    #expect(lines.contains { $0.hasPrefix("info A request is answered. \(start) ms=") })
    #expect(lines.contains { $0.hasSuffix("path=/echo/path status=200") })
    #expect(lines.contains { $0.hasPrefix("info A WebSocket is accepted.") && $0.hasSuffix("status=101") })
    #expect(lines.contains { $0.hasPrefix("info") && $0.hasSuffix("path=/elsewhere status=403") })
    #expect(lines.contains { $0.hasPrefix("notice A request is refused.") && $0.hasSuffix("status=400") })
    #expect(lines.contains { $0.hasPrefix("debug A connection is opened. \(start)") })
    #expect(lines.filter { $0.hasPrefix("debug A connection is closed.") }.count == 3)
  }
}
