import Foundation
import RealmSwift

/// Measures the time from a commit to the call of observers: the rows L1 to L9 of docs/performance.md.
///
/// live-bench [--chart FILE] [L1 L5 …]
@main
struct LiveBench {
  static func main() throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "write" { return try Neighbour.write(Array(arguments.dropFirst())) }
    var chart: String?
    if let option = arguments.firstIndex(of: "--chart"), option + 1 < arguments.count {
      chart = arguments[option + 1]
      arguments.removeSubrange(option...option + 1)
    }
    let known = Set((1...9).map { "L\($0)" })
    guard known.isSuperset(of: arguments) else {
      print("Usage: live-bench [--chart FILE] [\(known.sorted().joined(separator: " "))]")
      exit(2)
    }
    let wanted = arguments.isEmpty ? known : Set(arguments)
    let figures = Figures()
    if !wanted.isDisjoint(with: ["L1", "L2", "L3", "L4", "L6", "L8"]) {
      try Items(1_000_000).run(wanted, figures)
    }
    if wanted.contains("L5") {
      for count in [10_000, 100_000, 1_000_000] { try Graph(count).run(figures) }
    }
    if wanted.contains("L7") { try unconcerned(figures) }
    if wanted.contains("L9") {
      try Neighbour(isEncrypted: false).run(figures)
      try Neighbour(isEncrypted: true).run(figures)
    }
    if let chart { try figures.chart.write(toFile: chart, atomically: true, encoding: .utf8) }
  }

  /// Measures 1,000 observers of a class in which nothing changes, and one observer of another class.
  static func unconcerned(_ figures: Figures) throws {
    let place = try Place("L7", [Item.self, Other.self])
    try place.write { realm in
      realm.add(Other())
      for id in 0..<1_000 { realm.create(Item.self, value: ["id": id]) }
    }
    let called = Called()
    let tokens = place.onQueue { realm in
      (0..<1_000).map { number in
        realm.objects(Item.self).where { $0.value > number }.observe { if case .update = $0 { called.add() } }
      } + [realm.objects(Other.self).observe { if case .update = $0 { called.add() } }]
    }
    place.settle()
    let times = try place.times(200, called) { realm, _ in realm.objects(Other.self)[0].value += 1 }
    figures.add("L7 1,000 observers that are not concerned", times, aim: 1)
    withExtendedLifetime(tokens) {}
  }
}
