import Foundation
import RealmStorage
import RealmTestSupport

/// Processes ask for the session of a synced file, give it up, close the file, are killed, and write meanwhile. At most
/// one process has the session at a time. When it has given the session up or has ended, however it ended, the next
/// process that asks gets the session.
struct Agents {
  let part: Part

  private var turns: Int { part.isQuick ? 100 : 2000 }
  private static let processes = 3

  func run() throws {
    var (number, holders, kills) = (0, 0, 0)
    try withScenes { scene in
      var generator = part.generator(number)
      var children = try (0..<Self.processes).map { _ in try Self.open(scene) }
      var holder: Int?
      for turn in 0..<self.turns {
        try part.state("encrypted \(scene.isEncrypted), turn \(turn)") {
          let place = generator.below(Self.processes)
          switch generator.below(10) {
          case 0..<5:
            let isHolder = try children[place].succeed(.becomeAgent) == [1]
            guard isHolder == (holder == nil || holder == place) else {
              throw Violation("process \(place) has the session: \(isHolder). \(holder ?? -1) has had it")
            }
            if holder == nil { holders += 1 }
            if isHolder { holder = place }
          case 5: try children[place].succeed(.write)
          case 6..<8:
            try children[place].succeed(.resign)
            if holder == place { holder = nil }
          case 8:
            try children[place].succeed(.close)
            try children[place].succeed(.open)
            if holder == place { holder = nil }
          default:
            try children[place].crash()
            kills += 1
            children[place] = try Self.open(scene)
            if holder == place { holder = nil }
          }
        }
        number += 1
      }
      for child in children { try child.succeed(.close) }
    }
    part.figures = [("turns", number), ("holders", holders), ("kills", kills)]
    guard holders >= number / 10, kills > 0 else {
      throw Violation("the turns miss the holders or the kills: \(part.summary)")
    }
  }

  private static func open(_ scene: Scene) throws -> Child {
    let child = try scene.spawn(.obey)
    try child.succeed(.open)
    return child
  }
}
