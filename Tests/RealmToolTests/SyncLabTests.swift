import Foundation
import RealmTestSupport
import Testing

/// A sample script with its output.
private enum Transcript {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
  static let script = folder.appending(path: "sync-lab.txt")
  static let output = folder.appending(path: "sync-lab.out.txt")
  static let isRecording = ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] != nil
  static let document = folder.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/merging.md")
}

/// The lab as people use it: scripts and their output.
@Suite struct SyncLabTests {
  /// Runs scripts one after the other on one new folder.
  private func outcomes(_ scripts: [String]) throws -> [Tool.Outcome] {
    try withTemporaryPath { path in
      try scripts.map { script in
        try script.write(toFile: path + ".txt", atomically: true, encoding: .utf8)
        return try Tool.run(["sync-lab", path + "-lab", "--script", path + ".txt"])
      }
    }
  }

  /// Runs a script without mistakes.
  ///
  /// - Returns: The output of the script.
  private func output(_ script: String, _ line: SourceLocation = #_sourceLocation) throws -> String {
    let outcome = try #require(try outcomes([script]).first)
    #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome.complaint)", sourceLocation: line)
    return outcome.output
  }

  /// The values of a property in the last output of `show Task 1`. The value of the server comes first.
  private func shown(_ property: String, _ output: String) -> [String] {
    let last = output.components(separatedBy: "> show Task 1\n").last ?? ""
    return last.split(separator: "\n").compactMap { line in
      line.hasPrefix("  \(property) = ") ? String(line.dropFirst(property.count + 5)) : nil
    }
  }

  private static let start = """
    new a
    new b
    a: create Task {_id: 1, title: "Buy milk", tags: ["m"], count: 0}
    sync

    """
  private static let offline = start + "a offline\nb offline\n"
  private static let end = "\na online\nb online\nsync\nshow Task 1\n"

  // MARK: - Merging

  @Test func `two devices that set a field without a connection agree on the later value`() throws {
    let output = try output(
      Self.offline + "a: set Task 1 title = \"by a\"\nb: set Task 1 title = \"by b\"" + Self.end)
    #expect(shown("title", output) == ["\"by b\"", "\"by b\"", "\"by b\""], "\(output)")
  }

  @Test func `elements that are inserted at one place of a list are in the order in which they were written`()
    throws
  {
    let output = try output(
      Self.offline + "a: insert Task 1 tags 0 \"a\"\nb: insert Task 1 tags 0 \"b\"" + Self.end)
    let expected = #"["a", "b", "m"]"#
    #expect(shown("tags", output) == [expected, expected, expected], "\(output)")
  }

  @Test func `elements are moved and removed, and the changes of others are merged with that`() throws {
    let output = try output(
      Self.start + """
        a: append Task 1 tags "x"
        a: append Task 1 tags "y"
        sync
        a offline
        b offline
        a: move Task 1 tags 0 2
        b: remove Task 1 tags 1
        """ + Self.end)
    let expected = #"["y", "m"]"#
    #expect(shown("tags", output) == [expected, expected, expected], "\(output)")
  }

  @Test func `all numbers that devices add to a number are counted`() throws {
    let output = try output(Self.offline + "a: add Task 1 count 2\nb: add Task 1 count 3" + Self.end)
    #expect(shown("count", output) == ["5", "5", "5"], "\(output)")
  }

  @Test func `a deletion wins over a change that was made at the same time`() throws {
    let output = try output(
      Self.offline + "a: delete Task 1\nb: set Task 1 title = \"kept?\"\n"
        + "a online\nb online\nsync\nshow\n")
    #expect(output.contains("There is no object yet."), "\(output)")
    #expect(output.contains("a: online, version") && output.contains("nothing pending"))
  }

  // MARK: - The server

  @Test func `changes that the rules do not allow are refused, and the reason is shown`() throws {
    let output = try output(
      """
      field Task owner
      new a
      new b
      a: create Task {_id: 1, title: "Buy milk", owner: "a"}
      rule Task write "owner == $user.id"
      sync
      b: set Task 1 title = "by b"
      sync
      show
      dismiss b
      show
      show Task 1

      """)
    let refusal = "was refused Task 1: the rules do not let the user read or write it"
    #expect(output.contains("b: \(refusal)"), "\(output)")
    #expect(output.components(separatedBy: refusal).count == 3, "\(output)")
    #expect(shown("title", output) == Array(repeating: "\"Buy milk\"", count: 3), "\(output)")
  }

  @Test func `a device with a query shows the objects that it finds, and no others`() throws {
    let output = try output(
      """
      field Task done
      new a
      new b where Task "done == false"
      a: create Task {_id: 1, title: "open", done: false}
      a: create Task {_id: 2, title: "done", done: true}
      sync
      show Task 1
      a: set Task 1 done = true
      sync
      show

      """)
    #expect(shown("title", output).prefix(3) == ["\"open\"", "\"open\"", "\"open\""], "\(output)")
    let last = output.components(separatedBy: "> show\n").last ?? ""
    #expect(last.components(separatedBy: "(not there)").count == 3, "\(last)")
  }

  @Test func `a query of a property that is not a field is refused, and runs when the property is one`()
    throws
  {
    let output = try output(
      """
      new a
      new b where Task "done == false"
      a: create Task {_id: 1, done: false}
      sync
      field Task done
      sync
      show Task 1

      """)
    #expect(output.contains("b: the server refuses the query. "), "\(output)")
    #expect(shown("done", output) == ["false", "false", "false"], "\(output)")
  }

  @Test func `a connection that breaks in the middle loses no change, and counts none twice`() throws {
    let output = try output(
      Self.start + """
        a: add Task 1 count 1
        a: add Task 1 count 10
        a: add Task 1 count 100
        kill a
        log
        sync
        show Task 1

        """)
    #expect(output.contains("2 of 3 messages of a arrived, and 0 of 1 answer"), "\(output)")
    #expect(output.contains("a → server: lost: upload of changeset 4"), "\(output)")
    #expect(shown("count", output) == ["111", "111", "111"], "\(output)")
  }

  @Test func `a device that the server's history no longer covers is reset, and keeps its pending changes`()
    throws
  {
    let output = try output(
      Self.start + """
        b offline
        b: add Task 1 count 5
        a: set Task 1 title = "by a"
        sync
        trim all
        b online
        sync
        show Task 1
        show

        """)
    #expect(output.contains("b: is reset, since it is older than the history"), "\(output)")
    #expect(!output.contains("a: is reset"))
    #expect(shown("count", output) == ["5", "5", "5"], "\(output)")
    #expect(shown("title", output) == Array(repeating: "\"by a\"", count: 3), "\(output)")
  }

  @Test func `history that all devices know is removed without a reset`() throws {
    let output = try output(
      Self.start + "b offline\na: add Task 1 count 1\nsync\ntrim\nb online\nsync\nshow Task 1\n")
    #expect(output.contains("The server forgets what was before version"), "\(output)")
    #expect(!output.contains("is reset"))
    #expect(shown("count", output) == ["1", "1", "1"], "\(output)")
  }

  @Test func `a server that continues from an older copy resets the devices that know more`() throws {
    let output = try output(
      Self.start + """
        save server old
        a: set Task 1 title = "too late"
        sync
        restore server old
        sync
        show Task 1

        """)
    for device in ["a", "b"] {
      #expect(output.contains("\(device): is reset, since what it has can't be told apart"), "\(output)")
    }
    #expect(shown("title", output) == Array(repeating: "\"Buy milk\"", count: 3), "\(output)")
  }

  @Test func `a file that was copied and used is recognized, and both files continue`() throws {
    let output = try output(
      Self.start + """
        copy a to c
        a: add Task 1 count 1
        c: add Task 1 count 10
        sync
        sync
        sync
        show Task 1

        """)
    #expect(output.contains("is reset, since what it has can't be told apart"), "\(output)")
    #expect(shown("count", output) == ["11", "11", "11", "11"], "\(output)")
  }

  @Test func `a server that is restarted continues`() throws {
    let output = try output(
      Self.start + "a: add Task 1 count 1\nrestart server\nb: add Task 1 count 2\nsync\nshow Task 1\n")
    #expect(!output.contains("is reset"))
    #expect(shown("count", output) == ["3", "3", "3"], "\(output)")
  }

  // MARK: - Running

  @Test func `the lab continues from its files`() throws {
    let first = """
      field Task done
      new a
      new b as anna where Task "done == false"
      a: create Task {_id: 1, title: "say \\"hi\\"", done: false}
      b offline

      """
    let outcomes = try outcomes([first, "pending a\nshow\nb online\nsync\nshow Task 1\n"])
    #expect(outcomes.map(\.code) == [0, 0], "\(outcomes)")
    let output = outcomes[1].output
    #expect(output.contains("changeset 1, written before the file was registered"), "\(output)")
    #expect(output.contains("b: offline as anna, never registered, nothing pending"), "\(output)")
    #expect(shown("title", output) == Array(repeating: #""say \"hi\"""#, count: 3), "\(output)")
  }

  @Test func `each line of a script is printed before its output, and quit ends the script`() throws {
    let output = try output("# a comment\n\nnew a # another\nsync\nquit\nnonsense\n")
    #expect(output.hasPrefix("# a comment\n\n> new a # another\n> sync\na: sent "), "\(output)")
    #expect(output.hasSuffix("> quit\n"), "\(output)")
  }

  @Test(arguments: [
    ("z: set Task 1 title = \"y\"", "There is no device 'z'.", "The devices are: a."),
    ("sync b", "There is no device 'b'.", "Make one by: new b"),
    ("new a", "There is a file a.realm already.", "Take another name"),
    ("new server", "which is a word of the lab.", "Take another name."),
    ("st a", "There is no command 'st'.", "Type help"),
    ("set Task 1 title = 5", "There is no command 'set'.", "a: set …"),
    ("a: paint Task 1", "'paint' is nothing that a device does.", "create, set"),
    ("a: set Note 1 text = \"y\"", "a has no class 'Note'.", "Its classes are: Task."),
    ("a: set Task 2 title = \"y\"", "a has no object Task 2.", "Make it by: a: create Task {_id: 2}"),
    ("a: set Task \"1\" title = \"y\"", "The keys of Task are each a whole number", "Give a key"),
    ("a: set Task 1 count = \"y\"", "Task.count holds a whole number, and \"y\"", "Give a value"),
    ("a: set Task 1 _id = 2", "The key of an object stays as it is.", "Make another object"),
    ("a: set Task 1 new = null", "so that its type is not known.", "Give it a value first."),
    ("a: set Task 1 new = [1, \"x\"]", "are of several types", "Give them one type."),
    ("a: set Task 1 title \"y\"", "\"y\" stands where a '=' is expected.", "Write it as: DEVICE: set"),
    ("a: set Task 1 title = \"y", "A text has no end.", "quotation mark"),
    ("a: set Task 1 title = \"\\q\"", "A text has a \\ that means nothing.", "The lab knows"),
    ("a: add Task 1 title 2", "Task.title holds a text, and nothing is added to that.", "whole numbers"),
    ("a: add Task 1 count 9223372036854775807", "The sum has more than 64 bits.", "smaller"),
    ("a: add Task 1 count 99999999999999999999", "is no whole number of 64 bits.", "smaller"),
    ("a: add Task 1 colour 2", "Task has no property 'colour'.", "Its properties are: _id, title"),
    ("a: remove Task 1 tags 1", "The list has no place 1.", "from 0 to 0"),
    ("a: move Task 1 tags 0 7", "The list has no place 7.", "from 0 to 0"),
    ("a: insert Task 1 tags -1 \"x\"", "The list has no place -1.", "from 0 to 1"),
    ("a: append Task 1 title \"x\"", "Task.title is no list; it holds a text.", "a: set Task 1 title"),
    ("a: append Task 1 tags 5", "Task.tags holds a list of texts, and 5 does not fit.", "Give a value"),
    ("a: create Task {_id: 1}", "a has an object Task 1 already.", "take another key"),
    ("a: create Task {title: \"y\"}", "The object has no key.", "{_id: 1}"),
    ("a: create Note {_id: 1.5}", "1.5 can't be a key.", "a whole number or a text"),
    ("rule Task read \"title == 'x'\"", "may not be used in filters", "field CLASS PROPERTY"),
    ("restore server nothing", "There is no copy 'nothing' of the server.", "save server nothing"),
    ("show Task 9", "Nobody has an object Task 9.", "Look by `show`"),
    ("log now", "'now' stands behind the end of the command.", "Write it as: log"),
    ("a: delete Task 1; quit", "The character \";\" has no meaning here.", "quotation marks"),
  ])
  func `a wrong command ends a script with its line and a remedy`(
    command: String, what: String, remedy: String
  ) throws {
    let script = "new a\na: create Task {_id: 1, title: \"x\", tags: [\"t\"], count: 1}\n\(command)\nshow\n"
    let outcome = try #require(try outcomes([script]).first)
    #expect(outcome.code == 2, "\(outcome)")
    #expect(outcome.complaint.hasPrefix("Line 3, `\(command)`: "), "\(outcome.complaint)")
    #expect(outcome.complaint.contains(what) && outcome.complaint.contains(remedy), "\(outcome.complaint)")
    #expect(!outcome.output.contains("> show\n"))
  }

  @Test func `a missing script is reported`() throws {
    try withTemporaryPath { path in
      let outcome = try Tool.run(["sync-lab", path + "-lab", "--script", path])
      #expect(outcome.code == 2 && outcome.complaint.contains("can't be read"))
    }
  }

  // MARK: - The transcript

  private func transcript() throws -> String {
    try output(try String(contentsOf: Transcript.script, encoding: .utf8))
  }

  @Test func `a script has the same output in each run`() throws {
    #expect(try transcript() == transcript())
  }

  @Test func `the document shows the beginning of the transcript`() throws {
    let document = try String(contentsOf: Transcript.document, encoding: .utf8)
    let shown = try #require(document.components(separatedBy: "which the tests compare -->\n\n").last)
    let lines = try #require(shown.components(separatedBy: "\n<!-- end of lab -->").first)
      .split(separator: "\n", omittingEmptySubsequences: false).map {
        $0.hasPrefix("    ") ? $0.dropFirst(4) : $0
      }
    let output = try String(contentsOf: Transcript.output, encoding: .utf8)
    #expect(lines.count > 40 && output.hasPrefix(lines.joined(separator: "\n")))
  }

  /// `REALM_WRITE_GOLDEN=1 swift test --filter SyncLabTests` writes the transcript again.
  @Test func `the output of the sample script is its transcript`() throws {
    let output = try transcript()
    if Transcript.isRecording { try output.write(to: Transcript.output, atomically: true, encoding: .utf8) }
    #expect(output == (try String(contentsOf: Transcript.output, encoding: .utf8)))
  }
}
