import Foundation
import Synchronization
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Handles of one process share a file as processes do: through locks of open files and through the control block.
@Suite struct SharingTests {
  static func withHandles(
    _ count: Int, key: [UInt8]? = nil, _ body: ([Database], String) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 20)
      try body(try (0..<count).map { _ in try Database(path: path, options: options) }, path)
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a commit of one handle is visible to the other handles`(key: [UInt8]?) throws {
    try Self.withHandles(3, key: key) { handles, _ in
      let before = try handles[2].snapshot()
      for round in 0..<60 {
        let writer = handles[round % 3]
        try writer.write(round % 4 == 0 ? .relaxed : .full) {
          try $0.tree("a").set([UInt8(round)], for: [UInt8(round / 3)])
        }
        for handle in handles {
          let value = try handle.snapshot().tree("a").value(for: [UInt8(round / 3)])
          #expect(value == [UInt8(round)])
        }
      }
      #expect(try before.tree("a").count() == 0)
      #expect(try IntegrityCheck.run(handles[1].snapshot()).findings == [])
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `random commits of several handles agree with a model, and no pinned version changes`(key: [UInt8]?)
    throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    try Self.withHandles(3, key: key) { handles, path in
      var handles = handles
      var content = Content()
      var pinned: [(snapshot: Snapshot, fingerprint: UInt64)] = []
      for _ in 0..<80 {
        let index = generator.below(handles.count)
        if generator.chance(3) {
          handles[index] = try Database(
            path: path, options: .init(encryptionKey: key, decryptedMemory: 1 << 20))
        }
        let transaction = try handles[index].beginWrite()
        var changed = content
        for _ in 0..<1 + generator.below(generator.chance(5) ? 60 : 6) {
          try Workload.change(transaction, &changed, &generator)
        }
        if generator.chance(10) {
          transaction.cancel()
        } else {
          try transaction.commit(generator.chance(40) ? .relaxed : .full)
          content = changed
        }
        let reader = try handles[generator.below(handles.count)].snapshot()
        #expect(try Content.fingerprint(of: reader) == content.fingerprint, "seed \(seed)")
        if generator.chance(15) { pinned.append((reader, content.fingerprint)) }
        if pinned.count > 6 || generator.chance(5), !pinned.isEmpty {
          let kept = pinned.remove(at: generator.below(pinned.count))
          #expect(try Content.fingerprint(of: kept.snapshot) == kept.fingerprint, "seed \(seed)")
        }
      }
      for kept in pinned {
        #expect(try Content.fingerprint(of: kept.snapshot) == kept.fingerprint, "seed \(seed)")
      }
      #expect(handles.reduce(0) { $0 + $1.recycledPages } > 0)
      #expect(try IntegrityCheck.run(handles[0].snapshot()).findings == [])
    }
  }

  @Test func `a page map updated from the ring equals the map that a walk makes`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(seed: seed)
    try Self.withHandles(2) { handles, _ in
      var content = Content()
      for round in 0..<120 {
        try handles[round % 2].write { transaction in
          for _ in 0..<4 { try Workload.change(transaction, &content, &generator) }
        }
        let transaction = try handles[(round + 1) % 2].beginWrite()
        let known = transaction.writer.pages.with { $0.space.map }
        let kept = try #require(known)
        var walk = SpaceWalk(store: handles[0].store, pageCount: kept.pageCount, slack: kept.slack)
        try walk.walkNewest(
          transaction.base.root, access: handles[0].store.access(below: transaction.base.end))
        for page in 0..<kept.pageCount {
          let same =
            kept.isFree(page) == walk.map.isFree(page)
            && kept.birth(ofPage: page) == walk.map.birth(ofPage: page)
            && kept.liveUnits(ofPage: page) == walk.map.liveUnits(ofPage: page)
          #expect(same, "seed \(seed), round \(round), page \(page)")
        }
        #expect(kept.liveUnits == walk.map.liveUnits && kept.freeCount == walk.map.freeCount)
        transaction.cancel()
      }
    }
  }

  @Test func `a ring with false records costs a walk and does no other harm`() throws {
    try Self.withHandles(2) { handles, _ in
      for handle in handles {
        try handle.write { transaction in
          for key in 0..<200 {
            try transaction.tree("a").set([UInt8](repeating: 1, count: 500), for: [UInt8(key)])
          }
        }
      }
      let known = handles[1].version
      try handles[0].write { try $0.tree("b").set([1], for: [1]) }
      let control = try #require(handles[0].store.storage.control)
      let ring = PageRing(memory: control)
      let writerMap = handles[1].writer?.pages.with { $0.space.map }
      let map = try #require(writerMap)
      let truth = try #require(ring.records(from: known, to: handles[0].version)).flatMap(\.changes)
      let lies = (2..<map.pageCount).filter { map.liveUnits(ofPage: $0) > 1 }
        .map { PageRing.Change(page: $0, isNew: false, liveUnits: 1) }
      #expect(!lies.isEmpty)
      let epoch = ring.epoch
      ring.clear()
      ring.append(PageRing.Record(version: handles[0].version, before: known, changes: truth + lies))
      control[word: ControlPlace.ring / 8] = epoch
      let misled = try handles[1].beginWrite()
      try misled.tree("a").removeAll()
      let sealed = try misled.seal()
      // The next transaction builds on the sealed one and writes before another transaction begins.
      let next = try handles[1].beginWrite()
      try sealed.wait()
      let isMapKnown = handles[1].writer?.pages.with { $0.space.map != nil } ?? false
      #expect(!isMapKnown)
      try next.tree("c").set([3], for: [3])
      try next.commit()
      for key in 0..<50 {
        try handles[1].write { try $0.tree("a").set([UInt8](repeating: 2, count: 900), for: [UInt8(key)]) }
      }
      #expect(try handles[0].snapshot().tree("a").count() == 50)
      #expect(try IntegrityCheck.run(handles[0].snapshot()).findings == [])
    }
  }

  @Test
  func `each of the threads that commit at once learns the result of its commit, and no commit is lost`()
    throws
  {
    try Self.withHandles(2) { handles, _ in
      let failures = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        for round in 0..<50 {
          do {
            let handle = handles[thread % 2]
            try handle.write(round % 5 == 0 ? .relaxed : .full) {
              try $0.tree("t\(thread)").set([UInt8(round)], for: [UInt8(round)])
            }
            // The changes of a commit that returned are visible to all handles.
            let other = try handles[(thread + 1) % 2].snapshot()
            if try other.tree("t\(thread)").count() != UInt64(round + 1) {
              failures.withLock { $0.append("thread \(thread) lost round \(round)") }
            }
          } catch { failures.withLock { $0.append("\(error)") } }
        }
      }
      #expect(failures.withLock { $0 } == [])
      let findings = try IntegrityCheck.run(handles[0].snapshot()).findings
      #expect(findings == [])
    }
  }

  @Test func `the last handle to close closes the file cleanly, even if another handle wrote`() throws {
    try withTemporaryPath { path in
      let (first, second) = (try Database(path: path), try Database(path: path))
      try first.write { try $0.tree("a").set([1], for: [1]) }
      first.close()
      #expect(try !FileInfo(second).isCleanlyClosed)
      second.close()
      let third = try Database(path: path)
      #expect(try FileInfo(third).isCleanlyClosed)
      #expect(try third.snapshot().tree("a").value(for: [1]) == [1])
    }
  }

  @Test func `a writer notices after a millisecond that the control folder was renamed`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { try $0.tree("a").set([1], for: [1]) }
      try FileManager.default.moveItem(atPath: path + ".management", toPath: path + ".elsewhere")
      Thread.sleep(forTimeInterval: 0.002)
      #expect(throws: StorageError.controlReplaced(path: path)) { try database.beginWrite() }
      try FileManager.default.moveItem(atPath: path + ".elsewhere", toPath: path + ".management")
      try database.write { try $0.tree("a").set([2], for: [1]) }
      #expect(try database.snapshot().tree("a").value(for: [1]) == [2])
    }
  }

  @Test
  func `a control folder deleted while the file is open is noticed, and no second handle can open the file`()
    throws
  {
    try withTemporaryPath { path in
      let first = try Database(path: path)
      try first.write { try $0.tree("a").set([1], for: [1]) }
      let snapshot = try first.snapshot()
      try FileManager.default.removeItem(atPath: path + ".management")
      #expect(throws: StorageError.controlReplaced(path: path)) { try first.beginWrite() }
      #expect(throws: StorageError.inUse(path: path)) { try Database(path: path) }
      #expect(try snapshot.tree("a").value(for: [1]) == [1])
      first.close()
      // Held snapshots keep the file in use.
      #expect(throws: StorageError.inUse(path: path)) { try Database(path: path) }
      withExtendedLifetime(snapshot) {}
    }
  }

  @Test func `a reader that opens the file first leaves it as it is, and later writers continue`() throws {
    try withTemporaryPath { path in
      do { try Database(path: path).write { try $0.tree("a").set([1], for: [1]) } }
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      let reader = try Database(path: path, options: .init(isReadOnly: true))
      let old = try reader.snapshot()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
      let writer = try Database(path: path)
      for round in 0..<40 { try writer.write { try $0.tree("a").set([UInt8(round)], for: [1]) } }
      #expect(try old.tree("a").value(for: [1]) == [1])
      #expect(try reader.snapshot().tree("a").value(for: [1]) == [39])
    }
  }

  @Test func `a file cut short under an open handle is noticed`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { try $0.tree("a").set([UInt8](repeating: 7, count: 20000), for: [1]) }
      truncate(path, 8192)
      #expect(throws: StorageError.self) { try database.beginWrite() }
      #expect(throws: StorageError.self) { try database.snapshot() }
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `readers of older versions are listed with the bytes that are kept for them`(key: [UInt8]?) throws {
    try Self.withHandles(2, key: key) { handles, path in
      for number in 0..<50 {
        try handles[0].write {
          try $0.tree("a").set([UInt8](repeating: 1, count: 900), for: [UInt8(number)])
        }
      }
      #expect(try handles[1].pinnedVersions() == [])
      let snapshot = try handles[0].snapshot()
      let second = try handles[0].snapshot()
      for number in 0..<50 {
        try handles[1].write {
          try $0.tree("a").set([UInt8](repeating: 2, count: 900), for: [UInt8(number)])
        }
      }
      let reader = try Database(
        path: path, options: .init(encryptionKey: key, isReadOnly: true, decryptedMemory: 1 << 20))
      for handle in [handles[0], handles[1], reader] {
        let report = try handle.storageReport()
        let pin = try #require(report.pinned.first)
        #expect(report.pinned.count == 1 && pin.version == snapshot.version)
        #expect(pin.processID == getpid() && pin.bytes > 45_000 && pin.bytes < 120_000)
        #expect(report.pinnedBytes == pin.bytes && report.liveBytes > 45_000)
        #expect(report.liveBytes + report.pinnedBytes <= report.fileBytes)
      }
      withExtendedLifetime((snapshot, second)) {}
    }
  }

  @Test func `a thread that waits for commits wakes at a commit of another handle or at its timeout`() throws
  {
    try Self.withHandles(2) { handles, _ in
      let version = handles[0].version
      #expect(try handles[0].waitForCommit(after: version, timeout: .milliseconds(20)) == nil)
      #expect(try handles[0].waitForCommit(after: version - 1, timeout: .zero) == version)
      let done = DispatchSemaphore(value: 0)
      let waiting = handles[0]
      nonisolated(unsafe) var woken: UInt64?
      Thread {
        woken = try? waiting.waitForCommit(after: version, timeout: .seconds(60))
        done.signal()
      }.start()
      usleep(20000)
      try handles[1].write { try $0.tree("a").set([1], for: [1]) }
      done.wait()
      #expect(woken == handles[1].version)
    }
  }

  @Test func `more pins than one segment holds find room, and are released`() throws {
    try Self.withHandles(1) { handles, path in
      var pins: [Snapshot] = []
      for number in 0..<700 {
        try handles[0].write(.relaxed) { try $0.tree("a").set([UInt8(number & 255)], for: [1]) }
        pins.append(try handles[0].snapshot())
      }
      for (number, pin) in pins.enumerated() {
        #expect(try pin.tree("a").value(for: [1]) == [UInt8(number & 255)])
      }
      #expect(try Database(path: path).pinnedVersions().count == 699)
      pins = []
      #expect(try handles[0].pinnedVersions() == [])
    }
  }

  @Test func `no page is reused while a reader exists that can't be listed`() throws {
    try withTemporaryPath { path in
      let (first, second) = (try Database(path: path), try Database(path: path))
      func commit(_ number: Int) throws {
        try (number % 2 == 0 ? first : second).write {
          try $0.tree("a").set([UInt8](repeating: UInt8(number & 255), count: 3000), for: [1])
        }
      }
      for number in 0..<40 { try commit(number) }
      let unlisted = try FileStorage(path: path, readOnly: true)
      #expect(try unlisted.lock(.unlistedReader, waits: false))
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      let pages = try pagesReached(by: first)
      let recycled = first.recycledPages + second.recycledPages
      for number in 40..<80 { try commit(number) }
      // A third handle makes its map by a walk. Meanwhile pages wait that no listed reader holds.
      let third = try Database(path: path)
      for number in 80..<90 {
        try third.write { try $0.tree("b").set([UInt8(number)], for: [1]) }
        try commit(number)
      }
      let after = try Data(contentsOf: URL(fileURLWithPath: path))
      for page in pages {
        #expect(before[page * 4096..<page * 4096 + 4096] == after[page * 4096..<page * 4096 + 4096])
      }
      unlisted.close()
      for number in 90..<130 { try commit(number) }
      #expect(first.recycledPages + second.recycledPages > recycled + 40)
      withExtendedLifetime(third) {}
    }
  }

  @Test func `one handle at a time owns the session of a synced file, until it resigns or closes`() throws {
    try Self.withHandles(3) { handles, path in
      #expect(try handles[0].becomeSyncAgent() && handles[0].becomeSyncAgent())
      #expect(try !handles[1].becomeSyncAgent())
      // The session keeps no other handle from writing.
      try handles[1].write { try $0.tree("a").set([1], for: [1]) }
      handles[0].resignAsSyncAgent()
      #expect(try handles[1].becomeSyncAgent() && !handles[2].becomeSyncAgent())
      let snapshot = try handles[1].snapshot()
      handles[1].close()
      let isAgent = try handles[2].becomeSyncAgent()
      #expect(isAgent)
      withExtendedLifetime(snapshot) {}
      #expect(throws: StorageError.inUse(path: path)) { try Database.removeFiles(path: path) }
    }
    try Self.withHandles(1) { handles, path in
      let isAgent = try handles[0].becomeSyncAgent()
      #expect(isAgent)
      handles[0].close()
      let isRemoved = try Database.removeFiles(path: path)
      #expect(isRemoved)
      #expect(!FileManager.default.fileExists(atPath: path + ".management"))
    }
  }

  private func pagesReached(by database: Database) throws -> Set<Int> {
    let snapshot = try database.snapshot()
    var pages: Set<Int> = []
    for ref in try TreeNodes.all(snapshot.root, snapshot.access()) {
      let first = Int(ref.offset) / 4096
      pages.formUnion(first...(Int(ref.offset) + ref.length - 1) / 4096)
    }
    return pages
  }
}
