import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import Testing

/// Rules for a file between its registration and its first steps, if the file is new and if it is reset.
@Suite struct RegistrationRuleTests {
  // MARK: - Files that are reset

  @Test func `a reset file gets no step before the server has the query set that the file wants`() throws {
    let driven = try DrivenServer()
    let writer = try driven.running("writer")
    try writer.upload(.creation(1, 1))
    try driven.run()
    let client = try driven.running("anna")
    #expect(client.querySet == 1 && client.steps.last?.told == ["whole 1"])
    let old = client.replica
    client.connect()
    try driven.exchange(client.hello, client.id)
    client.tag ^= 1
    let answers = try driven.exchange(client.start, client.id)
    guard case .reset? = answers.welcome(client.id), case .start(var start) = client.start else {
      Issue.record("not reset: \(answers.messages[client.id] ?? [])")
      return
    }
    #expect(client.replica != old)
    // The file has the query set 1. The message with that set has not reached the server yet.
    start.wanted = 1
    #expect(try driven.exchange(.start(start), client.id).messages[client.id] == nil)
    // A step up to this version would show no objects, so it would empty the file.
    try writer.upload(.creation(2, 1))
    #expect(try driven.run().messages[client.id] == nil)
    try client.ask([""])
    let steps = try driven.run().steps(client.id)
    #expect(steps.map(\.told) == [["whole 1", "whole 2"]])
    #expect(steps.map(\.querySet) == [1] && steps.map(\.from) == [start.version])
    #expect(!client.isClosed)
  }

  // MARK: - New files

  /// The text of the object 1.
  private static func text(_ database: Database) throws -> String? {
    let texts = try ModelClass.texts(database.snapshot()) { UInt64($0) }
    return texts[1]
  }

  /// The server decides the changes of a new file as later than all changes that were decided before its registration.
  /// The file shows the server's result only if it follows the same rule.
  @Test func `changes that a file wrote before its registration are shown as later than all before it`()
    throws
  {
    let driven = try DrivenServer()
    let ben = try driven.running("ben")
    try ben.upload(.creation(1, 1, text: "old"))
    try driven.run()
    // The file is written first. Ben writes next, and sends his change late. Cleo writes last, before the file is
    // registered.
    driven.time += 500
    let file = try ConnectedFile(driven, "anna")
    try file.ask("")
    try file.write(1, .int(1))
    driven.time += 500
    let change = Instruction.set(InstructionPath("m"), .value(.string("late")), isDefault: false)
    let late = try ben.message(.one(1, [change]))
    driven.time += 4000
    let cleo = try driven.running("cleo")
    try cleo.upload(.creation(2, 1))
    try driven.run()
    let id = driven.server.connect(user: "anna")
    /// Sends messages of the file.
    ///
    /// - Returns: The actions of the file's session.
    @discardableResult
    func exchange(_ messages: [ClientMessage]) throws -> [ClientSession.Action] {
      for message in messages { try driven.send(message, id) }
      let answers = try driven.run()
      return (answers.messages[id] ?? []).flatMap { file.session.receive($0, time: driven.time) }
    }
    let begun = try exchange(file.session.connected().messages)
    #expect(begun.text == "start, set, upload")
    #expect(begun.uploads.allSatisfy { $0.stamp > driven.state.mark && $0.stamp > late.stamp })
    // The upload is held back, and two steps come before it is sent.
    let rest = begun.messages.filter { if case .upload = $0 { false } else { true } }
    #expect(try exchange(rest).text.hasPrefix("applied, shows"))
    #expect(try Self.text(file.database) == "(1:1;2:\"mine\";)")
    try driven.send(.upload(late), ben.id)
    #expect(try exchange([]).text.hasPrefix("applied"))
    #expect(try Self.text(driven.database) == "(1:1;2:\"late\";)")
    #expect(try Self.text(file.database) == "(1:1;2:\"mine\";)")
    #expect(try file.pending() == 1)
    // The server decides the same.
    try exchange(begun.uploads.map(ClientMessage.upload))
    #expect(try file.pending() == 0 && file.refusals() == [])
    #expect(try Self.text(driven.database) == "(1:1;2:\"mine\";)")
    #expect(try Self.text(file.database) == "(1:1;2:\"mine\";)")
  }
}

extension [ClientSession.Action] {
  /// The messages that the actions send.
  fileprivate var messages: [ClientMessage] {
    compactMap { if case .send(let message) = $0 { message } else { nil } }
  }
}
