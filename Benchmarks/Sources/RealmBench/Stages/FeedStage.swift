import Foundation
import RealmStorage
import RealmSwift

/// Measures how long a change feed takes to report the changes of 1,000 objects, beside the comparison of versions that
/// it is based on.
struct FeedStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    guard setting.chose(.feedChanges) else { return }
    for contender in setting.contenders where contender.kind == .realmObjects {
      progress("a change feed, \(contender.label)")
      try setting.withFolder("feed") { folder in
        let engine = try ObjectsEngine(folder: folder, isEncrypted: contender.isEncrypted)
        var source = PersonSource(count: setting.inputs.count)
        try engine.insertAll(&source)
        let count = min(1_000, setting.inputs.count / 10)
        let realm = try engine.realm()
        let database = try Database(
          path: realm.configuration.fileURL?.path ?? "",
          options: DatabaseOptions(encryptionKey: realm.configuration.encryptionKey.map { Array($0) }))
        _ = try database.keepVersion(named: "benchmark")
        try engine.setScores(
          (0..<count).map { place in
            ScoreChange(id: Int64(place * 7_919 % setting.inputs.count), score: -1 - Double(place))
          }[...])
        let feed = try realm.changeFeed(since: "benchmark")
        let feedSeconds = try (0..<5).map { _ in
          try Measure.seconds {
            let found = try next(of: feed)
            guard found == count else { throw BenchmarkError("\(found) of \(count) Persons were told") }
          }
        }
        findings.note(.feedChanges, contender, .seconds, Measure.median(feedSeconds))
        guard let old = try database.snapshot(named: "benchmark") else { return }
        let new = try database.snapshot()
        let seconds = try (0..<5).map { _ in
          try Measure.seconds { try new.forEachRowChange(since: old) { _ in true } }
        }
        findings.note(.rowChanges, contender, .seconds, Measure.median(seconds))
        engine.close()
      }
    }
  }

  private static func next(of feed: ChangeFeed) throws -> Int {
    let done = DispatchSemaphore(value: 0)
    let result = Answered()
    _Concurrency.Task {
      var iterator = feed.makeAsyncIterator()
      result.count = (try? await iterator.next())?.changes.count ?? -1
      done.signal()
    }
    done.wait()
    return result.count
  }

  /// A value that the task sets before another thread stops waiting for it.
  private final class Answered: @unchecked Sendable { var count = 0 }
}
