import Foundation
import RealmStorage
import RealmSyncSupport
import RealmTestSupport

/// Threads of one process that commit to a synced file on the same handle, each for its own slot.
struct SyncedWriters {
  let path: String
  let isEncrypted: Bool

  /// The number of objects that all threads change. Their primary keys are less than this.
  static let keys = 6

  func run(slots: [Int], seed: UInt64) throws {
    let opening = Alarm()
    opening.start(patience: Run.patience)
    opening.begin("process \(getpid()), opening")
    let database = try Database(path: path, options: syncedOptions(isEncrypted: isEncrypted))
    opening.end()
    let done = DispatchGroup()
    for slot in slots {
      done.enter()
      let thread = Thread {
        do {
          var writer = try SyncedWriter(path: path, slot: slot, seed: seed &+ UInt64(slot) &* 977)
          try writer.run(database)
        } catch {
          WorkerCommand.fail("slot \(slot): \((error as? Violation)?.what ?? "\(error)")")
        }
        done.leave()
      }
      // The thread needs a large stack, because trees are walked by recursion.
      thread.stackSize = 4 << 20
      thread.start()
    }
    done.wait()
    database.close()
  }
}

/// One of the threads.
private struct SyncedWriter {
  private let slot: Int
  private let journal: Journal
  private let alarm = Alarm()
  private var generator: SeededGenerator
  private var held: (snapshot: Snapshot, objects: [Int64: String])?
  /// The number of commits of this slot by all processes.
  private var count = 0

  init(path: String, slot: Int, seed: UInt64) throws {
    self.slot = slot
    generator = SeededGenerator(seed: seed)
    journal = try Journal(path: Scene.journalPath(slot, beside: path))
    alarm.start(patience: Run.patience)
  }

  mutating func run(_ database: Database) throws {
    alarm.begin("process \(getpid()), slot \(slot), the beginning")
    try settle(database)
    while !Leash.isStopped {
      alarm.begin("process \(getpid()), slot \(slot), commit \(count)")
      switch generator.below(100) {
      case 0..<80: try commit(database)
      case 80..<90: _ = try CommitNotes.verify(database.snapshot(), slots: slot..<slot + 1)
      default: try hold(database)
      }
    }
    try look()
    held = nil
    alarm.end()
  }

  /// Finds out whether the last commit of the slot's earlier process succeeded.
  private mutating func settle(_ database: Database) throws {
    let known = try journal.catchUp()
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    count = try CommitNotes.count(of: slot, in: transaction)
    guard (known.acknowledged...known.begun).contains(count) else {
      throw Violation(
        "slot \(slot) has \(count) commits; \(known.acknowledged) were acknowledged and \(known.begun) begun")
    }
    try journal.append(.settled, count)
  }

  /// Takes a snapshot, which must stay as it is, whatever others commit and steps change, and checks the snapshot held
  /// before.
  private mutating func hold(_ database: Database) throws {
    try look()
    let snapshot = try database.snapshot()
    held = (snapshot, try ModelClass.texts(ofFile: snapshot))
  }

  private func look() throws {
    guard let held, try ModelClass.texts(ofFile: held.snapshot) != held.objects else { return }
    throw Violation("the snapshot of version \(held.snapshot.version) changed")
  }

  private mutating func commit(_ database: Database) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    guard try CommitNotes.count(of: slot, in: transaction) == count else {
      throw Violation("a transaction begins on a version without commit \(count) of slot \(slot)")
    }
    try ModelClass.change(
      transaction, keys: SyncedWriters.keys, changes: 1 + generator.below(4), &generator)
    try CommitNotes.write(transaction, slot: slot, number: count + 1)
    if generator.chance(1) { try CommitNotes.writeLong(transaction, slot: slot, number: count + 1) }
    if generator.chance(5) { return }
    try journal.append(.begun, count + 1)
    try transaction.commit(generator.chance(50) ? .full : .relaxed)
    try journal.append(.acknowledged, count + 1)
    count += 1
    // The pause is longer if more changesets are pending, because the server has to keep pace. What the server knows of
    // a list grows with each change until it is trimmed, and so does the time that the next change takes.
    let snapshot = try database.snapshot()
    let pending = try snapshot.changelog()?.count(snapshot) ?? 0
    usleep(UInt32(generator.below(6000 + 40 * pending)))
  }
}
