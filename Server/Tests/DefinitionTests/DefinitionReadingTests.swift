import Definition
import Testing

/// The meaning of definitions.
@Suite struct DefinitionReadingTests {
  private static let whole = """
    # All that a definition may have.
    id: tasks
    partition: realm_id
    fields:
      Task: [owner, team, done]
      Team:
        - name
    rights:
      Task:
        read: >
          owner == $user.id
          OR realm_id == $partition
        write: owner == $user.id && done == false
        insert: false
      Team: {read: true, write: "'admin' IN $user.roles", delete: 'False'}
    providers: [anonymous, api-key]
    email:
      auto-confirm: true
      command: [/usr/local/bin/send-mail, --quiet, "to me"]
    maximum-offline-time: 36 hours
    limits:
      replicas-per-user: 7
      data: 3GiB
      history: 200 MiB
      connections: 20
      connections-per-user: 2
    """

  @Test func `all values are read`() throws {
    var app = AppDefinition(id: "tasks")
    app.partition = "realm_id"
    app.fields = ["Task": ["owner", "team", "done"], "Team": ["name"]]
    app.rights = [
      "Task": AppDefinition.Rights(
        read: .init(text: "owner == $user.id OR realm_id == $partition", line: 10, column: 11),
        write: .init(text: "owner == $user.id && done == false", line: 13, column: 12),
        insert: .init(text: "FALSEPREDICATE", line: 14, column: 13)),
      "Team": AppDefinition.Rights(
        read: .init(text: "TRUEPREDICATE", line: 15, column: 16),
        write: .init(text: "'admin' IN $user.roles", line: 15, column: 29),
        delete: .init(text: "FALSEPREDICATE", line: 15, column: 63)),
    ]
    app.providers = [.anonymous, .apiKey]
    app.email.autoConfirm = true
    app.email.delivery = .command(["/usr/local/bin/send-mail", "--quiet", "to me"])
    app.maximumOfflineTime = 129_600
    app.limits.replicasPerUser = 7
    app.limits.data = 3_221_225_472
    app.limits.history = 209_715_200
    app.limits.connections = 20
    app.limits.connectionsPerUser = 2
    #expect(try Reading.app(Self.whole) == app)
  }

  @Test func `a missing key has its default`() throws {
    let app = try Reading.app("id: a-B_9")
    #expect(app == AppDefinition(id: "a-B_9"))
    #expect(!app.isDevelopment && app.partition == nil && app.fields.isEmpty && app.rights.isEmpty)
    #expect(app.providers == [.emailPassword] && !app.email.autoConfirm && app.email.delivery == nil)
    #expect(app.maximumOfflineTime == 2_592_000)
    #expect(app.limits.data == 10_737_418_240 && app.limits.history == nil)
    #expect(app.limits.replicasPerUser == 1_000 && app.limits.connections == 10_000)
    #expect(app.limits.connectionsPerUser == 100)
  }

  @Test func `inserts and deletes need the right to write unless they have rights of their own`() throws {
    let text = "id: a\nrights:\n  A: {write: x == 1}\n  B: {read: true, insert: true}\n"
    let rights = try Reading.app(text).rights
    let write = AppDefinition.Rule(text: "x == 1", line: 3, column: 14)
    #expect(rights["A"] == AppDefinition.Rights(write: write, insert: write, delete: write))
    #expect(rights["B"]?.read != nil && rights["B"]?.write == nil)
    #expect(rights["B"]?.insert != nil && rights["B"]?.delete == nil)
  }

  @Test func `in development no rights are needed`() throws {
    #expect(try Reading.app("id: a\ndevelopment: true\nfields: {Task: [owner]}").isDevelopment)
  }

  @Test func `predicates are checked with the fields of their class`() throws {
    let text = """
      id: a
      partition: p
      fields: {A: [x, p], B: [p, y]}
      rights: {A: {read: true}, B: {read: y == 1}, C: {read: p == $partition}}
      """
    var asked: Set<[String]> = []
    _ = try AppDefinition.read(text, file: "app.yaml") { text, table, fields in
      asked.insert([text, table] + fields)
      return nil
    }
    let expected: Set<[String]> = [
      ["TRUEPREDICATE", "A", "p", "x"], ["y == 1", "B", "p", "y"], ["p == $partition", "C", "p"],
    ]
    #expect(asked == expected)
  }

  @Test(arguments: [
    "feilds: {Task: [owner]}", "fields: {Task: [owner, owner]}", "fields: {Task: []}\nfields: {}",
  ])
  func `predicates are not checked if the fields are not known`(fields: String) {
    var count = 0
    let text = "id: a\n\(fields)\nrights: {Task: {read: x == 1}}"
    let app = try? AppDefinition.read(text, file: "app.yaml") { _, _, _ in
      count += 1
      return "The property is not known."
    }
    #expect(app == nil && count == 0)
  }

  @Test(arguments: [
    ("0", 0), ("0 days", 0), ("1 minute", 60), ("90 minutes", 5_400), ("1 hour", 3_600), ("1 day", 86_400),
    ("36500 days", 3_153_600_000),
  ])
  func `times are read in seconds`(text: String, seconds: Int) throws {
    #expect(try Reading.app("id: a\nmaximum-offline-time: \(text)").maximumOfflineTime == seconds)
  }

  @Test(arguments: [
    ("1024 KiB", 1 << 20), ("1 MiB", 1 << 20), ("\"5 GiB\"", 5 << 30), ("1048576 GiB", 1 << 50),
  ])
  func `sizes are read in bytes`(text: String, bytes: Int) throws {
    #expect(try Reading.app("id: a\nlimits: {data: \(text)}").limits.data == bytes)
  }

  @Test(arguments: [
    "https://example.org/hooks/mail", "http://localhost/x", "http://127.0.0.1:8080/x", "http://[::1]:80/x",
    "HTTPS://example.org",
  ])
  func `mails may go to addresses that others can't read on the way`(address: String) throws {
    let email = try Reading.app("id: a\nemail:\n  address: \(address)").email
    #expect(email.delivery == .address(address))
  }

  @Test func `names have letters of all languages`() throws {
    let app = try Reading.app("id: a\nfields: {Aufgabe: [größe, _id, a-b, 名前]}")
    #expect(app.fields == ["Aufgabe": ["größe", "_id", "a-b", "名前"]])
  }

  @Test func `200 classes, 200 fields and 8 KiB of a predicate are accepted`() throws {
    let names = (0..<200).map { "c\($0)" }
    let fields = "[\(names.joined(separator: ", "))]"
    let classes = names.map { "  \($0): \(fields)\n" }.joined()
    let predicate = String(repeating: "x", count: 8_192)
    let app = try Reading.app("id: a\nfields:\n\(classes)rights:\n  A: {read: \(predicate)}\n")
    #expect(app.fields.count == 200 && app.fields["c7"] == names)
    #expect(app.rights["A"]?.read?.text == predicate)
  }

  @Test func `a byte order mark and carriage returns do not change places`() throws {
    #expect(try Reading.app("\u{FEFF}id: a\r\ndevelopment: true\r\n").isDevelopment)
    let problems = Reading.problems("\u{FEFF}id: a b\r\nlimit: 1\r\n")
    #expect(problems.map { [$0.line, $0.column] } == [[1, 5], [2, 1]])
  }

  @Test func `the sample has no problems`() throws {
    let app = try Reading.app(AppDefinition.sample)
    #expect(app.id == "tasks" && !app.isDevelopment && app.partition == nil)
    #expect(app.rights["Task"]?.insert == app.rights["Task"]?.write)
    #expect(app.rights["Task"]?.delete?.text == "owner == $user.id AND done == true")
    #expect(app.providers == [.emailPassword, .apiKey])
    #expect(app.limits == AppDefinition.Limits() && app.maximumOfflineTime == 30 * 86_400)
  }

  @Test func `each commented line of the sample may be used`() {
    for key in ["partition: realm_id", "command: [/usr", "address: https"] {
      let text = AppDefinition.sample.replacing("# \(key)", with: key)
      #expect(text != AppDefinition.sample && Reading.problems(text).isEmpty, "\(key)")
    }
  }
}
