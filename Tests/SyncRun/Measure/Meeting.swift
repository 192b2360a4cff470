import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport

/// Changes of others arrive at a client with pending changes of the same objects.
struct Meeting {
  let pending: Int

  func run(_ folder: URL, _ figures: Figures) throws {
    let half = try time(pending / 2, folder)
    let whole = try time(pending, folder)
    figures.add(
      "S7 20,000 changes of others into 20,000 pending, against 10,000 into 10,000", whole / half, "×",
      .atMost(2.3), digits: 2)
  }

  private func time(_ count: Int, _ folder: URL) throws -> Double {
    let client = try Database.synced(folder, "meeting \(count)")
    try client.write { transaction in
      try transaction.changeChangelogState { $0.querySet = 1 }
      var file = try ClientFile(transaction)
      try file.register(
        Welcome.Registered(replica: 7, version: 1, tag: 1, mark: Stamp(word: 0), sessionNumber: 1),
        partition: nil, time: Person.time)
    }
    try client.write { transaction in
      _ = try Person.make(transaction)
      var file = try ClientFile(transaction)
      var step = Step(
        from: 1, to: 2, tag: 2, querySet: 1, partition: nil, mark: Stamp(milliseconds: Person.time),
        lastSequence: 0)
      for number in 0..<count {
        let content: [Instruction] = [
          .create, .set(InstructionPath("name"), .value(.string("Person \(number)")), isDefault: false),
        ]
        step.objects.append(ObjectStep(ObjectName(Person.name, .int(Int64(number))), .whole(content)))
      }
      _ = try file.apply(StepParts([step]), time: Person.time)
    }
    for start in stride(from: 0, to: count, by: 100) {
      try client.write(.relaxed) { transaction in
        let table = try transaction.table(Person.name)
        for number in start..<min(count, start + 100) {
          if let row = try table?.row(withPrimaryKey: .int(Int64(number))) {
            try table?.set(.string("mine \(number)"), "name", ofRow: row)
          }
        }
      }
    }
    let transaction = try client.beginWrite()
    var file = try ClientFile(transaction)
    var step = Step(
      from: 2, to: 3, tag: 3, querySet: 1, partition: nil, mark: Stamp(milliseconds: Person.time),
      lastSequence: 0)
    step.replicas = [0, 9]
    let decided = DecidedBy(version: 3, stamp: Stamp(milliseconds: Person.time), replica: 1)
    for number in 0..<count {
      let effect = Effect(.set(InstructionPath("score"), .value(.double(1)), isDefault: false))
      step.objects.append(
        ObjectStep(ObjectName(Person.name, .int(Int64(number))), .effects([.others(decided, [effect])])))
    }
    return try seconds {
      _ = try file.apply(StepParts([step]), time: Person.time)
      try transaction.commit(.relaxed)
    }
  }
}
