import RealmStorage
import TestSupport

/// A whole life of a database in a file, again and again, with a fault at the first call, the second, and so on until
/// the life ends without meeting it.
struct InputOutput {
  let sample: Sample

  func run(_ part: Part) throws {
    for fault in Fault.list(isQuick: part.isQuick) {
      var first = 0
      var isMet = true
      while isMet {
        let calls = FaultyCalls(fault, at: first)
        try part.state("\(fault) call \(first)") {
          try withFile(sample.bytes[...]) { path in
            var life = Life(path: path, sample: sample, fault: fault, calls: calls)
            try life.run()
          }
        }
        isMet = calls.hasMet
        first += 1
      }
    }
  }
}

/// Open, six transactions, close, open again, all with faults; then open without.
private struct Life {
  private let path: String
  private let key: [UInt8]?
  private let fault: Fault
  private let calls: FaultyCalls
  /// By fingerprint, in the order they were made, all contents that may be found.
  private var order: [UInt64: Int] = [:]
  private var made = 0
  /// Place in the order of the last content acknowledged to survive anything.
  private var full = 0
  /// What was acknowledged last.
  private var content: Content

  init(path: String, sample: Sample, fault: Fault, calls: FaultyCalls) {
    self.path = path
    self.fault = fault
    self.calls = calls
    key = sample.key
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
    guard let database = try open(calls) else { return }
    let snapshot = try database.snapshot()
    let fingerprint = try expectAcknowledged(snapshot)
    var isPoisoned = false
    for round in 0..<Change.rounds {
      do {
        try commit(round, to: database)
        guard !isPoisoned else { throw Violation("a handle commits after a sync failed") }
      } catch let error as StorageError {
        try expectFault(error)
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
    let changes = Change.list(round)
    var next = content
    for change in changes { change.apply(to: &next) }
    made += 1
    let index = made
    order[next.fingerprint] = index
    let durability: Durability = Change.isRelaxed(round) ? .relaxed : .full
    try database.write(durability) { transaction in
      for change in changes { try change.apply(to: transaction) }
    }
    content = next
    if durability == .full { full = index }
  }

  private func readWithFaults() throws {
    guard let database = try open(calls) else { return }
    try expectAcknowledged(database.snapshot())
    database.close()
  }

  /// Without faults all is as it should be, and the database can be written again.
  private func recover() throws {
    let database = try openFile(FaultyCalls())
    let fingerprint = try expectAcknowledged(database.snapshot())
    if fault.isHarmless || !calls.hasMet, order[fingerprint] != made {
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
    try Database(
      storage: FileStorage(path: path, readOnly: false, calls: calls), options: Sample.options(key))
  }

  /// Nil when a fault keeps the file from being opened.
  private func open(_ calls: FaultyCalls) throws -> Database? {
    do throws(StorageError) {
      return try openFile(calls)
    } catch {
      try expectFault(error)
      return nil
    }
  }

  /// What is found was committed, and is no older than what was acknowledged to survive anything.
  @discardableResult
  private func expectAcknowledged(_ snapshot: Snapshot) throws -> UInt64 {
    let fingerprint = try Content.fingerprint(of: snapshot)
    guard let index = order[fingerprint] else { throw Violation("wrong: content that nobody committed") }
    guard index >= full else { throw Violation("lost: content \(index) is found, \(full) was acknowledged") }
    if let finding = IntegrityCheck.run(snapshot).findings.first { throw Violation("wrong: \(finding)") }
    return fingerprint
  }

  private func expect(_ snapshot: Snapshot, stillHas fingerprint: UInt64) throws {
    guard try Content.fingerprint(of: snapshot) == fingerprint else {
      throw Violation("wrong: a snapshot changed")
    }
  }

  private func expectFault(_ error: StorageError) throws {
    guard calls.hasMet else { throw Violation("no call was refused, but \(error)") }
    guard !fault.isHarmless else { throw Violation("the engine does not make up for it: \(error)") }
  }

  private func refusesToWrite(_ database: Database) -> Bool {
    do throws(StorageError) {
      try database.beginWrite().cancel()
      return false
    } catch {
      if case .poisoned = error { return true }
      return false
    }
  }
}

/// A key of a tree that gets another value, or none.
private struct Change {
  let tree: String
  let key: [UInt8]
  let value: [UInt8]?

  static let rounds = 6

  static func isRelaxed(_ round: Int) -> Bool { round % 3 == 1 }

  /// What each transaction does. The stamp makes each content its own.
  static func list(_ round: Int) -> [Change] {
    var changes = [Change(tree: "stamp", key: [0], value: [UInt8(round)])]
    for index in 0..<10 {
      let key = Array("key \(round * 17 + index * 3)".utf8)
      let value = [UInt8](repeating: UInt8(index), count: 20)
      changes.append(Change(tree: "a", key: key, value: index % 4 == 3 ? nil : value))
    }
    let large = Array("large".utf8)
    switch round {
    // Its nodes are synced before its meta page.
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
