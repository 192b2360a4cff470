import Definition
import Testing

/// The problems of definitions, with their places.
@Suite struct DefinitionProblemTests {
  /// A text and the beginnings of its problems, in the form `line:column problem`.
  typealias Case = (String, [String])

  private static func check(_ text: String, _ expected: [String]) {
    let found = Reading.problems(text).map { "\($0.line):\($0.column) \($0.what)" }
    #expect(found.count == expected.count, "\(found)")
    for (found, expected) in zip(found, expected) { #expect(found.hasPrefix(expected)) }
  }

  // MARK: - The text

  private static let texts: [Case] = [
    ("", ["1:1 The file says nothing."]),
    ("# id: a\n", ["1:1 The file says nothing."]),
    ("id: a\nlimits:\n\tdata: 1 GiB\n", ["3:1 A tab stands before this line."]),
    (
      "id: a\nlimits:\n \tdata: 1 GiB\n\thistory: 1 GiB",
      ["3:2 A tab stands before this line.", "4:1 A tab stands before this line."]
    ),
    ("id: \u{7}a\n", ["1:5 The character U+0007 can't be seen."]),
    ("id: a\rdevelopment: true\n", ["1:6 The character U+000D can't be seen."]),
    ("id: a\n# \u{2028}\n", ["2:3 The character U+2028 can't be seen."]),
    ("id: \"tasks\n", ["1:11 This is no YAML: found unexpected end of stream"]),
    ("id: a: b\n", ["1:6 This is no YAML: mapping values are not allowed in this context."]),
    ("id: *x\n", ["1:5 Definitions have no anchors"]),
    ("id: &x tasks\n", ["1:5 Definitions have no anchors"]),
    ("partition: &x a\nid: *x\n", ["2:5 Definitions have no anchors"]),
    (
      "a: &a [x, x]\nb: &b [*a,*a]\n? *b\n: 1\n",
      [
        "2:8 Definitions have no anchors", "2:11 Definitions have no anchors",
        "3:3 Definitions have no anchors",
      ]
    ),
    ("id: !int 5\n", ["1:5 Definitions have no tags"]),
    (Reading.right("!(a == 1)"), ["4:11 Definitions have no tags"]),
    ("id: a\n---\nid: b\n", ["3:1 A second document stands in the file."]),
    ("id: a b\n---\nid: b\n", ["1:5 'id' can't be 'a b'.", "3:1 A second document stands in the file."]),
  ]

  @Test(arguments: texts) func `a text that is not plain YAML is a problem`(text: String, problems: [String])
  {
    Self.check(text, problems)
  }

  @Test func `a file that is too long is not read`() {
    let blanks = String(repeating: " ", count: AppDefinition.mostBytes - 5)
    Self.check("id: a" + blanks, [])
    Self.check("id: a\n" + blanks, ["1:1 The file has \(AppDefinition.mostBytes + 1) bytes."])
  }

  @Test func `brackets that are nested too deep are a problem`() {
    for bracket in ["[", "{a: "] {
      let brackets = String(repeating: bracket, count: 5_000)
      #expect(Reading.problems(brackets).count == 1)
      #expect(Reading.problems("id: a\nfields: \(brackets)").count == 1)
    }
  }

  // MARK: - Keys

  private static let keys: [Case] = [
    ("- a\n", ["1:1 The definition can't be a list."]),
    ("tasks\n", ["1:1 The definition can't be 'tasks'."]),
    ("id: a\nfeilds: {}\n", ["2:1 The definition has no key named 'feilds'."]),
    ("id: a\n[x]: 1\n", ["2:1 The definition has a key that is a list."]),
    ("id: a\nid: b\n", ["2:1 The key 'id' stands twice, first on line 1."]),
    (
      "id: a\nid: b\n\"id\": c\n",
      ["2:1 The key 'id' stands twice, first on line 1.", "3:1 The key 'id' stands twice, first on line 1."]
    ),
    (
      "id: a\nfields:\n  Task: [a]\n  Task: [b]\nid: b c\n",
      [
        "4:3 The class 'Task' stands twice, first on line 3.",
        "5:1 The key 'id' stands twice, first on line 1.",
      ]
    ),
    ("id: a\nfields: {A: [], B: [], A: []}\n", ["2:24 The class 'A' stands twice, first on line 2."]),
    ("id: a\nfields:\n  'A': []\n  A: []\n", ["4:3 The class 'A' stands twice, first on line 3."]),
    ("'': 1\n'': 2\n", ["1:1 The key '' stands twice in its mapping."]),
    (
      "id: a b\nrights:\n  Task:\n    raed: true\nlimits:\n  data: 1 GB\n",
      [
        "1:5 'id' can't be 'a b'.", "4:5 The class 'Task' has no right named 'raed'.",
        "6:9 'data' has the unit 'GB', which is none.",
      ]
    ),
  ]

  @Test(arguments: keys) func `all wrong keys are reported`(text: String, problems: [String]) {
    Self.check(text, problems)
  }

  // MARK: - Values

  private static let values: [Case] = [
    ("development: true\n", ["1:1 The app has no id."]),
    ("id:\n", ["1:4 'id' can't be empty."]),
    ("id: [a]\n", ["1:5 'id' can't be a list."]),
    ("id: a.b\n", ["1:5 'id' can't be 'a.b'."]),
    ("id: ''\n", ["1:5 'id' can't be the text ''."]),
    ("id: \(String(repeating: "a", count: 65))\n", ["1:5 'id' can't be 'aaa"]),
    ("id: a\ndevelopment: yes\n", ["2:14 'development' can't be 'yes'."]),
    ("id: a\ndevelopment: \"true\"\n", ["2:14 'development' can't be the text 'true'."]),
    ("development: true\nid: a\nrights: {}\n", ["3:1 Rights are ignored in development"]),
    ("id: a\npartition: a b\n", ["2:12 'partition' can't have the name 'a b'."]),
    ("id: a\nproviders: anonymous\n", ["2:12 'providers' can't be 'anonymous'."]),
    ("id: a\nproviders: [anonymus]\n", ["2:13 There is no provider named 'anonymus'."]),
    ("id: a\nproviders: [anonymous, anonymous]\n", ["2:24 The provider 'anonymous' stands twice."]),
    ("id: a\nproviders: [~]\n", ["2:13 A provider can't be empty."]),
    ("id: a\nmaximum-offline-time: 30\n", ["2:23 'maximum-offline-time' has no unit."]),
    ("id: a\nmaximum-offline-time: 3 weeks\n", ["2:23 'maximum-offline-time' has the unit 'weeks'"]),
    ("id: a\nmaximum-offline-time: soon\n", ["2:23 'maximum-offline-time' can't be 'soon'."]),
    ("id: a\nmaximum-offline-time: 1.5 days\n", ["2:23 'maximum-offline-time' can't be '1.5 days'."]),
    ("id: a\nmaximum-offline-time: -1 days\n", ["2:23 'maximum-offline-time' can't be '-1 days'."]),
    ("id: a\nmaximum-offline-time: 36501 days\n", ["2:23 'maximum-offline-time' can't be '36501 days'."]),
    (
      "id: a\nmaximum-offline-time: 99999999999999999999 days\n",
      ["2:23 'maximum-offline-time' can't be '99999999999999999999 days'."]
    ),
    ("id: a\nlimits: 5\n", ["2:9 'limits' can't be '5'."]),
    ("id: a\nlimits:\n  conections: 1\n", ["3:3 'limits' has no limit named 'conections'."]),
    ("id: a\nlimits:\n  connections: 0\n", ["3:16 'connections' can't be '0'."]),
    ("id: a\nlimits:\n  connections: 10_000\n", ["3:16 'connections' can't be '10_000'."]),
    ("id: a\nlimits:\n  connections: \"10\"\n", ["3:16 'connections' can't be the text '10'."]),
    ("id: a\nlimits:\n  connections: 1000001\n", ["3:16 'connections' can't be '1000001'."]),
    ("id: a\nlimits:\n  data: 2\n", ["3:9 'data\' has no unit."]),
    ("id: a\nlimits:\n  data: 1 KiB\n", ["3:9 'data\' can't be '1 KiB'."]),
    ("id: a\nlimits:\n  history: 0\n", ["3:12 'history\' has no unit."]),
    ("id: a\nlimits:\n  data: 9000000000000000000 GiB\n", ["3:9 'data\' can't be '9000"]),
  ]

  @Test(arguments: values) func `wrong values are reported`(text: String, problems: [String]) {
    Self.check(text, problems)
  }

  private static let emails: [Case] = [
    ("  auto-confirm: no", ["3:17 'auto-confirm' can't be 'no'."]),
    ("  auto_confirm: true", ["3:3 'email' has no key named 'auto_confirm'."]),
    ("  command: [/bin/a]\n  address: https://h/x", ["4:3 'email' has both a command and an address."]),
    ("  command: [bin/a]", ["3:13 The path 'bin/a' of 'command' is relative."]),
    ("  command: /bin/a", ["3:12 'command' can't be '/bin/a'."]),
    ("  command: []", ["3:12 'command' has 0 elements."]),
    ("  command: [/bin/a, \"\\0\"]", ["3:21 An element of 'command' can't be the text '\u{FFFD}'."]),
    ("  address: http://example.org/x", ["3:12 'address' sends what mails say"]),
    ("  address: http://127.0.0.1.example.org/x", ["3:12 'address' sends what mails say"]),
    ("  address: ftp://example.org/x", ["3:12 'address' can't be 'ftp://example.org/x'."]),
    ("  address: https:///x", ["3:12 'address' can't be 'https:///x'."]),
    ("  address: mail@example.org", ["3:12 'address' can't be 'mail@example.org'."]),
    ("  address: \"https://a b\"", ["3:12 'address' can't be the text 'https://a b'."]),
  ]

  @Test(arguments: emails) func `wrong settings of mails are reported`(text: String, problems: [String]) {
    Self.check("id: a\nemail:\n\(text)\n", problems)
  }

  // MARK: - Classes

  private static func lines(_ count: Int, _ line: (Int) -> String) -> String {
    (0..<count).map { line($0) + "\n" }.joined()
  }

  private static let classes: [Case] = [
    ("id: a\nfields: [Task]\n", ["2:9 'fields' can't be a list."]),
    ("id: a\nfields:\n  Task: owner\n", ["3:9 The fields of 'Task' can't be 'owner'."]),
    ("id: a\nfields:\n  Task: [owner, owner]\n", ["3:17 The field 'owner' of 'Task' stands twice."]),
    ("id: a\nfields:\n  Ta sk: []\n", ["3:3 A class can't have the name 'Ta sk'."]),
    ("id: a\nfields:\n  Task: [1st]\n", ["3:10 A field of 'Task' can't have the name '1st'."]),
    (
      "id: a\nfields:\n  \(String(repeating: "T", count: 256)): []\n",
      ["3:3 A class can't have the name 'TTTT"]
    ),
    ("id: a\nfields:\n" + lines(201) { "  C\($0): []" }, ["203:3 'fields' has 201 classes."]),
    ("id: a\nfields:\n  A:\n" + lines(201) { "    - f\($0)" }, ["204:7 The class 'A' has 201 fields."]),
    (
      "id: a\npartition: p\nfields:\n  A: [x, p]\n  B: [x]\n",
      ["4:10 The property of the partition is a field of 'A', and not of 'B'."]
    ),
    ("id: a\nrights:\n  Task: true\n", ["3:9 The rights of 'Task' can't be 'true'."]),
    ("id: a\nrights:\n" + lines(201) { "  C\($0): {}" }, ["203:3 'rights' has 201 classes."]),
    ("id: a\nrights:\n  Task:\n    read:\n", ["4:10 The right 'read' of 'Task' can't be empty."]),
    (Reading.right("''"), ["4:11 The right 'read' of 'Task' can't be the text ''."]),
    (Reading.right("' '"), ["4:11 The right 'read' of 'Task' can't be the text ' '."]),
    (Reading.right("[a]"), ["4:11 The right 'read' of 'Task' can't be a list."]),
    (
      Reading.right(String(repeating: "x", count: 8_193)),
      ["4:11 The right 'read' of 'Task' has 8193 bytes."]
    ),
    (Reading.right("p == $partition"), ["4:11 The right 'read' of 'Task' uses $partition"]),
    (Reading.right("wrong == 1"), ["4:11 The predicate for Task is wrong."]),
    (
      Reading.right("\"'a' IN wrong\"\n    raed: true"),
      [
        "4:11 The predicate for Task is wrong.", "5:5 The class 'Task' has no right named 'raed'.",
      ]
    ),
  ]

  @Test(arguments: classes)
  func `wrong fields and rights are reported`(text: String, problems: [String]) {
    Self.check(text, problems)
  }

  // MARK: - What is said

  @Test func `a problem has its place and a remedy`() {
    let problems = Reading.problems("id: a\nrights:\n  Task:\n    raed: true\n")
    let expected =
      "app.yaml:4:5: The class 'Task' has no right named 'raed'. Did you mean 'read'? "
      + "Rights are read, write, insert and delete."
    #expect(problems.map(\.description) == [expected])
  }

  @Test(arguments: [
    ("Id: a", "id"), ("id: a\nlimit: {}", "limits"),
    ("id: a\nmaximum_offline_time: 0", "maximum-offline-time"),
    ("id: a\nproviders: [emailpassword]", "email-password"), ("id: a\nlimits: {data: 3 gb}", "GiB"),
  ])
  func `the nearest name is suggested`(text: String, name: String) {
    #expect(Reading.problems(text).contains { $0.remedy.hasPrefix("Did you mean '\(name)'?") })
  }

  @Test func `no name is suggested if none is near`() {
    #expect(Reading.problems("id: a\nzebra: 1").map(\.remedy).allSatisfy { $0.hasPrefix("Keys are id, ") })
  }

  @Test func `the problems of a file are listed on one line each`() {
    let error = #expect(throws: DefinitionProblems.self) { try Reading.app("id: a b\nlimit: {}\n") }
    #expect(error?.description.split(separator: "\n").count == 2)
  }
}
