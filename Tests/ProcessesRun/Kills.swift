import Foundation
import RealmStorage
import RealmTestSupport

/// Workers that commit and read. Again and again one of them is killed at a random moment and replaced.
///
/// After each kill no acknowledged commit of any worker is lost, the last commit of the killed worker is there
/// completely or not at all, and held snapshots are unchanged. The kill may also happen while a worker opens the file,
/// recovers it or closes it.
struct Kills {
  let part: Part

  private var kills: Int { part.isQuick ? 20 : 200 }

  func run() throws {
    var number = 0
    var (commits, uncertain) = (0, 0)
    try withScenes { scene in
      var generator = part.generator(number)
      let slots = 0..<2 + generator.below(3)
      var round = Round(scene: scene, slots: slots, generator: generator)
      for kill in 0..<kills {
        try part.state("encrypted \(scene.isEncrypted), kill \(kill)") { try round.kill(number: kill) }
        number += 1
      }
      try part.state("encrypted \(scene.isEncrypted), the end") { try round.end() }
      commits += try scene.acknowledged(slots)
      uncertain += round.uncertain
    }
    part.figures = [("kills", number), ("commits", commits), ("uncertain", uncertain)]
    guard commits >= number, uncertain * 20 >= number else {
      throw Violation("the kills miss the commits: \(part.summary)")
    }
  }
}

/// The kills of one file.
private struct Round {
  private let scene: Scene
  private let slots: Range<Int>
  private var generator: SeededGenerator
  private var workers: [Int: Child] = [:]
  /// The database of this process. It is open through some of the kills, so that it sees other processes recover, and
  /// recovers by itself.
  private var database: Database?
  private var held = HeldSnapshots()
  /// The number of kills that happened during a commit.
  private(set) var uncertain = 0

  init(scene: Scene, slots: Range<Int>, generator: SeededGenerator) {
    self.scene = scene
    self.slots = slots
    self.generator = generator
  }

  mutating func kill(number: Int) throws {
    try startMissing()
    Thread.sleep(forTimeInterval: Double(generator.below([3000, 60_000, 60_000, 200_000][number % 4])) / 1e6)
    let victims = generator.chance(10) ? Array(slots) : [slots.lowerBound + generator.below(slots.count)]
    for slot in victims {
      try workers[slot]?.crash()
      workers[slot] = nil
      let progress = try scene.progress(of: slot)
      if progress.begun > progress.acknowledged { uncertain += 1 }
    }
    try look(number)
    if number % 5 == 0 { try waitForProgress() }
  }

  /// Starts all missing workers at once, so that the workers that open the file first do so together.
  private mutating func startMissing() throws {
    for slot in slots where workers[slot] == nil {
      workers[slot] = try scene.spawn(.write, slots: slot..<slot + 1, seed: generator.next() >> 1)
    }
  }

  private mutating func look(_ number: Int) throws {
    let database = try self.database ?? scene.open()
    let snapshot = try scene.verify(database, slots: slots)
    if number % 10 == 9 { try Scene.check(snapshot) }
    try held.verify()
    try named(database)
    // Beginning a transaction recovers what the killed worker left, unless another worker was faster.
    if generator.chance(30) {
      try database.beginWrite().cancel()
      try scene.verify(database, slots: slots)
    }
    if self.database == nil, generator.chance(20) {
      self.database = database
    } else if self.database != nil, generator.chance(10) {
      held.releaseAll()
      self.database = nil
    }
    guard self.database != nil else { return database.close() }
    if held.count < 3, generator.chance(40) { try held.add(snapshot) }
    if generator.chance(20) { try held.releaseOldest() }
  }

  /// Checks that the versions that are kept by names are whole, also if the worker that named them was killed.
  private func named(_ database: Database) throws {
    for name in try database.namedVersions() {
      if let snapshot = try database.snapshot(named: name.name) { _ = try Ledger.verify(snapshot) }
    }
  }

  /// Checks that the remaining workers go on, because the lock of the killed worker is free.
  private func waitForProgress() throws {
    for (slot, worker) in workers {
      let slots = slot..<slot + 1
      try scene.wait(for: scene.acknowledged(slots) + 1, slots, by: [worker])
    }
  }

  mutating func end() throws {
    try startMissing()
    for worker in workers.values { worker.tell("stop") }
    for worker in workers.values { try worker.finish() }
    held.releaseAll()
    try database?.pinsAreGone()
    database = nil
    let last = try scene.open()
    try scene.verifyEnd(last, slots: slots)
    last.close()
  }
}

extension Database {
  /// Checks that no version is pinned. Pins of dead processes do not count any more.
  func pinsAreGone() throws {
    try beginWrite().cancel()
    let pins = try self.pins()
    guard pins.isEmpty else { throw Violation("versions are pinned, and nobody reads them: \(pins)") }
  }
}
