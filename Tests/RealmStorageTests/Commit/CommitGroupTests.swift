import Synchronization
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct CommitGroupTests {
  @Test(arguments: [nil, Keys.first])
  func `transactions that are sealed one after another become one version, and each returns its number`(
    key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: key))
      var sealed: [SealedTransaction] = []
      for number in UInt8(0)..<5 {
        let transaction = try database.beginWrite()
        try transaction.tree("a").set([number], for: [number])
        // The changes of the transactions before are visible, and this transaction changes the same entry again.
        try transaction.tree("a").set([number], for: [0xff])
        #expect(try transaction.tree("a").count() == UInt64(number) + 2)
        sealed.append(try transaction.seal(number == 2 ? .full : .relaxed))
      }
      let before = database.version
      let metaBytes = database.writeStatistics.metaBytes
      #expect(try database.snapshot().tree("a").count() == 0)
      let numbers = try [3, 0, 4, 1, 2].map { try sealed[$0].wait() }
      #expect(Set(numbers).count == 1 && numbers[0] > before && numbers[0] == database.version)
      #expect(database.writeStatistics.metaBytes - metaBytes == FilePlace.page)
      #expect(database.writeStatistics.commits == 5)
      let snapshot = try database.snapshot()
      #expect(try snapshot.tree("a").count() == 6)
      #expect(try snapshot.tree("a").value(for: [0xff]) == [4])
      #expect(IntegrityCheck.run(snapshot).findings == [])
    }
  }

  @Test(arguments: Slow.seeds(3, slow: 12), [nil, Keys.first])
  func `transactions that are sealed, cancelled and awaited in any order agree with a model`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 20)
    options.compaction = .eager
    options.clusterRows = 8
    options.spillBytes = 1 << 16
    var disk = SimulatedDisk()
    var database = try Database(creatingIn: disk, options: options)
    // The contents, in the order of the transactions. The published version is one of those from `told` on.
    var contents = [Content()]
    var told = 0
    var sealed: [(transaction: SealedTransaction, index: Int)] = []
    func check() throws {
      let snapshot = try database.snapshot()
      let found = try Content.fingerprint(of: snapshot)
      #expect(contents[told...].contains { $0.fingerprint == found }, "seed \(seed)")
      #expect(IntegrityCheck.run(snapshot).findings == [], "seed \(seed)")
    }
    for round in 0..<Slow.count(120, slow: 200) {
      var next = contents[contents.count - 1]
      let transaction = try database.beginWrite()
      if generator.chance(95) { try Workload.change(transaction, &next, &generator) }
      if generator.chance(10) {
        transaction.cancel()
      } else {
        contents.append(next)
        sealed.append((try transaction.seal(generator.chance(50) ? .full : .relaxed), contents.count - 1))
      }
      while !sealed.isEmpty, generator.chance(45) {
        let (transaction, index) = sealed.remove(at: generator.below(sealed.count))
        try transaction.wait()
        told = max(told, index)
      }
      if round % 10 == 0 { try check() }
      if generator.chance(3) {
        for (transaction, _) in sealed { try transaction.wait() }
        sealed = []
        told = contents.count - 1
        database.close()
        disk = disk.afterKill(&generator)
        database = try Database(storage: disk, options: options)
        try check()
      }
    }
  }

  /// Another thread's transaction may wait for the thread whose commit is returning, so waiting would be a deadlock.
  @Test func `a commit does not wait for the transaction that builds on it`() throws {
    let database = try Database(inMemory: "test")
    let first = try database.beginWrite()
    try first.tree("a").set([1], for: [1])
    let sealed = try first.seal()
    let second = try database.beginWrite()
    try second.tree("a").set([2], for: [1])
    try sealed.wait()
    #expect(try database.snapshot().tree("a").value(for: [1]) == [1])
    try second.tree("a").set([3], for: [2])
    #expect(try second.tree("a").value(for: [1]) == [2])
    try second.commit()
    let snapshot = try database.snapshot()
    #expect(try snapshot.tree("a").value(for: [1]) == [2])
    #expect(try snapshot.tree("a").value(for: [2]) == [3])
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  @Test func `a transaction without changes waits for the transaction whose changes it has seen`() throws {
    let database = try Database(inMemory: "test")
    let first = try database.beginWrite()
    try first.tree("a").set([1], for: [1])
    let sealed = try first.seal()
    let number = try database.beginWrite().commit()
    #expect(number == database.version)
    #expect(try sealed.wait() == number)
    #expect(try database.snapshot().tree("a").value(for: [1]) == [1])
  }

  /// The length of a file that has room for its meta pages only.
  private static let metaPages = 2 * FilePlace.page

  @Test(arguments: [nil, Keys.first])
  func `a sealed transaction that can't be written fails with the transaction that builds on it`(
    key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      let options = Database.Options(encryptionKey: key)
      _ = try Database(path: path, options: options)
      let calls = SmallDisk()
      let database = try Database(
        storage: FileStorage(path: path, readOnly: false, calls: calls), options: options)
      try database.write { try $0.tree("a").set([0], for: [0]) }
      let transactions = try (UInt8(1)...3).map { number in
        let transaction = try database.beginWrite()
        try transaction.tree("a").set([number], for: [number])
        return try transaction.seal(.relaxed)
      }
      let open = try database.beginWrite()
      try open.tree("a").set([4], for: [4])
      calls.size.store(Self.metaPages, ordering: .releasing)
      for transaction in transactions {
        #expect(throws: StorageError.self) { try transaction.wait() }
      }
      calls.size.store(.max, ordering: .releasing)
      #expect(try open.tree("a").count() == 5)
      #expect(throws: StorageError.self) { try open.commit() }
      #expect(try database.snapshot().tree("a").count() == 1)
      try database.write { try $0.tree("a").set([5], for: [5]) }
      let snapshot = try database.snapshot()
      #expect(try snapshot.tree("a").count() == 2)
      #expect(IntegrityCheck.run(snapshot).findings == [])
    }
  }

  @Test func `a transaction without changes fails if the transaction whose changes it has seen fails`() throws
  {
    try withTemporaryPath { path in
      _ = try Database(path: path)
      let calls = SmallDisk()
      let database = try Database(
        storage: FileStorage(path: path, readOnly: false, calls: calls), options: .init())
      let first = try database.beginWrite()
      try first.tree("a").set([1], for: [1])
      let sealed = try first.seal()
      let open = try database.beginWrite()
      #expect(try open.tree("a").count() == 1)
      calls.size.store(Self.metaPages, ordering: .releasing)
      #expect(throws: StorageError.self) { try sealed.wait() }
      let unchanged = try open.seal()
      calls.size.store(.max, ordering: .releasing)
      // A later version does not contain the changes that the transaction has seen.
      try database.write { try $0.tree("b").set([2], for: [2]) }
      #expect(throws: StorageError.self) { try unchanged.wait() }
    }
  }

  /// Recovery skips the verification only if the nodes were synced before their meta page was written. A group is not.
  @Test(arguments: [nil, Keys.first])
  func `a group of more than a mebibyte does not vouch for itself`(key: [UInt8]?) throws {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk, options: .init(encryptionKey: key))
    try database.write { try $0.tree("a").set([0], for: [0]) }
    let sealed = try (UInt8(0)..<2).map { number in
      let transaction = try database.beginWrite()
      // The chunks take 17 units in memory, and 18 if they are encrypted.
      for index in 0..<460 {
        let key = [number, UInt8(index >> 8), UInt8(index & 0xff)]
        try transaction.tree("a").set([UInt8](repeating: number, count: 1064), for: key)
      }
      return try transaction.seal(.relaxed)
    }
    for transaction in sealed { try transaction.wait() }
    let newest = try newestMeta(disk)
    #expect(newest.version.number == database.version && newest.durable < newest.version.number)
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  /// The meta page of the transaction is written after its nodes were synced, and no other transaction shares the page.
  @Test func `a transaction of more than a mebibyte vouches for itself`() throws {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk)
    let before = disk.events.count
    try database.write { transaction in
      for index in UInt16(0)..<1200 {
        let key = [UInt8(index >> 8), UInt8(index & 0xff)]
        try transaction.tree("a").set([UInt8](repeating: 1, count: 1064), for: key)
      }
    }
    let newest = try newestMeta(disk)
    #expect(newest.version.number == database.version && newest.durable == newest.version.number)
    let events = disk.events[before...]
    let metas = events.indices.filter { if case .write(let page, _) = events[$0] { page < 2 } else { false } }
    let sync = try #require(events.firstIndex(of: .syncEnded))
    #expect(metas.count == 1 && metas[0] > sync)
  }

  private func newestMeta(_ disk: SimulatedDisk) throws -> MetaPage {
    let metas = try (0..<2).compactMap { page -> MetaPage? in
      guard
        case .sound(let meta) = MetaPage.read(
          try disk.read(FilePlace.page, at: UInt64(page * FilePlace.page)))
      else { return nil }
      return meta
    }
    return try #require(metas.max { $0.version.number < $1.version.number })
  }

  /// A disk that refuses meta pages while `refuses` is true.
  private final class RefusingCalls: SystemCalls {
    let refuses = Atomic(false)

    func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      if offset < FilePlace.firstNode, refuses.load(ordering: .acquiring) { return -5 }
      return NativeSystemCalls().write(descriptor, from: buffer, at: offset)
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a meta page that can't be written fails all transactions in it, and the last durable version opens`(
    key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      let (calls, options) = (RefusingCalls(), Database.Options(encryptionKey: key))
      do {
        let database = try Database(path: path, options: options, calls: calls)
        try database.write { try $0.tree("a").set([1], for: [1]) }
        let durable = database.version
        let sealed = try (UInt8(2)..<6).map { number in
          let transaction = try database.beginWrite()
          try transaction.tree("a").set([number], for: [number])
          return try transaction.seal(number == 3 ? .full : .relaxed)
        }
        calls.refuses.store(true, ordering: .releasing)
        for transaction in sealed {
          #expect(throws: StorageError.system(call: .write, errno: 5, path: path, offset: 0)) {
            do { try transaction.wait() } catch StorageError.system(let call, let errno, let path, _) {
              throw StorageError.system(call: call, errno: errno, path: path, offset: 0)
            }
          }
        }
        #expect(database.version == durable)
        #expect(throws: StorageError.poisoned(path: path)) { try database.beginWrite() }
        #expect(try database.snapshot().tree("a").count() == 1)
      }
      let database = try Database(path: path, options: options)
      let snapshot = try database.snapshot()
      #expect(try snapshot.tree("a").count() == 1)
      #expect(IntegrityCheck.run(snapshot).isClean)
      try database.write { try $0.tree("a").set([7], for: [7]) }
      #expect(try database.snapshot().tree("a").count() == 2)
    }
  }
}
