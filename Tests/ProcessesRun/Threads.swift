import Foundation
import RealmStorage
import RealmTestSupport

/// Eight threads of one process commit together, while another process commits in turn with them. Then the same
/// happens, and the eight threads' process is killed again and again.
struct Threads {
  let part: Part

  private static let together = 0..<8
  private static let slots = 0..<9

  func run() throws {
    var (commits, milliseconds) = (0, 0)
    try withScenes { scene in
      let start = ContinuousClock.now
      commits += try complete(scene)
      milliseconds += Int(start.duration(to: .now) / .milliseconds(1))
    }
    var kills = 0
    try withScenes { scene in
      var generator = part.generator(kills)
      var other: Child?
      for _ in 0..<(part.isQuick ? 5 : 50) {
        try part.state("encrypted \(scene.isEncrypted), kill \(kills)") {
          other = try other ?? alternate(scene, commits: 0)
          try kill(scene, &generator)
        }
        kills += 1
      }
    }
    part.figures = [("commits", commits), ("milliseconds", milliseconds), ("kills", kills)]
  }

  private func alternate(_ scene: Scene, commits: Int) throws -> Child {
    try scene.spawn(.write, slots: 8..<9, ["--commits", "\(commits)"], seed: part.seed)
  }

  private func complete(_ scene: Scene) throws -> Int {
    let commits = part.isQuick ? 100 : 1000
    let eight = try scene.spawn(.write, slots: Self.together, ["--commits", "\(commits)"], seed: part.seed)
    let other = try alternate(scene, commits: commits)
    let (workers, all) = ([eight, other].compactMap { $0 }, commits * Self.slots.count)
    // The wait is divided into states, so that a hang is told from a slow disk.
    for tenth in 1...10 {
      try part.state("encrypted \(scene.isEncrypted), tenth \(tenth)") {
        try scene.wait(for: all * tenth / 10, Self.slots, by: workers)
      }
    }
    try part.state("encrypted \(scene.isEncrypted), the end") {
      for worker in workers { try worker.finish() }
      let database = try scene.open()
      defer { database.close() }
      try scene.verifyEnd(database, slots: Self.slots)
      guard try scene.acknowledged(Self.slots) == all else {
        throw Violation("\(try scene.acknowledged(Self.slots)) commits instead of \(commits) of each thread")
      }
    }
    return all
  }

  private func kill(_ scene: Scene, _ generator: inout SeededGenerator) throws {
    let eight = try scene.spawn(.write, slots: Self.together, seed: generator.next() >> 1)
    _ = try eight.line()
    Thread.sleep(forTimeInterval: Double(generator.below(150)) / 1000)
    try eight.crash()
    let database = try scene.open()
    defer { database.close() }
    try scene.verify(database, slots: Self.slots)
    try database.beginWrite().cancel()
    try Scene.check(scene.verify(database, slots: Self.slots))
  }
}
