import Foundation
import SyncPrograms

/// A client that writes, as its parent program knows it: its commits, and the acknowledgements of the server.
final class WorkerProgram {
  /// The author's number.
  let author: Int
  /// The folder of the client's files, which outlives the client.
  let files: URL
  private let durability: Durability
  private let server: String
  private let folder: URL
  private var program: Program?
  private var answers: [String] = []

  /// The last commit that the client has reported, or that was found in its file.
  private(set) var committed = 0
  /// The last commit that the server has acknowledged.
  private(set) var acknowledged = 0
  /// True if the first part of a download has come since the start.
  private(set) var isDownloading = false
  /// True if all objects that the server had are there since the start.
  private(set) var hasDownloaded = false
  /// The number of reported commits that are missing in the client's file.
  private(set) var lost = 0
  /// The number of commits in the client's file that can't have been made.
  private(set) var doubled = 0
  /// The number of commits that were made, and that the client could not report before it was killed.
  private(set) var untold = 0
  /// The last commits in the client's file before its resets, one for each reset.
  private(set) var resets: [Int] = []
  /// The number of resets that are complete.
  private(set) var countOfResets = 0
  /// The errors that have reached the client's handler, each with a code and a text.
  private(set) var errors: [String] = []
  /// The reasons why commits were refused, each with a code and a text.
  private(set) var refusals: [String] = []

  /// - Parameters:
  ///   - server: The address of the server.
  ///   - folder: The folder for the output of the client.
  init(_ author: Int, _ durability: Durability, server: String, files: URL, folder: URL) {
    (self.author, self.durability, self.server) = (author, durability, server)
    (self.files, self.folder) = (files, folder)
  }

  // MARK: - Start and end

  func start() throws {
    (isDownloading, hasDownloaded, answers) = (false, false, [])
    program = try Program(
      "The client \(author)", Scene.executable,
      [
        "work", "--server", server, "--files", files.path, "--author", "\(author)", "--durability",
        durability.rawValue,
      ], in: folder)
  }

  /// Kills the client. The reports that it printed before are known afterwards.
  func crash() throws {
    guard let program else { return }
    listen()
    let past = "; before, it had \(resets.count) resets and the errors \(errors)"
    if lost > 0 { throw program.failure("has told \(lost) commits that its file lacks now\(past)") }
    guard program.isRunning else { throw program.failure("has ended by itself\(past)") }
    try program.crash()
    let end = ContinuousClock.now + .seconds(10)
    while !listen() {
      guard ContinuousClock.now < end else { throw program.failure("is gone, and its output has no end") }
      Thread.sleep(forTimeInterval: 0.001)
    }
    self.end()
  }

  /// Ends the client. Its files stay.
  func end() {
    program?.end()
    program = nil
  }

  // MARK: - What it tells

  /// Reads the reports of the client.
  ///
  /// - Returns: True if no more reports will come.
  @discardableResult
  func listen() -> Bool {
    guard let (lines, isOver) = program?.takeLines() else { return true }
    for line in lines { take(line) }
    return isOver
  }

  private func take(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 2)
    let number = words.count > 1 ? Int(words[1]) : nil
    let rest = line.drop { $0 != " " }.dropFirst()
    switch words.first {
    case "c": committed = number ?? committed
    case "u": acknowledged = max(acknowledged, number ?? 0)
    case "open": note(inFile: number ?? 0)
    case "downloading": isDownloading = true
    case "downloaded": hasDownloaded = true
    case "resetting": resets.append(number ?? 0)
    case "reset": countOfResets += 1
    case "error": errors.append(String(rest))
    case "refused": refusals.append(String(rest))
    default: answers.append(line)
    }
  }

  /// Notes that the file has the commits up to a number. The client may have made one commit after the last one that it
  /// reported.
  private func note(inFile number: Int) {
    lost += max(0, committed - number)
    doubled += max(0, number - committed - 1)
    if number == committed + 1 { untold += 1 }
    committed = number
  }

  // MARK: - Orders and answers

  func tell(_ order: String) throws { try running.tell(order) }

  /// Lets the client write from now on, or from the time when it is open and sees the board.
  ///
  /// - Parameters:
  ///   - pause: The microseconds between two commits; nil for the default of the client's durability.
  ///   - bytes: The length of the texts.
  func write(pause: Int? = nil, bytes: Int = 60) throws {
    try tell("write \(pause ?? (durability == .full ? 200 : 2000)) \(bytes)")
  }

  /// Waits until the client has made a commit.
  func waitForCommit() throws {
    guard try waits(within: 120, until: { $0.committed > 0 }) else {
      throw try running.failure("commits nothing within 120 seconds")
    }
  }

  /// Lets the client end its writing.
  func stop() throws {
    let answer = try ask("stop", "stopped")
    guard answer.first == "\(committed)" else {
      throw try running.failure("has told the commit \(committed), and stops behind \(answer)")
    }
  }

  /// Waits until the server has all commits of the client.
  func settle(within seconds: Double = 120) throws { try ask("settle", "settled", within: seconds) }

  /// Gives an order, and waits for the answer.
  ///
  /// - Returns: The words after the first word of the answer.
  @discardableResult
  func ask(_ order: String, _ word: String, within seconds: Double = 60) throws -> [String] {
    try tell(order)
    var answer: [String]?
    let isThere = try waits(within: seconds) { worker in
      answer = worker.takeAnswer(word)
      return answer != nil
    }
    guard isThere, let answer else {
      throw try running.stuck("does not answer \"\(order)\" within \(Int(seconds)) seconds")
    }
    return answer
  }

  private func takeAnswer(_ word: String) -> [String]? {
    let place = answers.firstIndex { $0 == word || $0.hasPrefix("\(word) ") }
    guard let place else { return nil }
    return answers.remove(at: place).split(separator: " ").dropFirst().map(String.init)
  }

  /// Waits until a condition holds.
  ///
  /// - Returns: False if it does not hold within `seconds` seconds.
  /// - Throws: `Program.Failure` if the client ends; `Interrupted`.
  func waits(within seconds: Double, until isTrue: (WorkerProgram) throws -> Bool) throws -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      try Interruption.check()
      let isOver = listen()
      if try isTrue(self) { return true }
      guard !isOver else { throw try running.failure("has ended") }
      guard ContinuousClock.now < end else { return false }
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  private var running: Program {
    get throws {
      guard let program else { throw Program.Failure("The client \(author) does not run.") }
      return program
    }
  }
}
