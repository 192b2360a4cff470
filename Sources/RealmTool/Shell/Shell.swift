import ArgumentParser
import Foundation
import RealmInterchange
import RealmQuery
import RealmStorage

struct Shell: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Answers queries about a file, and changes it, one command on each line.",
    discussion: """
      A query is a command: `Person WHERE age > 30 SORT(name ASC)` prints the rows. Changes are made in a transaction, which is seen by nobody else before it is \
      committed:
        begin
        create Person {"id": 7, "name": "Ann", "dogs": [3]}
        set Person 7 {"name": "Anna"}
        delete Person WHERE age > 120
        commit
      `help` tells all commands. Objects are written as `realm export` writes them. A file that is synced is not changed.

      Commands come from the terminal, from standard input or from --command. A wrong command ends a run that reads no terminal with exit code 2, and a transaction that is \
      open then is cancelled.
      """)

  @OptionGroup var options: FileOptions

  @Option(
    name: [.customShort("c"), .long],
    help: "A command instead of those of standard input; may be given several times.")
  var command: [String] = []

  func run() throws {
    try options.requireFile()
    let session = try ShellSession(options.file, key: try options.key())
    defer { session.close() }
    if !command.isEmpty {
      for line in command where try !runLine(line, session) { break }
      return try session.end()
    }
    if isatty(STDIN_FILENO) == 1 { return try converse(session) }
    let input = try InputBytes(path: "-")
    while let bytes = try input.line() {
      guard let line = String(validating: bytes, as: UTF8.self) else {
        try fail(String(decoding: bytes, as: UTF8.self), "The line is no text in UTF-8.")
      }
      guard try runLine(line, session) else { break }
    }
    try session.end()
  }

  /// Runs a command. If the command is wrong, this ends the tool.
  ///
  /// - Returns: whether more commands are wanted.
  private func runLine(_ line: String, _ session: ShellSession) throws -> Bool {
    do {
      return try session.run(line)
    } catch let problem as ShellProblem {
      try fail(line, problem.description)
    } catch let refusal as SyncedFileRefusal {
      try fail(line, refusal.description)
    } catch let error as ValidationError {
      try fail(line, error.message)
    }
  }

  private func fail(_ line: String, _ reason: String) throws -> Never {
    try Output.flush()
    Output.complain("`\(line.count <= 80 ? line : line.prefix(79) + "…")`: \(reason)")
    throw ExitCode(2)
  }

  private func converse(_ session: ShellSession) throws {
    try Output.line("Type help for the commands, and quit to end.")
    let editor = LineEditor(prompt: "> ", isPlain: isatty(STDOUT_FILENO) == 0)
    while true {
      try Output.flush()
      editor.complete(with: (try? session.words()) ?? [])
      guard let line = editor.next() else { break }
      do {
        guard try session.run(line) else { break }
      } catch let error as OutputError {
        throw error
      } catch {
        Output.complain(ShellProblem.text(of: error))
      }
    }
    try session.end()
  }
}

/// An error in a command of the shell.
struct ShellProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The message about an error.
  static func text(of error: any Error) -> String {
    if let error = error as? ValidationError { return error.message }
    return "\(error)"
  }
}
