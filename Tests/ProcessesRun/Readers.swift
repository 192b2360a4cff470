import Foundation
import RealmStorage
import RealmTestSupport

/// Two threads of one process that take snapshots, check them and give them up, as fast as they can.
struct Readers {
  let path: String
  let isEncrypted: Bool

  func run(seed: UInt64) throws {
    let database = try Database(path: path, options: options(isEncrypted: isEncrypted))
    WorkerCommand.say("open")
    let done = DispatchGroup()
    for number in 0..<2 {
      done.enter()
      let thread = Thread {
        do {
          WorkerCommand.say("\(try Self.read(database, SeededGenerator(seed: seed &* 2 &+ UInt64(number))))")
        } catch {
          WorkerCommand.fail("reader \(getpid()): \((error as? Violation)?.what ?? "\(error)")")
        }
        done.leave()
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    done.wait()
  }

  /// Reads until the process is stopped. Returns the number of snapshots that it took.
  private static func read(_ database: Database, _ generator: SeededGenerator) throws -> Int {
    let alarm = Alarm()
    alarm.start(patience: Run.patience)
    var generator = generator
    var held = HeldSnapshots()
    var (taken, newest) = (0, UInt64(0))
    while !Leash.isStopped {
      alarm.begin("reader \(getpid()), snapshot \(taken)")
      let snapshot = try database.snapshot()
      taken += 1
      guard snapshot.version >= newest else {
        throw Violation("version \(snapshot.version) is published after \(newest)")
      }
      newest = snapshot.version
      switch generator.below(100) {
      case 0..<60: try Ledger.glance(snapshot, &generator)
      case 60..<70: _ = try Ledger.verify(snapshot)
      case 70..<75: if held.count < 4 { try held.add(snapshot) }
      case 75..<79: try held.releaseOldest()
      default: break
      }
    }
    try held.verify()
    return taken
  }
}
