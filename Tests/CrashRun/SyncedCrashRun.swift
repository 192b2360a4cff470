import RealmTestSupport

/// A rule that a synced file or a server's file broke. The run adds the seed.
typealias SyncedFault = RealmTestSupport.Violation

/// How often things happened in a run, by their names.
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

/// A file of device sync on a disk, with the other sides that it talks to, and what is known of the file.
protocol CrashedFile: AnyObject {
  /// The name of the file in the lines that a run prints.
  static var name: String { get }
  /// The names of the counts that a run prints beside the number of states.
  static var figures: [String] { get }
  /// The least percentage of the states for each of some counts. A run that does not reach it has failed.
  static var floors: [(name: String, percent: Int)] { get }

  init(isEncrypted: Bool, seed: UInt64, counts: CrashCounts) throws

  /// The disk with a new file that was closed cleanly.
  func made() throws -> SimulatedDisk
  /// Opens the file on a disk, checks it, works with it until the disk dies or the life is long enough, and leaves it.
  func live(on disk: SimulatedDisk) throws -> CrashedLife
  /// Checks another outcome of the loss of power that `losePower()` notes afterwards.
  func look(at disk: SimulatedDisk) throws
  /// Notes that power was lost or a sync has failed, so that relaxed commits may be lost.
  func losePower()
  /// Goes on without faults, and checks that all sides have the same objects in the end.
  func end(on disk: SimulatedDisk) throws
}

/// Chains of lives of files of device sync. Each life opens what the life before it left, compares it with what was
/// committed and with what the other sides were told, goes on, and ends with a kill, a loss of power, a failed sync or
/// a clean close.
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

  /// The message of a run that does not reach its floors.
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
        // The same loss of power has several outcomes. The next life goes on from the last of them.
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
