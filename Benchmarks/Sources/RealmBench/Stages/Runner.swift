import Foundation

/// Runs the chosen workloads on all engines, in rounds, and compares their answers.
///
/// Within a round the engines take turns after each workload, and after each hundred commits if single commits are
/// measured. So whatever else the machine and its disk do affects all engines. Another engine begins in each round.
struct Runner {
  let contenders: [Contender]
  let workloads: Set<Workload>
  let rounds: Int
  let inputs: Inputs
  /// The folder in which the files are made. It is emptied afterwards.
  let folder: String

  /// The medians of all rounds.
  func run(progress: (String) -> Void) throws -> [Sample] {
    var findings = Findings()
    for round in 1...rounds {
      let first = (round - 1) % contenders.count
      let setting = Setting(
        contenders: Array(contenders[first...] + contenders[..<first]), workloads: workloads, inputs: inputs,
        round: round, folder: folder)
      for stage in Self.stages {
        try stage.run(setting, &findings) { progress("round \(round) of \(rounds): \($0)") }
      }
    }
    return findings.medians
  }

  private static var stages: [any Stage.Type] {
    [
      PeopleStage.self, LinkStage.self, QueryStage.self, SeriesStage.self, KeyValueStage.self, ListStage.self,
      LookupStage.self, RecordStage.self, DiffStage.self, FeedStage.self, GrowthStage.self, ProcessStage.self,
    ]
  }
}

/// A group of workloads that share files, which the stage makes.
protocol Stage {
  /// Runs the chosen workloads of this stage.
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws
}

/// The setting of a stage in a round.
struct Setting {
  /// The engines in the order of their turns.
  let contenders: [Contender]
  let workloads: Set<Workload>
  let inputs: Inputs
  let round: Int
  let folder: String

  func chose(_ workload: Workload) -> Bool { workloads.contains(workload) }
  func chose(anyOf some: Set<Workload>) -> Bool { !workloads.isDisjoint(with: some) }

  /// Makes an empty folder and calls `body` with its path; it is removed afterwards.
  func withFolder<Result>(_ name: String, _ body: (String) throws -> Result) throws -> Result {
    let path = folder + "/" + name
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
  }
}
