import Foundation
import RealmStorage
import RealmTestSupport

/// The whole life of a database in a file, and the making of one, are repeated with a fault at the first call, at the
/// second call, and so on, until a run ends without meeting the fault.
struct InputOutput {
  let sample: Sample

  func run(_ part: Part) throws {
    for fault in Fault.list(isQuick: part.isQuick) {
      try forEachCall(of: "making", fault, part) { calls in
        try withTemporaryPath { try Making(path: $0, key: sample.key, fault: fault, calls: calls).run() }
      }
      try forEachCall(of: "filling", fault, part) { calls in
        try withFile([]) { try Making(path: $0, key: sample.key, fault: fault, calls: calls).run() }
      }
      try forEachCall(of: "life", fault, part) { calls in
        try withFile(sample.bytes[...]) { path in
          var life = Life(path: path, sample: sample, fault: fault, calls: calls)
          try life.run()
        }
      }
    }
  }

  private func forEachCall(
    of name: String, _ fault: Fault, _ part: Part, _ body: (FaultyCalls) throws -> Void
  ) throws {
    var first = 0
    var isMet = true
    while isMet {
      let calls = FaultyCalls(fault, at: first)
      try part.state("\(name): \(fault) call \(first)") { try body(calls) }
      isMet = calls.hasMet
      // After the first part of a life its calls are much alike, so a quick run skips some of them.
      first += part.isQuick && first > 60 ? 3 : 1
    }
  }
}

/// The outcomes that a fault may have.
private struct Expectation {
  let fault: Fault
  let calls: FaultyCalls

  /// The result of `body`; nil if it throws a typed error because of the fault.
  func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as StorageError {
      try expectFault(error)
      return nil
    }
  }

  func expectFault(_ error: StorageError) throws {
    guard calls.hasMet else { throw Violation("no call was refused, but \(error)") }
    guard !fault.isHarmless else { throw Violation("the engine does not make up for it: \(error)") }
  }

  /// - Throws: `Violation` if the integrity check finds damage although no call met a fault during the check.
  func check(_ snapshot: Snapshot) throws {
    let faults = calls.faults
    let findings = IntegrityCheck.run(snapshot).findings
    guard calls.faults == faults || fault.isHarmless else { return }
    if let finding = findings.first { throw Violation("wrong: \(finding)") }
  }
}

/// The making of a database file where there is no file or an empty file. The database must appear completely or not at
/// all.
private struct Making {
  let path: String
  let key: [UInt8]?
  let fault: Fault
  let calls: FaultyCalls

  func run() throws {
    let expectation = Expectation(fault: fault, calls: calls)
    let made = try expectation.attempt {
      try Database(path: path, options: Sample.options(key), calls: calls)
    }
    made?.close()
    let folder = (path as NSString).deletingLastPathComponent
    let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".new-") }
    guard left.isEmpty else { throw Violation("wrong: \(left) is left behind") }
    let database = try Database(path: path, options: Sample.options(key), calls: FaultyCalls())
    guard try Content.fingerprint(of: database.snapshot()) == Content().fingerprint else {
      throw Violation("wrong: a new file has content")
    }
    try database.write { try $0.tree("stamp").set([1], for: [1]) }
    try expectation.check(database.snapshot())
    database.close()
  }
}

/// A life that opens the file, makes six transactions, closes the file and opens it again, all with faults, and then
/// opens it without faults.
private struct Life {
  private let path: String
  private let options: Database.Options
  private let fault: Fault
  private let calls: FaultyCalls
  private let expectation: Expectation
  private var generator = SeededGenerator(seed: 1)
  /// The number of each content that may be found, by its fingerprint. The numbers are in the order in which the
  /// contents were made.
  private var order: [UInt64: Int] = [:]
  private var made = 0
  /// The number of the last content that was acknowledged to survive a loss of power.
  private var full = 0
  /// The content that was acknowledged last.
  private var content: Content

  init(path: String, sample: Sample, fault: Fault, calls: FaultyCalls) {
    self.path = path
    self.fault = fault
    self.calls = calls
    expectation = Expectation(fault: fault, calls: calls)
    var options = Sample.options(sample.key)
    // With these options nodes are moved, and large transactions write before they commit.
    options.compaction = .eager
    options.spillBytes = 1 << 15
    self.options = options
    content = sample.content
    for older in sample.named { order[older] = -1 }
    order[sample.newest] = 0
  }

  mutating func run() throws {
    try writeWithFaults()
    try readWithFaults()
    try recover()
  }

  private mutating func writeWithFaults() throws {
    guard let database = try expectation.attempt({ try openFile(calls) }) else { return }
    let snapshot = try expectation.attempt { try database.snapshot() }
    let fingerprint = try snapshot.flatMap { try expectAcknowledged($0) }
    var isPoisoned = false
    for round in 0..<Change.rounds {
      do {
        try commit(round, to: database)
        guard !isPoisoned else { throw Violation("a handle commits after a sync failed") }
      } catch let error as StorageError {
        try expectation.expectFault(error)
        if case .system(call: .sync, _, _, _) = error { isPoisoned = true }
        guard !isPoisoned || refusesToWrite(database) else {
          throw Violation("a sync failed, and the handle goes on")
        }
        try expect(snapshot, stillHas: fingerprint)
      }
    }
    database.close()
    try expect(snapshot, stillHas: fingerprint)
  }

  private mutating func commit(_ round: Int, to database: Database) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var next = content
    for change in Change.list(round) {
      change.apply(to: &next)
      try change.apply(to: transaction)
    }
    try changeTable(transaction, &next)
    made += 1
    order[next.fingerprint] = made
    let durability: Durability = Change.isRelaxed(round) ? .relaxed : .full
    let index = made
    try transaction.commit(durability)
    content = next
    if durability == .full { full = index }
  }

  private mutating func changeTable(_ transaction: WriteTransaction, _ next: inout Content) throws {
    guard let table = try transaction.table(TableModel.name), var things = next.things else { return }
    for _ in 0..<8 {
      let faults = calls.faults
      guard let wrong = try things.change(table, &generator) else { continue }
      // A change sometimes expects a refusal, and here the call was refused because of the fault instead.
      guard calls.faults > faults else { throw Violation(wrong) }
      throw StorageError.system(call: .read, errno: EIO, path: path, offset: nil)
    }
    next.things = things
    try Workload.changeLinked(transaction, &next, &generator)
  }

  private func readWithFaults() throws {
    guard let database = try expectation.attempt({ try openFile(calls) }) else { return }
    if let snapshot = try expectation.attempt({ try database.snapshot() }) {
      try expectAcknowledged(snapshot)
    }
    database.close()
  }

  /// Checks that without faults the content is right and the database can be written again.
  private func recover() throws {
    let database = try openFile(FaultyCalls())
    let fingerprint = try expectAcknowledged(database.snapshot())
    if fault.isHarmless || !calls.hasMet, fingerprint.flatMap({ order[$0] }) != made {
      throw Violation("lost: nothing went wrong, but the newest content is not there")
    }
    try database.write { try $0.tree("stamp").set([1], for: [1]) }
    guard try database.snapshot().tree("stamp").value(for: [1]) == [1] else {
      throw Violation("wrong: what was written after recovery is not there")
    }
    database.close()
  }

  // MARK: - Expectations

  private func openFile(_ calls: FaultyCalls) throws(StorageError) -> Database {
    try Database(path: path, options: options, calls: calls)
  }

  /// Checks that the content was committed and is not older than the last one that was acknowledged to survive a loss
  /// of power. Returns its fingerprint, or nil if a fault prevents reading it.
  @discardableResult
  private func expectAcknowledged(_ snapshot: Snapshot) throws -> UInt64? {
    let found = try expectation.attempt { try Content.fingerprint(of: snapshot) }
    try expectation.check(snapshot)
    guard let found else { return nil }
    guard let index = order[found] else { throw Violation("wrong: content that nobody committed") }
    guard index >= full else { throw Violation("lost: content \(index) is found, \(full) was acknowledged") }
    return found
  }

  private func expect(_ snapshot: Snapshot?, stillHas fingerprint: UInt64?) throws {
    guard let snapshot, let fingerprint else { return }
    guard let found = try expectation.attempt({ try Content.fingerprint(of: snapshot) }) else { return }
    guard found == fingerprint else { throw Violation("wrong: a snapshot changed") }
  }

  private func refusesToWrite(_ database: Database) -> Bool {
    do throws(StorageError) {
      try database.beginWrite().cancel()
      return false
    } catch {
      if case .poisoned = error { return true }
      return fault.isForEver
    }
  }
}

/// A change that sets or removes the value of a key in a tree.
private struct Change {
  let tree: String
  let key: [UInt8]
  let value: [UInt8]?

  static let rounds = 6

  static func isRelaxed(_ round: Int) -> Bool { round % 3 == 1 }

  /// The changes of a transaction. The stamp makes each content unique.
  static func list(_ round: Int) -> [Change] {
    var changes = [Change(tree: "stamp", key: [0], value: [UInt8(round)])]
    for index in 0..<10 {
      let key = Array("key \(round * 17 + index * 3)".utf8)
      let value = [UInt8](repeating: UInt8(index), count: 20)
      changes.append(Change(tree: "a", key: key, value: index % 4 == 3 ? nil : value))
    }
    let large = Array("large".utf8)
    switch round {
    // The nodes of this transaction are synced before its meta page.
    case 2: changes.append(Change(tree: "c", key: large, value: [UInt8](repeating: 7, count: 1_200_000)))
    case 3: changes.append(Change(tree: "c", key: large, value: nil))
    case 4: changes.append(Change(tree: "c", key: large, value: [UInt8](repeating: 8, count: 70_000)))
    default: break
    }
    return changes
  }

  func apply(to content: inout Content) { content.trees[tree, default: [:]][key] = value }

  func apply(to transaction: WriteTransaction) throws(StorageError) {
    let tree = try transaction.tree(tree)
    if let value {
      try tree.set(value, for: key)
    } else {
      try tree.removeValue(for: key)
    }
  }
}
