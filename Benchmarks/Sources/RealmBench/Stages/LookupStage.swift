import Foundation

/// The workloads on a large set and on a large map, in the first round only.
struct LookupStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.round == 1, setting.chose(anyOf: Workload.lookups) else { return }
    let (million, number) = (setting.inputs.sizes.million, setting.inputs.sizes.memberLookups)
    let all = (0..<million).map { LookupTexts.make($0) }
    var random = SplitMix64(seed: 32)
    let texts = (0..<number).map { _ in LookupTexts.make(random.next(below: million)) }
    for contender in setting.contenders {
      progress("a set and a map, \(contender.label)")
      try setting.withFolder("lookups") { folder in
        guard let file = try contender.openLookups(in: folder) else { return }
        try file.fill(all)
        for workload in [Workload.setContains, .mapValue] where setting.chose(workload) {
          let outcome = try Outcome.timed(repeats: 3) {
            workload == .mapValue ? try file.numbers(of: texts) : Answer(try file.count(of: texts))
          }
          try findings.compare(workload.title, outcome.answer ?? Answer(), contender)
          let seconds = outcome.value(.seconds) ?? 0
          findings.note(workload, contender, .nanosecondsPerRow, seconds / Double(number) * 1e9)
        }
        try file.close()
      }
    }
  }
}
