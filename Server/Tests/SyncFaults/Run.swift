import ArgumentParser
import Foundation
import SyncPrograms

/// Runs the rows one after another, and prints a line for each.
struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the rows kill, cut, slow, full and yesterday (docs/testing.md).")

  @Argument(help: "The program realm-server.") var server: String
  @Option(help: "Where the random numbers start; when programs meet is not theirs to say.") var seed: UInt64?
  @Flag(help: "Fewer kills and cuts, and shorter rows.") var quick = false
  @Option(parsing: .upToNextOption, help: "The rows that are run: all of them unless given.")
  var rows: [String] = []
  /// True if this program has started itself again in a slow network of the system.
  @Flag(help: .hidden) var withinNetem = false

  private static let known: [(name: String, run: @Sendable (Scene) throws -> [Report])] = [
    ("kill", { scene in [try KillRow(scene).run()] }),
    ("cut", { scene in [try CutRow(scene: scene).run()] }),
    ("slow", { scene in [try SlowRow(scene: scene).run()] }),
    ("full", { scene in try FullRow(scene: scene).run() }),
    ("yesterday", { scene in [try YesterdayRow(scene: scene).run()] }),
  ]

  func validate() throws {
    let names = Self.known.map(\.name)
    if let row = rows.first(where: { !names.contains($0) }) {
      throw ValidationError("There is no row \(row). There are: \(names.joined(separator: ", ")).")
    }
  }

  func run() throws {
    guard FileManager.default.isExecutableFile(atPath: server) else {
      throw ValidationError("\(server) is no program. Build realm-server, and give its path.")
    }
    Interruption.watch()
    let seed = seed ?? .random(in: 0...UInt64(UInt32.max))
    if !withinNetem { say("seed=\(seed)") }
    var isGood = true
    for row in Self.known where rows.isEmpty || rows.contains(row.name) {
      // Each row gets the same numbers, whatever rows are run.
      let scene = try Scene(server: server, isQuick: quick, seed: seed, isWithinNetem: withinNetem)
      var isRowGood = true
      defer { scene.end(isGood: isRowGood) }
      do {
        for report in try row.run(scene) {
          say(report.line)
          for text in report.wrong { note("\(row.name): \(text)") }
          isRowGood = isRowGood && report.isGood
        }
        isGood = isGood && isRowGood
      } catch let interrupted as Interrupted {
        throw interrupted
      } catch {
        // The other rows are run all the same.
        (isGood, isRowGood) = (false, false)
        say("row=\(row.name) result=wrong")
        note("\(row.name): \(error)")
      }
    }
    if !isGood { throw ExitCode(1) }
  }
}
