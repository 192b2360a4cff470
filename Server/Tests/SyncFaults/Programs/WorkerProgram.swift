import Foundation
import SyncPrograms

/// A client that writes, as the program that has started it knows it: what it has committed, and what the server has acknowledged.
final class WorkerProgram {
  /// The number of the author.
  let author: Int
  /// The folder of the client's files, which outlives the client.
  let files: URL
  private let durability: Durability
  private let server: String
  private let folder: URL
  private var program: Program?
  private var answers: [String] = []

  /// The last commit that it has told, or that was found in its file.
  private(set) var committed = 0
  /// The last commit that the server has acknowledged.
  private(set) var acknowledged = 0
  /// The first part of a download has come since it was started.
  private(set) var isDownloading = false
  /// All that the server had is there since it was started.
  private(set) var hasDownloaded = false
  /// Commits that it has told and that are not in its file.
  private(set) var lost = 0
  /// Commits in its file that can't have been made.
  private(set) var doubled = 0
  /// Commits that were made, and that it could not tell before it was killed.
  private(set) var untold = 0
  /// The last commit that was in its file when it was about to be reset, one for each reset.
  private(set) var resets: [Int] = []
  /// Resets that are done.
  private(set) var countOfResets = 0
  /// What has reached its handler: a code, and a text.
  private(set) var errors: [String] = []
  /// Why commits were refused: a code, and a text.
  private(set) var refusals: [String] = []

  /// - Parameters:
  ///   - server: the address of the server.
  ///   - folder: for what it prints.
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

  /// Kills it. What it has told before is known then.
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

  /// Ends it. Its files stay.
  func end() {
    program?.end()
    program = nil
  }

  // MARK: - What it tells

  /// Takes in what it has told.
  ///
  /// - Returns: whether it will tell nothing more.
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

  /// The file has the commits up to a number. The one behind the last that was told may have been made.
  private func note(inFile number: Int) {
    lost += max(0, committed - number)
    doubled += max(0, number - committed - 1)
    if number == committed + 1 { untold += 1 }
    committed = number
  }

  // MARK: - Orders and answers

  func tell(_ order: String) throws { try running.tell(order) }

  /// Lets it write from now on, or from when it is open and sees the board.
  ///
  /// - Parameters:
  ///   - pause: microseconds between two commits; nil for as many as there should be of its durability.
  ///   - bytes: the length of the texts.
  func write(pause: Int? = nil, bytes: Int = 60) throws {
    try tell("write \(pause ?? (durability == .full ? 200 : 2000)) \(bytes)")
  }

  /// Waits until it has committed something.
  func waitForCommit() throws {
    guard try waits(within: 120, until: { $0.committed > 0 }) else {
      throw try running.failure("commits nothing within 120 seconds")
    }
  }

  /// Lets it end writing.
  func stop() throws {
    let answer = try ask("stop", "stopped")
    guard answer.first == "\(committed)" else {
      throw try running.failure("has told the commit \(committed), and stops behind \(answer)")
    }
  }

  /// Waits until the server has all that it has committed.
  func settle(within seconds: Double = 120) throws { try ask("settle", "settled", within: seconds) }

  /// Gives an order, and waits for the answer.
  ///
  /// - Returns: the words behind the first one.
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

  /// Waits until something holds.
  ///
  /// - Returns: false where it does not within so many seconds.
  /// - Throws: `Program.Failure` where the client ends; `Interrupted`.
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
