import Foundation
import RealmStorage

/// Measures the cost of a recorder that keeps each change. Only this project's engine takes part, in turns without and
/// with a recorder.
struct RecordStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.chose(anyOf: Workload.recordings) else { return }
    for contender in setting.contenders where contender.kind == .realmStorage {
      progress("recorded changes, \(contender.label)")
      if setting.chose(anyOf: [.plainBulkInsert, .recordedBulkInsert]) {
        for (workload, isRecorded) in [(Workload.plainBulkInsert, false), (.recordedBulkInsert, true)] {
          let seconds = try setting.withFolder("recorded") { folder in
            try insertAll(
              StorageEngine(folder: folder, isEncrypted: contender.isEncrypted), setting, isRecorded)
          }
          findings.note(workload, contender, .seconds, seconds)
        }
      }
      if setting.chose(anyOf: [.plainInsert, .recordedInsert]) {
        try setting.withFolder("recorded") { folder in
          let engine = try StorageEngine(folder: folder, isEncrypted: contender.isEncrypted)
          try insertOneByOne(engine, contender, setting, &findings)
        }
      }
    }
  }

  private static func insertAll(_ engine: StorageEngine, _ setting: Setting, _ isRecorded: Bool) throws
    -> Double
  {
    var source = PersonSource(count: setting.inputs.count)
    let list = ChangeList()
    let seconds = try Measure.seconds { try engine.insertAll(&source, recorder: isRecorded ? list : nil) }
    var rows = 0
    for change in list.changes { if case .createMany(let batch) = change.change.kind { rows += batch.count } }
    guard !isRecorded || rows == setting.inputs.count else {
      throw BenchmarkError("\(rows) Persons were recorded of \(setting.inputs.count)")
    }
    engine.close()
    return seconds - source.seconds
  }

  /// The number of commits of each kind, in turns of a hundred.
  private static let commits = 10_000

  private static func insertOneByOne(
    _ engine: StorageEngine, _ contender: Contender, _ setting: Setting, _ findings: inout Findings
  ) throws {
    var source = PersonSource(count: setting.inputs.count)
    try engine.insertAll(&source)
    engine.promise = .relaxed
    var added = PersonSource(count: setting.inputs.count + 2 * commits)
    var people: [Person] = []
    while let batch = added.next() { people += batch.filter { $0.id >= Int64(setting.inputs.count) } }
    var times: [[Double]] = [[], []]
    for (place, person) in people.enumerated() {
      let isRecorded = place / 100 % 2 == 1
      let list = ChangeList()
      times[isRecorded ? 1 : 0].append(
        try Measure.seconds { try engine.insert(person, recorder: isRecorded ? list : nil) })
      guard list.changes.count == (isRecorded ? 1 : 0) else {
        throw BenchmarkError("\(list.changes.count) changes were recorded")
      }
    }
    findings.note(.plainInsert, contender, .p50Microseconds, Measure.median(times[0]) * 1e6)
    findings.note(.recordedInsert, contender, .p50Microseconds, Measure.median(times[1]) * 1e6)
    engine.close()
  }
}
