import RealmTestSupport

/// What must not happen to a synced file or to a server's. The run adds the seed.
typealias SyncedFault = RealmTestSupport.Violation

/// What happened in a run, by name.
final class CrashCounts {
  private var counts: [String: Int] = [:]

  func add(_ name: String) { counts[name, default: 0] += 1 }
  subscript(_ name: String) -> Int { counts[name] ?? 0 }
}

/// How a life ended.
struct CrashedLife {
  var opened = false
  var closedCleanly = false
  var syncFailed = false
}

/// A file of device sync on a disk, with all that it talks to, and what is known of it.
protocol CrashedFile: AnyObject {
  /// In the line that a run prints.
  static var name: String { get }
  /// What is printed beside the states.
  static var figures: [String] { get }
  /// So many percent of the states at least are to be such.
  static var floors: [(name: String, percent: Int)] { get }

  init(isEncrypted: Bool, seed: UInt64, counts: CrashCounts) throws

  /// The disk with the file as it is made, and closed cleanly.
  func made() throws -> SimulatedDisk
  /// Opens what is on a disk, looks at it, works with it until the disk dies or it is enough, and leaves it.
  func live(on disk: SimulatedDisk) throws -> CrashedLife
  /// Looks at another outcome of the loss of power that is noted next.
  func look(at disk: SimulatedDisk) throws
  /// Power was lost, or a sync has failed: what was relaxed may be gone.
  func losePower()
  /// Nothing goes wrong any more: all sides come to the same.
  func end(on disk: SimulatedDisk) throws
}

/// Chains of lives of files of device sync: each life opens what the last one left, is checked against what
/// was committed and what others were told, goes on, and ends by being killed, by power loss, by a failed
/// sync or by closing.
struct SyncedCrashRun<File: CrashedFile> {
  let isEncrypted: Bool
  let seed: UInt64
  let states: Int
  private var seen: Set<UInt64> = []
  private let counts = CrashCounts()

  init(isEncrypted: Bool, seed: UInt64, states: Int) {
    (self.isEncrypted, self.seed, self.states) = (isEncrypted, seed, states)
  }

  private var missed: [String] {
    File.floors.filter { counts[$0.name] * 100 < counts["opened"] * $0.percent }.map { floor in
      "\(floor.name) \(counts[floor.name]) of \(counts["opened"]), not \(floor.percent) %"
    }
  }

  var reachesItsFloors: Bool { seen.count >= states && missed.isEmpty }

  /// What a run says that does not reach them.
  var floors: String { "The run does not reach its floors: \(missed.joined(separator: ", "))." }

  var summary: String {
    let names = ["opened"] + File.figures + ["fallBacks", "depth2", "failedSyncs", "cleanCloses"]
    return "crash \(File.name) encrypted=\(isEncrypted) states=\(seen.count) "
      + names.map { "\($0)=\(counts[$0]) " }.joined() + "lost=0 wrong=0 hung=0 seed=\(seed)"
  }

  mutating func explore(watchedBy alarm: Alarm) throws(Violation) {
    var chainSeed = seed
    while seen.count < states {
      alarm.begin("\(File.name) seed=\(chainSeed) encrypted=\(isEncrypted)")
      defer { alarm.end() }
      do {
        try runChain(seed: chainSeed)
      } catch let fault as SyncedFault {
        throw Violation(seed: chainSeed, what: "\(File.name): \(fault.what)")
      } catch {
        throw Violation(seed: chainSeed, what: "\(File.name): a healthy file refuses: \(error)")
      }
      chainSeed += 1
    }
  }

  private mutating func runChain(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let file = try File(isEncrypted: isEncrypted, seed: generator.next(), counts: counts)
    var disk = try file.made()
    var diedInRecovery = false
    for _ in 0..<12 {
      let dies = generator.chance(75)
      disk.follow(
        .init(
          dieAt: dies ? generator.below(generator.chance(30) ? 4 : 80) : nil,
          pagesWritten: generator.below(8),
          failSync: generator.chance(15) ? generator.below(8) : nil, diesInFailedSync: generator.chance(50)))
      note(disk, diedInRecovery)
      let events = disk.events.count
      let life = try file.live(on: disk)
      diedInRecovery = disk.isDead && !life.opened && disk.events.count > events
      if life.syncFailed { counts.add("failedSyncs") }
      if life.closedCleanly { counts.add("cleanCloses") }
      let loses = !life.closedCleanly && generator.chance(60) || generator.chance(10)
      if loses {
        // Several outcomes of the same power loss; the last one lives on.
        for _ in 0..<generator.below(4) {
          let other = disk.afterPowerLoss(&generator)
          note(other, diedInRecovery)
          try file.look(at: other)
        }
        disk = disk.afterPowerLoss(&generator)
      } else {
        disk = disk.afterKill(&generator)
      }
      if loses || life.syncFailed { file.losePower() }
    }
    disk.follow(.init())
    try file.end(on: disk)
  }

  private mutating func note(_ disk: SimulatedDisk, _ diedInRecovery: Bool) {
    seen.insert(disk.fingerprint)
    counts.add("opened")
    if diedInRecovery { counts.add("depth2") }
  }
}
