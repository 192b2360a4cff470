import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport

/// Two replicas append to the same list, and neither sees the changes of the other.
struct Lists {
  func run(_ folder: URL, _ figures: Figures) throws {
    let short = try timeOfAppend(10, folder)
    let long = try timeOfAppend(1_000_000, folder)
    figures.add(
      "S6 both append to a list of 1,000,000, against one of 10", long / short, "×", .atMost(3), digits: 2)
  }

  private func timeOfAppend(_ count: Int, _ folder: URL) throws -> Double {
    var server = try MeasuredServer(Database.local(folder, "list of \(count)"), replicas: 2)
    let name = ObjectName(ModelClass.name, .int(1))
    let list = InstructionPath("l")
    var transaction = try server.database.beginWrite()
    var made = 0
    var left = ElementID.none
    try server.upload(
      {
        var changeset = Changeset(); changeset.objects = [ObjectInstructions(name, [.create])];
        return changeset
      }(),
      1, base: 4, transaction)
    while made < count {
      var instructions: [Instruction] = []
      for _ in 0..<min(20_000, count - made) {
        made += 1
        let id = ElementID(replica: 1, counter: UInt32(made))
        instructions.append(.insert(list, id, left: left, right: .none, .value(.int(1))))
        left = id
      }
      var changeset = Changeset()
      changeset.objects = [ObjectInstructions(name, instructions)]
      try server.upload(changeset, 1, base: 4, transaction)
    }
    _ = try server.state.integrate(
      LogRecord(tag: 1, time: 1000, .trim(horizon: server.state.version)), in: transaction)
    try transaction.commit()
    let base = server.state.version
    var lefts = [left, left]
    let time = try seconds {
      for round in 0..<50 {
        transaction = try server.database.beginWrite()
        for replica in 1...2 {
          let id = ElementID(replica: 1, counter: UInt32((replica == 1 ? made : 0) + round + 1))
          var changeset = Changeset()
          changeset.objects = [
            ObjectInstructions(
              name, [.insert(list, id, left: lefts[replica - 1], right: .none, .value(.int(2)))])
          ]
          // The second replica names the elements of the first replica by the number 2 of its upload's replicas.
          if replica == 2, round == 0 {
            changeset.objects[0].instructions = [
              .insert(
                list, id, left: ElementID(replica: 2, counter: left.counter), right: .none, .value(.int(2)))
            ]
          }
          try server.upload(changeset, UInt64(replica), base: base, transaction)
          lefts[replica - 1] = id
        }
        try transaction.commit(.relaxed)
      }
    }
    return time / 100
  }
}
