import Foundation
import SyncPrograms

/// The connection of a small session is cut after each possible number of bytes. The client continues with another
/// connection.
///
/// Three clients count the bytes: those of both directions together, and those of each direction alone. Each client has
/// its own app on the server.
struct CutRow {
  let scene: Scene

  /// The number of bytes between two cuts in the quick form.
  private static let quickStep = 13
  /// The most seconds that a session takes.
  private static let patience = 60.0

  private final class Lane {
    let name: String
    let program: Program
    /// The last line that was printed about a session.
    var last = "the beginning"
    var time = ContinuousClock.now
    /// The number of sessions, and the number of bytes that no session reaches.
    var done: [Int]?

    init(_ name: String, _ program: Program) { (self.name, self.program) = (name, program) }
  }

  func run() throws -> Report {
    let report = Report("cut")
    let directions = CutRule.Direction.allCases.map(\.rawValue)
    let definitions = directions.map { ($0, Cutter.definition(of: $0)) }
    let server = try scene.startServer(definitions: Dictionary(uniqueKeysWithValues: definitions))
    defer { server.end() }
    var lanes: [Lane] = []
    defer { for lane in lanes { lane.program.end() } }
    for name in directions { lanes.append(Lane(name, try start(name, server.port))) }
    while lanes.contains(where: { $0.done == nil }) {
      try Interruption.check()
      for lane in lanes where lane.done == nil { try listen(to: lane, report) }
      Thread.sleep(forTimeInterval: 0.01)
    }
    for lane in lanes { report.add(lane.name, "\(lane.done?.first ?? 0)/\(lane.done?.last ?? 0)") }
    report.add("sessions", lanes.reduce(0) { $0 + ($1.done?.first ?? 0) })
    return report
  }

  private func start(_ direction: String, _ port: Int) throws -> Program {
    let step = scene.isQuick ? Self.quickStep : 1
    let folder = scene.newFolder("cut-\(direction)")
    return try Program(
      "The client of \(direction)", Scene.executable,
      [
        "cut", "--server", "\(port)", "--direction", direction, "--files",
        folder.appending(path: "files").path, "--first", "\(scene.random.below(step))", "--step", "\(step)",
      ], in: folder)
  }

  private func listen(to lane: Lane, _ report: Report) throws {
    let (lines, isOver) = lane.program.takeLines()
    for line in lines {
      (lane.last, lane.time) = (line, .now)
      let words = line.split(separator: " ")
      switch words.first {
      case "at": break
      case "done": lane.done = words.dropFirst().compactMap { Int($0) }
      case "lost", "doubled", "diverged", "error": note(line, of: lane, report)
      default: throw lane.program.failure("says \"\(line)\"")
      }
    }
    if lane.done != nil { return }
    guard !isOver else { throw lane.program.failure("has ended behind \(lane.last)") }
    guard ContinuousClock.now < lane.time + .seconds(Self.patience) else {
      throw lane.program.failure("says nothing any more behind \(lane.last)")
    }
  }

  private func note(_ line: String, of lane: Lane, _ report: Report) {
    switch line.split(separator: " ").first {
    case "lost": report.lost += 1
    case "doubled": report.doubled += 1
    case "diverged": report.diverged += 1
    default: report.errors += 1
    }
    report.check(false, "Bytes of \(lane.name): \(line)")
  }
}
