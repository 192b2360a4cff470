import ArgumentParser
import Foundation
import RealmStorage

struct SyncLab: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-lab",
    abstract: "Plays several devices and a sync server on files, in one terminal and without a network.",
    discussion: """
      The folder gets server.realm and one file for each device, which are there again at the next run. \
      Commands are read from the terminal, from a pipe or from a script; `help` tells them. A small script:
        new a
        new b
        a: create Task {_id: 1, title: "Buy milk", count: 0}
        sync
        a: add Task 1 count 2
        b: add Task 1 count 3
        sync
        show

      Devices and server are those of the library: their sessions and their files are the real ones, and \
      every message goes through its bytes. Only the network is left out: messages wait until `sync` carries \
      them.

      A wrong command of a script ends the run with exit code 2; at the terminal the lab goes on. The output \
      of a script is the same at each run on a new folder.
      """)

  @Argument(help: "The folder of the lab; it is made where there is none.")
  var folder: String

  @Option(help: "A file with commands, one on each line.")
  var script: String?

  func run() throws {
    let lines = try script.map(Self.lines)
    let lab = try Self.telling { try Lab(folder) }
    defer { lab.close() }
    if let lines {
      var left = lines[...]
      try Self.runScript(lab) { left.popFirst() }
    } else if isatty(STDIN_FILENO) == 1 {
      try Self.converse(lab)
    } else {
      try Self.runScript(lab) { readLine() }
    }
  }

  private static func lines(_ path: String) throws -> [String] {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw ValidationError("The script \(path) can't be read, or is no file.")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  private static func telling<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let problem as LabProblem {
      Output.complain("\(problem)")
      throw ExitCode(2)
    }
  }

  /// Runs the commands of a script. The output has each line of the script before its effects.
  private static func runScript(_ lab: Lab, _ next: () -> String?) throws {
    var number = 0
    while let line = next() {
      number += 1
      do {
        let text = line.trimmingCharacters(in: .whitespaces)
        try Output.line(Wording.shown(text.isEmpty || text.hasPrefix("#") ? text : "> " + text))
        guard try lab.run(text) else { return }
      } catch let problem as LabProblem {
        Output.complain("Line \(number), `\(line.trimmingCharacters(in: .whitespaces))`: \(problem)")
        throw ExitCode(2)
      }
    }
  }

  private static func converse(_ lab: Lab) throws {
    try Output.line("Type help for the commands, and quit to end. The files stay.")
    let editor = LineEditor(prompt: "> ", isPlain: isatty(STDOUT_FILENO) == 0)
    while true {
      try Output.flush()
      guard let line = editor.next() else { return try Output.line() }
      do {
        guard try lab.run(line) else { return }
      } catch let error as OutputError {
        throw error
      } catch {
        Output.complain("\(error)")
      }
    }
  }
}
