import Foundation
import RealmStorage
import RealmTestSupport

/// Threads of one process that commit on the same handle, each for its own slot.
struct Writers {
  let path: String
  let isEncrypted: Bool
  let commits: Int
  let isRecycling: Bool

  func run(slots: [Int], seed: UInt64) throws {
    let opening = Alarm()
    opening.start(patience: Run.patience)
    opening.begin("process \(getpid()), opening")
    let database = try Database(path: path, options: options(isEncrypted: isEncrypted))
    opening.end()
    WorkerCommand.say("open")
    let done = DispatchGroup()
    for slot in slots {
      done.enter()
      let thread = Thread {
        do {
          var writer = try SlotWriter(self, slot: slot, seed: seed &+ UInt64(slot) &* 977)
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
private struct SlotWriter {
  private let slot: Int
  private let limit: Int
  private let isRecycling: Bool
  private let journal: Journal
  private let alarm = Alarm()
  private var generator: SeededGenerator
  private var held = HeldSnapshots()
  /// The number of commits of this slot by all processes.
  private var count = 0
  private var label: String { "process \(getpid()), slot \(slot), commit \(count)" }

  init(_ writers: Writers, slot: Int, seed: UInt64) throws {
    self.slot = slot
    limit = writers.commits
    isRecycling = writers.isRecycling
    generator = SeededGenerator(seed: seed)
    journal = try Journal(path: Scene.journalPath(slot, beside: writers.path))
    alarm.start(patience: Run.patience)
  }

  mutating func run(_ database: Database) throws {
    alarm.begin(label)
    try settle(database)
    while !Leash.isStopped, limit == 0 || count < limit {
      alarm.begin(label)
      switch isRecycling ? 0 : generator.below(100) {
      case 0..<65: try commit(database)
      case 65..<75: _ = try Ledger.verify(database.snapshot())
      case 75..<80: try changeName(in: database)
      case 80..<90: try Ledger.glance(database.snapshot(), &generator)
      case 90..<97: if held.count < 3 { try held.add(database.snapshot()) }
      default: try held.releaseOldest()
      }
    }
    try held.verify()
    held.releaseAll()
    alarm.end()
  }

  /// Finds out whether the last commit of the slot's earlier process succeeded.
  private mutating func settle(_ database: Database) throws {
    let known = try journal.catchUp()
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try Ledger.prepare(transaction)
    count = try Ledger.count(of: slot, in: transaction)
    guard (known.acknowledged...known.begun).contains(count) else {
      throw Violation(
        "slot \(slot) has \(count) commits; \(known.acknowledged) were acknowledged and \(known.begun) begun")
    }
    try transaction.commit(.relaxed)
    try journal.append(.settled, count)
  }

  /// Moves, reads and drops the name of the slot.
  private mutating func changeName(in database: Database) throws {
    let name = "slot \(slot)"
    if generator.chance(60) { try database.keepVersion(named: name) }
    // No other process drops this name.
    if let snapshot = try database.snapshot(named: name) { _ = try Ledger.verify(snapshot) }
    if generator.chance(20) {
      try database.dropVersion(named: name, durability: generator.chance(50) ? .full : .relaxed)
    }
  }

  private mutating func commit(_ database: Database) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    guard try Ledger.count(of: slot, in: transaction) == count else {
      throw Violation("a transaction begins on a version without commit \(count) of slot \(slot)")
    }
    let size: Ledger.Size = generator.chance(isRecycling ? 1 : 3) ? .large : .small
    try Ledger.write(transaction, slot: slot, number: count + 1, size: size, &generator)
    if generator.chance(5) { return }
    try journal.append(.begun, count + 1)
    let version = try transaction.commit(generator.chance(isRecycling ? 5 : 50) ? .full : .relaxed)
    try journal.append(.acknowledged, count + 1)
    count += 1
    guard try database.snapshot().version >= version else {
      throw Violation("version \(version) returned, and is not published")
    }
  }
}
