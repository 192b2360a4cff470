import Dispatch
import Foundation
import Synchronization

/// A program that was started. It takes orders as lines, and answers with lines.
package final class Program {
  /// The failure of a program.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// The folder of the program's output. The owner of this object removes it.
  package let folder: URL
  private let name: String
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let lines = Lines()
  private var hasEnded = false

  /// A shell raises the number of descriptors to that of a thousand connections, if it may, and then becomes the
  /// program.
  private static let script =
    #"ulimit -n 8192 2>/dev/null || ulimit -n "$(ulimit -H -n)" 2>/dev/null; exec "$0" "$@""#

  /// - Parameters:
  ///   - name: The name of the program in messages.
  ///   - folder: The folder that is made for the program's standard error.
  package init(_ name: String, _ path: String, _ arguments: [String], in folder: URL) throws {
    (self.name, self.folder) = (name, folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    keepErrors()
    try Data().write(to: errors)
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.script, path] + arguments
    // A program that crashes, or that is made to report its place, prints the backtraces of all threads.
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

  /// Renames the standard error of an earlier program in this folder, so that it is kept.
  private func keepErrors() {
    let files = FileManager.default
    guard let size = try? errors.resourceValues(forKeys: [.fileSizeKey]).fileSize, size > 0 else { return }
    var number = 1
    while files.fileExists(atPath: folder.appending(path: "errors-\(number).txt").path) { number += 1 }
    try? files.moveItem(at: errors, to: folder.appending(path: "errors-\(number).txt"))
  }

  /// The file with the program's standard error.
  package var errors: URL { folder.appending(path: "errors.txt") }

  /// The number of the process.
  package var number: Int32 { process.processIdentifier }

  package var isRunning: Bool { process.isRunning }

  // MARK: - Orders and answers

  /// - Throws: `Failure` if the program has ended.
  package func tell(_ order: String) throws {
    do {
      try input.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8))
    } catch {
      throw failure("takes no orders any more")
    }
  }

  /// The next line that the program writes.
  ///
  /// - Throws: `Failure` if no line comes within `seconds` seconds; `Interrupted`.
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

  /// Waits for a line that begins with a word, and returns the numbers after the word.
  ///
  /// - Parameter count: The number of numbers in the line.
  /// - Throws: `Failure`, also if another line comes; `Interrupted`.
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

  /// The lines that have come, and whether they are all lines of the program. The function does not wait.
  package func takeLines() -> (lines: [String], isOver: Bool) { lines.takeAll() }

  /// An error with the last messages of the program.
  package func failure(_ text: String) -> Failure {
    let told = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    let lines = told.split(separator: "\n")
    // If the program crashed, these are the lines before the crash, its reason and its place.
    let crash = lines.firstIndex { $0.contains("Fatal error") || $0.contains("*** ") }
    let last = (crash.map { lines[max(0, $0 - 10)...].prefix(Self.mostCrashLines) } ?? lines.suffix(5))
      .joined(separator: "\n")
    return Failure("\(name) \(text)." + (last.isEmpty ? "" : " Its last messages:\n\(last)"))
  }

  private static let mostCrashLines = 400

  /// An error for a program that hangs, with the backtraces of its threads. The function ends the program.
  package func stuck(_ text: String) -> Failure {
    if process.isRunning {
      kill(process.processIdentifier, SIGABRT)
      // The backtraces of all threads take a while.
      _ = ends(within: 90)
    }
    return failure(text)
  }

  // MARK: - The end

  /// Ends the program, whatever it does. Clients end when their input ends.
  ///
  /// - Parameter isSignalled: True if the program gets a signal, as servers do.
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

  /// Kills the program, and waits until it is gone. Its folder stays, and its last lines can still be taken.
  ///
  /// - Throws: `Failure` if the program does not end.
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

/// The lines that a program has written.
private final class Lines: Sendable {
  enum Next {
    case line(String)
    /// No line has come yet.
    case nothing
    /// No more lines will come.
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

  /// - Parameter data: The bytes, which are empty at the end.
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

  /// The next line. Waits a moment if there is none.
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
