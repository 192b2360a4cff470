import Foundation
import Synchronization
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Faults that threads, processes and failures once caused in shared handles. They must not occur again.
@Suite struct SharingFaultTests {
  @Test func `a control file with garbage is treated as new`() throws {
    try withTemporaryPath { path in
      _ = try Database(path: path)
      try Data(repeating: 0xff, count: ControlPlace.leastBytes).write(
        to: URL(fileURLWithPath: path + ".management/control"))
      _ = try Database(path: path)
    }
  }

  @Test func `a file can be read if no files can be made beside it`() throws {
    try withTemporaryPath { path in
      do { try Database(path: path).write { try $0.tree("a").set([1], for: [1]) } }
      try FileManager.default.removeItem(atPath: path + ".management")
      try Data().write(to: URL(fileURLWithPath: path + ".management"))
      let reader = try Database(path: path, options: .init(isReadOnly: true))
      #expect(try reader.snapshot().tree("a").value(for: [1]) == [1])
    }
  }

  @Test func `a closed handle does not take part in sharing`() throws {
    try withTemporaryPath { path in
      let first = try Database(path: path)
      let second = try Database(path: path)
      first.close()
      _ = try? first.snapshot()
      #expect(second.held.readers.pins.isEmpty)
      let third = try Database(path: path)
      let kept = try third.snapshot()
      _ = try? first.snapshot()
      #expect(second.held.participants.process(third.held.participant).id != 0)
      _ = kept
    }
  }

  @Test func `many handles can open a file without a control folder at the same time`() throws {
    for round in 0..<40 {
      try withTemporaryPath { path in
        _ = try Database(path: path)
        try FileManager.default.removeItem(atPath: path + ".management")
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
          do {
            let database = try Database(path: path)
            for _ in 0..<20 { _ = try database.snapshot() }
            if database.version == 0 { failures.withLock { $0.append("zero") } }
          } catch { failures.withLock { $0.append("\(error)") } }
        }
        let seen = failures.withLock { $0 }
        if !seen.isEmpty { Issue.record("round \(round): \(seen)") }
      }
    }
  }

  final class SlowCalls: SystemCalls {
    let native = NativeSystemCalls()
    let armed = Atomic<Int>(0)
    let closedInSync = Atomic<Bool>(false)
    /// Lets the sync continue.
    let release = DispatchSemaphore(value: 0)
    func releaseSoon() {
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { self.release.signal() }
    }
    func read(_ d: CInt, into b: UnsafeMutableRawBufferPointer, at o: UInt64) -> Int {
      native.read(d, into: b, at: o)
    }
    func write(_ d: CInt, from b: UnsafeRawBufferPointer, at o: UInt64) -> Int {
      native.write(d, from: b, at: o)
    }
    func truncate(_ d: CInt, to l: UInt64) -> CInt { native.truncate(d, to: l) }
    func sync(_ d: CInt, kind: SyncKind) -> CInt {
      let what = armed.exchange(0, ordering: .sequentiallyConsistent)
      if what != 0 { release.wait() }
      if what != 0, fcntl(d, F_GETFD) == -1 { closedInSync.store(true, ordering: .sequentiallyConsistent) }
      return what == 1 ? 5 : native.sync(d, kind: kind)
    }
  }

  /// Calls `body` while another thread's commit is in a sync, which lasts until `body` releases it. The sync then fails
  /// if `fails` is true.
  func whileSyncing(fails: Bool, _ body: (Database, SlowCalls, String) throws -> Void) throws {
    try withTemporaryPath { path in
      _ = try Database(path: path)
      let calls = SlowCalls()
      let database = try Database(
        storage: FileStorage(path: path, readOnly: false, calls: calls), options: .init())
      try database.write { try $0.tree("a").set([1], for: [1]) }
      let done = DispatchSemaphore(value: 0)
      calls.armed.store(fails ? 1 : 2, ordering: .sequentiallyConsistent)
      Thread {
        _ = try? database.write { try $0.tree("a").set([2], for: [2]) }
        done.signal()
      }.start()
      while calls.armed.load(ordering: .sequentiallyConsistent) != 0 { usleep(1000) }
      try body(database, calls, path)
      done.wait()
    }
  }

  @Test func `a large commit that follows a failed sync leaves the mark of the failure`() throws {
    try whileSyncing(fails: true) { database, calls, _ in
      calls.releaseSoon()
      #expect(throws: (any Error).self) {
        try database.write { try $0.tree("b").set([UInt8](repeating: 7, count: 3 << 20), for: [3]) }
      }
      // The large commit has waited until the sync failed.
      #expect(database.held.block.sync == .failed)
    }
  }

  @Test func `a commit without changes fails if the version it read fails`() throws {
    try whileSyncing(fails: true) { database, calls, _ in
      var seen: [UInt8]?
      let number = try? database.write { transaction -> UInt64 in
        seen = try transaction.tree("a").value(for: [2])
        calls.release.signal()
        return try transaction.commit()
      }
      #expect(seen == [2] && number == nil, "it told of what failed")
    }
  }

  @Test func `a thread that waits for a commit leads, even if no thread waits for an earlier commit`() throws
  {
    try whileSyncing(fails: false) { database, calls, _ in
      let first = try database.beginWrite()
      try first.tree("b").set([1], for: [1])
      let unwaited = try first.seal()
      let returned = DispatchSemaphore(value: 0)
      Thread {
        _ = try? database.write { try $0.tree("b").set([2], for: [2]) }
        returned.signal()
      }.start()
      // In most runs the thread sleeps before the sync ends.
      usleep(50_000)
      calls.release.signal()
      returned.wait()
      #expect(try database.snapshot().tree("b").count() == 2)
      try unwaited.wait()
    }
  }

  @Test func `closing a handle waits for a commit in progress`() throws {
    try whileSyncing(fails: false) { database, calls, path in
      let other = try Database(path: path)
      calls.releaseSoon()
      database.close()
      let closed = calls.closedInSync.load(ordering: .sequentiallyConsistent)
      #expect(!closed)
      _ = other
    }
  }

  @Test func `a reader that opens the file first leaves the durable version as it is`() throws {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk)
    let sure = try database.write { t in
      try t.tree("a").set([1], for: [1])
      return try t.commit(.full)
    }
    try database.write(.relaxed) { try $0.tree("a").set([2], for: [2]) }
    #expect(database.held.block.durable.number == sure)
    var generator = SeededGenerator(seed: 1)
    let after = disk.afterKill(&generator)
    let reader = try Database(storage: after, options: .init(isReadOnly: true))
    #expect(reader.held.block.durable.number == sure)
  }

  @Test func `the control lock excludes other threads of the same handle, but not its own thread`() throws {
    try withTemporaryPath { path in
      _ = try Database(path: path)
      let lock = ControlLock(try FileStorage(path: path, readOnly: false))
      let (first, again) = (try lock.lock(), try lock.lock(waits: false))
      #expect(first && again)
      let done = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var other: Bool?
      func ask() {
        Thread {
          other = try? lock.lock(waits: false)
          if other == true { lock.unlock() }
          done.signal()
        }.start()
        done.wait()
      }
      ask()
      #expect(other == false)
      lock.unlock()
      ask()
      #expect(other == false)
      lock.unlock()
      ask()
      #expect(other == true)
    }
  }

  @Test func `a child process that outlives its parent keeps no lock of the parent`() throws {
    // The mapping of the file must not belong to the open file that is locked, because a child inherits mappings.
    try withTemporaryPath { path in
      let database = try Database(path: path)
      let snapshot = try database.snapshot()
      let other = try FileStorage(path: path, readOnly: false)
      #expect(other.isHeldElsewhere(.presence))
      database.store.storage.close()
      #expect(!other.isHeldElsewhere(.presence))
      withExtendedLifetime(snapshot) {}
    }
  }

  /// A process that another thread starts has such copies until it runs its program.
  @Test func `a closed database holds no lock, even if copies of its descriptors exist`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { try $0.tree("a").set([1], for: [1]) }
      let files = try [path, path + ".management/control"].map { path in
        var info = stat()
        try #require(stat(path, &info) == 0)
        return FileIdentity(info)
      }
      let copies = (CInt(3)..<max(getdtablesize(), 4)).filter { descriptor in
        var info = stat()
        return fstat(descriptor, &info) == 0 && files.contains(FileIdentity(info))
      }.map { dup($0) }
      defer { for copy in copies { Foundation.close(copy) } }
      #expect(copies.count >= 3)
      database.close()
      try FileManager.default.removeItem(atPath: path + ".management")
      #expect(try Database(path: path).snapshot().tree("a").value(for: [1]) == [1])
    }
  }

  @Test func `old readers expire after more failures than are remembered, and no page of theirs is freed`()
    throws
  {
    let block = ControlBlock(try #require(SharedMemory.local(ControlPlace.mostBytes)))
    block.greatest = 10
    for _ in 0..<70 { block.noteFailure(after: 5) }
    #expect(block.isExpired(3, seen: 0) && !block.isLost(3) && block.isLost(7) && !block.isLost(11))
    #expect(!block.isExpired(3, seen: 69) && block.isExpired(7, seen: 69) && !block.isExpired(7, seen: 70))
  }
}
