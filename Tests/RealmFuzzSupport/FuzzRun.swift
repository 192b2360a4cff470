import Foundation
import RealmTestSupport

/// Tries one decoder in another process, so that a trap there is noticed and its input is found.
struct FuzzRun {
  let decoder: FuzzedDecoder
  let options: FuzzOptions
  let command: [String]

  /// The report of a worker.
  private struct Report {
    /// The number of the execution that the worker is at, or of the first execution of its batch.
    var place = 0
    var executions = 0
    var accepted = 0
    var refused = 0
    var microseconds = 0
    var wrong: [(number: Int, what: String)] = []
    /// How the process ended; nil if it completed its executions.
    var end: String?
  }

  /// - Returns: true if nothing went wrong.
  func run() throws -> Bool {
    let count = options.quick ? decoder.quick : options.executions
    let batch = min(4096, max(16, decoder.quick / 8))
    var report = try attend(from: 0, count: count, batch: batch)
    if let end = report.end {
      report.executions = report.place
      report.wrong.append(try lastInput(from: report.place, count: min(batch, count - report.place), end))
    }
    tell(report)
    for (number, what) in report.wrong { try keep(number, what) }
    // If no changed input is accepted, or if none is refused, the decoder is hardly tried.
    let isTried = report.executions < 1000 || (report.accepted > 0 && report.refused > 0)
    if !isTried, report.wrong.isEmpty {
      print("wrong: the decoder \(decoder.name) accepts all inputs or none, so that its samples are no use")
    }
    return report.wrong.isEmpty && isTried
  }

  private func tell(_ report: Report) {
    let each = Double(report.executions) / (Double(max(1, report.microseconds)) / 1_000_000)
    let speed = report.end == nil ? " per-second=\(Int(each))" : ""
    print(
      "decoder=\(decoder.name) executions=\(report.executions) accepted=\(report.accepted)"
        + " refused=\(report.refused) wrong=\(report.wrong.count)\(speed) seed=\(options.seed)")
    fflush(nil)
  }

  // MARK: - Workers

  private func attend(from first: Int, count: Int, batch: Int) throws -> Report {
    var report = Report()
    report.place = first
    let worker = try Child(
      command + [
        "--decoder", decoder.name, "--seed", "\(options.seed)", "--first", "\(first)", "--executions",
        "\(count)", "--batch", "\(batch)",
      ])
    while true {
      let line: String
      do {
        line = try worker.line()
      } catch let violation as Violation {
        report.end = violation.what
        return report
      }
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      let numbers = words.dropFirst().map { Int($0) ?? 0 }
      switch words.first {
      case "at"? where numbers.count == 1: report.place = numbers[0]
      case "wrong"? where !numbers.isEmpty:
        report.wrong.append((numbers[0], words.dropFirst(2).joined(separator: " ")))
      case "done"? where numbers.count == 4:
        (report.executions, report.accepted) = (numbers[0], numbers[1])
        (report.refused, report.microseconds) = (numbers[2], numbers[3])
        try worker.finish()
        return report
      default: throw FuzzFailure("A worker says what it should not: \(line)")
      }
    }
  }

  /// Repeats, one at a time, the executions of the batch in which a process ended. Returns the number of the last.
  private func lastInput(from first: Int, count: Int, _ end: String) throws -> (number: Int, what: String) {
    let report = try attend(from: first, count: max(1, count), batch: 1)
    guard let again = report.end else {
      return (first, "the process ended in the batch that begins here, and once only: \(end)")
    }
    return (report.place, again)
  }

  // MARK: - What went wrong

  /// Writes an input into a file, and prints the name of the file.
  private func keep(_ number: Int, _ what: String) throws {
    let folder = URL(fileURLWithPath: options.failures)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("\(decoder.name)-\(options.seed)-\(number)")
    let input = try FuzzWorker(decoder, seed: options.seed).input(number).bytes
    try Data(input).write(to: file)
    print("wrong: \(decoder.name), execution \(number), seed \(options.seed): \(what)")
    print("  its input is in \(file.path)")
    fflush(nil)
  }
}
