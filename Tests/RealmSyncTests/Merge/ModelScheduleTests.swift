import Foundation
import RealmStorage
import RealmSyncSupport
import Testing

/// Random logs that the model of the merge rules has made, with its results. `make sync-model` compares many more.
@Suite struct ModelScheduleTests {
  private static let schedules = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Golden/model-schedules.txt")

  @Test func `the server gets the same result from a log as the model`() throws {
    let lines = try String(contentsOf: Self.schedules, encoding: .utf8).split(separator: "\n").map(
      String.init)
    var replay = ModelReplay()
    var schedules = 0
    try ModelSchedule.read(lines) { schedule in
      schedules += 1
      let difference = try replay.run(schedule, try Database(inMemory: "server"))
      #expect(difference == nil, "seed \(schedule.seed)")
    }
    #expect(schedules == 60 && replay.effects > 500 && replay.refusals > 10 && replay.trims > 10)
  }
}
