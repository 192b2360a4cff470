import Foundation
import RealmStorage
import RealmSwift

/// Measures the time of changes of a model on a file of a million objects: the rows V1 to V8 of docs/performance.md.
///
/// migration-bench [--rows N]
@main
struct MigrationBench {
  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    var rows = 1_000_000
    if let option = arguments.firstIndex(of: "--rows"), option + 1 < arguments.count {
      rows = Int(arguments[option + 1]) ?? rows
    }
    let people = try People(rows)
    try people.run()
    try Columns(rows).run()
    try ManyClasses.run()
  }
}

/// Prints a figure with its aim.
func tell(_ name: String, _ value: Double, _ unit: String, aim: Double? = nil) {
  let text = String(format: "%.3g", value)
  let aimText = aim.map { String(format: "  aim %.3g%@", $0, value <= $0 ? "" : "  NOT REACHED") } ?? ""
  print("\(name.padding(toLength: 66, withPad: " ", startingAt: 0)) \(text) \(unit)\(aimText)")
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = DispatchTime.now().uptimeNanoseconds
  try body()
  return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
}

/// The greatest growth of the memory that belongs to this process alone while `body` runs, in MiB.
func mostMiB(_ body: () throws -> Void) rethrows -> Double {
  let sampler = Sampler()
  let before = Sampler.own
  sampler.start()
  defer { sampler.stop() }
  try body()
  return max(sampler.most, Sampler.own) - before
}

private final class Sampler: @unchecked Sendable {
  // This is Sendable because the counters are used only under the lock.
  private let lock = NSLock()
  private var isRunning = true
  private var greatest = 0.0

  static var own: Double {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
    else { return 0 }
    return (Double(line.split(whereSeparator: { !$0.isNumber })[0]) ?? 0) / 1_024
  }

  var most: Double { lock.withLock { greatest } }

  func start() {
    Thread.detachNewThread { [self] in
      while lock.withLock({ isRunning }) {
        let own = Self.own
        lock.withLock { greatest = max(greatest, own) }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  func stop() { lock.withLock { isRunning = false } }
}

/// A file that is removed when this object is released.
final class Place {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")

  deinit { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

  func copy() throws -> Place {
    let copy = Place()
    try FileManager.default.copyItem(at: url, to: copy.url)
    return copy
  }
}
