import RealmStorage
import RealmTestSupport
import Testing

@Suite struct DatabaseTests {
  @Test(arguments: [nil, Keys.first])
  func `the content that a transaction wrote is there after the file is opened again`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      do {
        let database = try Database(path: path, options: .init(encryptionKey: key))
        try database.write { transaction in
          let tree = try transaction.tree("a")
          for number in 0..<1000 {
            try tree.set(Array("value \(number)".utf8), for: Array("key \(number)".utf8))
          }
        }
      }
      let database = try Database(path: path, options: .init(encryptionKey: key))
      let snapshot = try database.snapshot()
      #expect(try snapshot.tree("a").count() == 1000)
      #expect(try snapshot.tree("a").value(for: Array("key 77".utf8)) == Array("value 77".utf8))
      #expect(try snapshot.tree("a").value(for: Array("key".utf8)) == nil)
      #expect(IntegrityCheck.run(snapshot).findings == [])
    }
  }

  @Test(arguments: Slow.seeds(2, slow: 8), [nil, Keys.first])
  func `random transactions agree with a dictionary`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    var database = try Database(creatingIn: disk, options: .init(encryptionKey: key))
    var content = Content()
    var pinned: [(snapshot: Snapshot, fingerprint: UInt64)] = []
    for _ in 0..<60 {
      var next = content
      do {
        let transaction = try database.beginWrite()
        try Workload.change(transaction, &next, &generator)
        if generator.chance(10) {
          transaction.cancel()
        } else {
          try transaction.commit(generator.chance(50) ? .full : .relaxed)
          content = next
        }
      }
      if generator.chance(10) { try pinned.append((database.snapshot(), content.fingerprint)) }
      if generator.chance(10), !pinned.isEmpty { pinned.remove(at: generator.below(pinned.count)) }
      for pin in pinned { #expect(try Content.fingerprint(of: pin.snapshot) == pin.fingerprint) }
      #expect(try Content.fingerprint(of: database.snapshot()) == content.fingerprint)
      if generator.chance(5) {
        pinned = []
        database.close()
        database = try Database(storage: disk, options: .init(encryptionKey: key))
      }
    }
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings == [])
    #expect(report.entries == content.entries)
  }

  @Test func `a transaction that throws changes nothing`() throws {
    struct Refused: Error {}
    let database = try Database(inMemory: "test")
    let before = database.version
    #expect(throws: Refused.self) {
      try database.write { transaction in
        try transaction.tree("a").set([1], for: [1])
        throw Refused()
      }
    }
    #expect(database.version == before)
    #expect(try database.snapshot().tree("a").count() == 0)
  }

  @Test func `a transaction without changes makes no version`() throws {
    let database = try Database(inMemory: "test")
    let before = database.version
    try database.write { _ = try $0.tree("a").value(for: [1]) }
    #expect(database.version == before)
  }

  @Test
  func `a wrong key, a missing key and a needless key are different errors and leave the file as it is`()
    throws
  {
    try withTemporaryPath { path in
      do { _ = try Database(path: path, options: .init(encryptionKey: Keys.first)) }
      #expect(throws: StorageError.wrongKey(path: path)) {
        try Database(path: path, options: .init(encryptionKey: Keys.second))
      }
      #expect(throws: StorageError.keyMissing(path: path)) { try Database(path: path) }
      #expect(throws: StorageError.invalidKeyLength(3)) {
        try Database(path: path, options: .init(encryptionKey: [1, 2, 3]))
      }
    }
    try withTemporaryPath { path in
      do { _ = try Database(path: path) }
      #expect(throws: StorageError.keyForPlainFile(path: path)) {
        try Database(path: path, options: .init(encryptionKey: Keys.first))
      }
    }
  }

  @Test func `a failed sync poisons the handle and a new one opens the last durable version`() throws {
    var generator = SeededGenerator(seed: 1)
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk)
    try database.write { try $0.tree("a").set([1], for: [1]) }
    let durable = database.version
    disk.follow(.init(failSync: 3))
    while database.version < durable + 10 {
      guard (try? database.write { try $0.tree("a").set([2], for: [2, UInt8.random(in: 0...255)]) }) != nil
      else { break }
    }
    let last = database.version
    #expect(throws: StorageError.poisoned(path: disk.path)) { try database.beginWrite() }
    #expect(try database.snapshot().tree("a").value(for: [1]) == [1])
    database.close()
    let reopened = try Database(storage: disk.afterKill(&generator), options: .init())
    #expect(reopened.version == last)
    try reopened.write { try $0.tree("a").set([3], for: [3]) }
    #expect(reopened.version > last + 1)
  }

  @Test(arguments: [nil, Keys.first])
  func `a file opens without a sync only if a sync since the last boot made its newest version durable`(
    key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: 1)
    var disk = SimulatedDisk()
    let options = Database.Options(encryptionKey: key)
    var database = try Database(creatingIn: disk, options: options)
    func syncs() -> Int { disk.events.count { $0 == .syncStarted } }
    func reopen(_ next: SimulatedDisk) throws {
      disk = next
      database = try Database(storage: disk, options: options)
    }

    try database.write { try $0.tree("a").set([1], for: [1]) }
    try reopen(disk.afterKill(&generator))
    #expect(syncs() == 0, "killed after a durable commit")
    try database.write { try $0.tree("a").set([2], for: [2]) }
    database.close()
    try reopen(disk.afterKill(&generator))
    #expect(syncs() == 0, "closed")
    try database.write(.relaxed) { try $0.tree("a").set([3], for: [3]) }
    try reopen(disk.afterKill(&generator))
    #expect(syncs() == 1, "killed after a relaxed commit")
    try reopen(disk.afterKill(&generator))
    #expect(syncs() == 0, "killed after it was recovered")
    try reopen(disk.afterPowerLoss(&generator))
    #expect(syncs() == 1, "another boot")
    #expect(try database.snapshot().tree("a").count() == 3)
  }

  @Test func `space that no version reaches is used again`() throws {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk)
    for round in 0..<300 { try database.write { try $0.tree("a").set([UInt8(round % 256)], for: [1]) } }
    #expect(try disk.length() < 30 * 4096)
  }
}
