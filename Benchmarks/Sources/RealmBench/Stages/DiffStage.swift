import Foundation
import RealmStorage

/// Measures how two versions of a file differ, and how two files differ. Only this project's engine takes part, because
/// the others have no such operation.
struct DiffStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.chose(anyOf: Workload.differences) else { return }
    for contender in setting.contenders where contender.kind == .realmStorage {
      progress("versions and files that differ, \(contender.label)")
      try setting.withFolder("versions") { folder in
        let engine = try StorageEngine(folder: folder, isEncrypted: contender.isEncrypted)
        try fill(engine, setting.inputs.count)
        try compareVersions(engine, contender, setting, &findings)
        for (workload, isSorted) in [(Workload.diffFiles, false), (.diffFilesInOtherOrder, true)]
        where setting.chose(workload) {
          try setting.withFolder("other") { folder in
            let other = try StorageEngine(folder: folder, isEncrypted: contender.isEncrypted)
            if isSorted {
              try other.insertSorted(of: engine, count: setting.inputs.count)
            } else {
              try fill(other, setting.inputs.count)
            }
            let (old, new) = (try other.database.snapshot(), try engine.database.snapshot())
            let count = isSorted ? 0 : Self.changes(setting)
            try note(workload, contender, &findings) { try compare(old, new, expecting: count) }
          }
        }
      }
    }
  }

  private static func fill(_ engine: StorageEngine, _ count: Int) throws {
    var source = PersonSource(count: count)
    try engine.insertAll(&source)
  }

  /// The number of scores that differ.
  private static func changes(_ setting: Setting) -> Int { min(1_000, setting.inputs.count / 10) }

  private static func compareVersions(
    _ engine: StorageEngine, _ contender: Contender, _ setting: Setting, _ findings: inout Findings
  ) throws {
    let count = changes(setting)
    // The ids are multiples of a number that has no common factor with the count, so they are distinct and seem random.
    let scores = (0..<count).map { place in
      ScoreChange(id: Int64(place * 7_919 % setting.inputs.count), score: -1 - Double(place))
    }
    let old = try engine.database.snapshot()
    try engine.setScores(scores[...])
    let new = try engine.database.snapshot()
    if setting.chose(.diffVersions) {
      try note(.diffVersions, contender, &findings) { try compare(old, new, expecting: count) }
    }
    if setting.chose(.rowChanges) {
      try note(.rowChanges, contender, &findings) {
        var found = 0
        try new.forEachRowChange(since: old) { _ in
          found += 1
          return true
        }
        try expect(found, count)
      }
    }
  }

  /// Finds all objects that differ, with the values that differ.
  private static func compare(_ old: Snapshot, _ new: Snapshot, expecting count: Int) throws {
    var found = 0
    try DatabaseComparison(from: old, to: new).forEachRow { _ in
      found += 1
      return true
    }
    try expect(found, count)
  }

  private static func expect(_ found: Int, _ count: Int) throws {
    guard found == count else { throw BenchmarkError("\(count) Persons differ, and \(found) were found") }
  }

  private static func note(
    _ workload: Workload, _ contender: Contender, _ findings: inout Findings, _ body: () throws -> Void
  ) throws {
    let seconds = try (0..<3).map { _ in try Measure.seconds(body) }
    findings.note(workload, contender, .seconds, Measure.median(seconds))
  }
}

extension StorageEngine {
  /// Adds the Persons of another file, by ascending ids.
  fileprivate func insertSorted(of other: StorageEngine, count: Int) throws {
    let source = try Self.people(in: other.database.snapshot())
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema(source.schema.name, columns: source.schema.columns))
      for id in 0..<Int64(count) {
        let key = try Self.row(of: id, in: source)
        try table.insert { (row: inout NewRow) throws(StorageError) in
          for (place, column) in source.schema.columns.enumerated() {
            if let value = try source.value(column, ofRow: key) { try row.set(place, value) }
          }
        }
      }
    }
  }
}
