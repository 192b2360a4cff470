import RealmSync
import RealmSyncClient
import RealmTestSupport
import Testing

/// Texts of a server that a client shows to people.
@Suite struct ServerTextTests {
  private static let longest = String(repeating: "a", count: ServerText.most)

  @Test(arguments: ["", "A text.", "Ein Über-Text 🐕 ×2", longest])
  func `a text that can be shown is shown unchanged`(text: String) {
    #expect(ServerText.readable(text) == text)
  }

  @Test func `characters that move the cursor or turn the direction of writing are left out`() {
    let text = "a\nb\r\nc\t\u{0}d\u{1b}[31me\u{202e}f\u{2028}g\u{7f}h\u{85}i"
    #expect(ServerText.readable(text) == "a b  c  d [31me f g h i")
  }

  @Test func `a long text is cut, even if it has few characters`() {
    for part in ["a", "\u{301}", "🐕"] {
      let shown = ServerText.readable(String(repeating: part, count: 100_000))
      #expect(shown.unicodeScalars.count == ServerText.most && shown.hasSuffix("…"))
    }
    #expect(ServerText.readable("abcdef", most: 3) == "ab…")
  }

  // MARK: - Sessions

  private static let hostile = String(repeating: "no\n", count: 100_000)

  private static func isReadable(_ text: String) -> Bool {
    text.unicodeScalars.count == ServerText.most && !text.contains("\n") && text.hasPrefix("no no ")
  }

  @Test func `an error of a server is told in a text that can be shown`() throws {
    let file = try DrivenFile()
    try file.begin()
    let actions = try file.receive(
      .error(ProtocolError(code: 9, text: Self.hostile, action: .tryLater, wait: 5)))
    guard case .ended(let error)? = actions.first else {
      Issue.record("The session was not ended: \(actions.text)")
      return
    }
    #expect(error.code == 9 && error.wait == 5 && Self.isReadable(error.text))
  }

  @Test func `the reason why a query set is refused is told in a text that can be shown`() throws {
    let file = try DrivenFile()
    try file.begin()
    let actions = try file.receive(.querySetRefused(number: 1, code: 201, text: Self.hostile))
    guard case .querySetRefused(1, 201, let text)? = actions.first else {
      Issue.record("The query set was not refused: \(actions.text)")
      return
    }
    #expect(Self.isReadable(text))
  }

  @Test func `the reason why a WebSocket is closed is told in a text that can be shown`() throws {
    let world = try SyncWorld()
    defer { world.end() }
    let file = try world.file()
    file.core.start()
    let socket = try world.socket()
    socket.open()
    _ = try world.hello(0, socket)
    socket.end(.code(1013, "Too much.\u{1b}[2J\n"))
    let lost = NetworkProblem.lost("The server has closed the connection (1013, Too much. [2J ).")
    try world.until("the loss") { file.notes.all.contains(.lost(.network(lost))) }
  }
}
