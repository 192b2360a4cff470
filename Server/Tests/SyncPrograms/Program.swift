import Dispatch
import Foundation
import Synchronization

/// A program that was started. It is told orders by lines, and answers by lines.
package final class Program {
  /// Something that a program has not done.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// What the program tells is in it. Who has started the program removes it.
  package let folder: URL
  private let name: String
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let lines = Lines()
  private var hasEnded = false

  /// A shell gives the program as many descriptors as a thousand connections need, where it may, and becomes the program.
  private static let script =
    #"ulimit -n 8192 2>/dev/null || ulimit -n "$(ulimit -H -n)" 2>/dev/null; exec "$0" "$@""#

  /// - Parameters:
  ///   - name: what messages call it.
  ///   - folder: is made. What the program writes to standard error is in it.
  package init(_ name: String, _ path: String, _ arguments: [String], in folder: URL) throws {
    (self.name, self.folder) = (name, folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    keepErrors()
    try Data().write(to: errors)
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.script, path] + arguments
    // A program that crashes, or is to tell where it stands, tells all its threads.
    let backtrace = "enable=yes,threads=all,images=none,registers=none,color=no,interactive=no"
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": backtrace]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    output.fileHandleForReading.readabilityHandler = { [lines] file in
      let data = file.availableData
      lines.take(data)
      if data.isEmpty { file.readabilityHandler = nil }
    }
    try process.run()
    Cleanup.began(process: process.processIdentifier)
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    noteEnd()
  }

  /// What a program of the same folder has written stays beside what this one writes.
  private func keepErrors() {
    let files = FileManager.default
    guard let size = try? errors.resourceValues(forKeys: [.fileSizeKey]).fileSize, size > 0 else { return }
    var number = 1
    while files.fileExists(atPath: folder.appending(path: "errors-\(number).txt").path) { number += 1 }
    try? files.moveItem(at: errors, to: folder.appending(path: "errors-\(number).txt"))
  }

  /// What the program has written to standard error.
  package var errors: URL { folder.appending(path: "errors.txt") }

  /// The number of the process.
  package var number: Int32 { process.processIdentifier }

  package var isRunning: Bool { process.isRunning }

  // MARK: - Orders and answers

  /// - Throws: `Failure` where the program has ended.
  package func tell(_ order: String) throws {
    do {
      try input.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8))
    } catch {
      throw failure("takes no orders any more")
    }
  }

  /// The next line that the program writes.
  ///
  /// - Throws: `Failure` where it does not come within so many seconds; `Interrupted`.
  package func line(within seconds: Double) throws -> String {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      try Interruption.check()
      switch lines.next() {
      case .line(let line): return line
      case .end: throw failure("has ended")
      case .nothing: break
      }
      guard ContinuousClock.now < end else { throw failure("says nothing within \(Int(seconds)) seconds") }
    }
  }

  /// Waits for a line that begins with a word, and answers the numbers behind it.
  ///
  /// - Parameter count: so many numbers are there.
  /// - Throws: `Failure`, also where there is another line; `Interrupted`.
  @discardableResult
  package func answer(_ word: String, _ count: Int = 0, within seconds: Double = 60) throws -> [Double] {
    let line = try line(within: seconds)
    let words = line.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Double($0) }
    guard words.first == Substring(word), numbers.count == count else {
      throw failure("says \"\(line)\" where \"\(word)\" and \(count) numbers are expected")
    }
    return numbers
  }

  /// The lines that have come, and whether all have that will ever come. Nothing is waited for.
  package func takeLines() -> (lines: [String], isOver: Bool) { lines.takeAll() }

  /// An error that tells the last messages of the program, too.
  package func failure(_ text: String) -> Failure {
    let told = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    let lines = told.split(separator: "\n")
    // Of a program that crashed: what it had told before, what it crashed of, and where.
    let crash = lines.firstIndex { $0.contains("Fatal error") || $0.contains("*** ") }
    let last = (crash.map { lines[max(0, $0 - 10)...].prefix(Self.mostCrashLines) } ?? lines.suffix(5))
      .joined(separator: "\n")
    return Failure("\(name) \(text)." + (last.isEmpty ? "" : " Its last messages:\n\(last)"))
  }

  private static let mostCrashLines = 400

  /// An error of a program that does not go on, with what its threads do. It ends by that.
  package func stuck(_ text: String) -> Failure {
    if process.isRunning {
      kill(process.processIdentifier, SIGABRT)
      // To tell all threads takes a while.
      _ = ends(within: 90)
    }
    return failure(text)
  }

  // MARK: - The end

  /// Ends the program, whatever it does. Clients end with their input.
  ///
  /// - Parameter isSignalled: it is told by a signal, as servers are.
  package func end(bySignal isSignalled: Bool = false) {
    try? input.fileHandleForWriting.close()
    if isSignalled, process.isRunning { process.terminate() }
    if !ends(within: 10) {
      kill(process.processIdentifier, SIGKILL)
      _ = ends(within: 5)
    }
    noteEnd()
    output.fileHandleForReading.readabilityHandler = nil
  }

  /// Kills the program, and waits until it is gone. Its folder stays, and its last lines can be taken.
  ///
  /// - Throws: `Failure` where it does not go.
  package func crash() throws {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    guard ends(within: 10) else { throw failure("is killed and does not end") }
    noteEnd()
  }

  private func noteEnd() {
    guard !hasEnded else { return }
    hasEnded = true
    Cleanup.ended(process: process.processIdentifier)
  }

  private func ends(within seconds: Double) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while process.isRunning {
      guard ContinuousClock.now < end else { return false }
      Thread.sleep(forTimeInterval: 0.005)
    }
    return true
  }
}

/// What a program has written, line by line.
private final class Lines: Sendable {
  enum Next {
    case line(String)
    /// None has come yet.
    case nothing
    /// None will come.
    case end
  }

  private struct State {
    var lines: [String] = []
    /// The beginning of the next line.
    var rest: [UInt8] = []
    var isOver = false
  }

  private let state = Mutex(State())
  private let hasCome = DispatchSemaphore(value: 0)

  /// - Parameter data: is empty at the end.
  func take(_ data: Data) {
    state.withLock { state in
      if data.isEmpty { state.isOver = true }
      state.rest += data
      while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
        state.lines.append(String(decoding: state.rest[..<end], as: UTF8.self))
        state.rest.removeFirst(end + 1)
      }
    }
    hasCome.signal()
  }

  /// Waits a moment where there is no line.
  func next() -> Next {
    let known = first()
    guard case .nothing = known else { return known }
    _ = hasCome.wait(timeout: .now() + .milliseconds(100))
    return first()
  }

  func takeAll() -> (lines: [String], isOver: Bool) {
    state.withLock { state in
      defer { state.lines = [] }
      return (state.lines, state.isOver)
    }
  }

  private func first() -> Next {
    state.withLock { state in
      guard state.lines.isEmpty else { return .line(state.lines.removeFirst()) }
      return state.isOver ? .end : .nothing
    }
  }
}
