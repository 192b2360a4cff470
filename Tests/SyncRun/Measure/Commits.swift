import Foundation
import RealmStorage

/// Compares small commits to a synced file with the same commits to a local file. The two files take turns.
struct Commits {
  private let objects = 100_000
  private let commits = 500

  func run(_ folder: URL, _ figures: Figures) throws {
    let files = [try Database.local(folder, "local"), try Database.synced(folder, "synced")]
    for file in files { try Person.fill(file, objects) }
    var number = 0
    for (name, durability, aim) in [
      ("S1 durable commits of an update", Durability.full, 1.3),
      ("S1 relaxed commits of an update", .relaxed, 1.6),
    ] {
      let ratio = try ratio(files) { file in
        number += 1
        let key = Value.int(Int64(number * 7919 % objects))
        try file.write(durability) { transaction in
          let table = try transaction.table(Person.name)
          if let row = try table?.row(withPrimaryKey: key) {
            try table?.set(.double(Double(number)), "score", ofRow: row)
          }
        }
      }
      figures.add("\(name), synced against local", ratio, "×", .atMost(aim), digits: 2)
    }
    let ratio = try ratio(files) { file in
      number += 1
      let person = Person(objects + number)
      try file.write { transaction in
        if let table = try transaction.table(Person.name) { try person.insert(into: table) }
      }
    }
    figures.add("S1 durable commits of an insert, synced against local", ratio, "×", .atMost(1.3), digits: 2)
  }

  /// The median time of the second file divided by the median time of the first file.
  private func ratio(_ files: [Database], _ commit: (Database) throws -> Void) throws -> Double {
    var times: [[Double]] = [[], []]
    for _ in 0..<commits {
      for (place, file) in files.enumerated() { times[place].append(try seconds { try commit(file) }) }
    }
    let medians = times.map { $0.sorted()[commits / 2] }
    return medians[1] / medians[0]
  }
}

/// Compares inserts of many objects in one durable commit.
struct BulkInserts {
  let objects: Int

  func run(_ folder: URL, _ figures: Figures) throws {
    let local = try Database.local(folder, "local")
    let synced = try Database.synced(folder, "synced")
    let times = (try Person.fill(local, objects), try Person.fill(synced, objects))
    figures.add(
      "S2 bulk insert of 1,000,000 objects, synced against local", times.1 / times.0, "×", .atMost(2),
      digits: 2)
  }
}
