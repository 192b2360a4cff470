import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Openings that fail because the system refuses a call for a passing reason.
@Suite struct RecoveryFaultTests {
  /// The system has no memory for reading, can't sync, or both.
  private struct RefusingCalls: SystemCalls {
    var populating: CInt = 0
    var syncing: CInt = 0

    func populate(_ address: UnsafeRawPointer, _ count: Int) -> CInt { populating }
    func sync(_ descriptor: CInt, kind: SyncKind) -> CInt { syncing }
  }

  /// Calls `body` with a file in the state in which a process left it that is gone.
  private func withUncleanFile(_ key: [UInt8]?, _ body: (String) throws -> Void) throws {
    try withTemporaryPath { path in
      try withTemporaryPath { original in
        let database = try Database(path: original, options: .init(encryptionKey: key))
        for number in 0..<20 {
          try database.write { try $0.tree("a").set([UInt8](repeating: 1, count: 500), for: [UInt8(number)]) }
        }
        try FileManager.default.copyItem(atPath: original, toPath: path)
      }
      try body(path)
    }
  }

  private func open(_ path: String, _ key: [UInt8]?, _ calls: RefusingCalls) throws(StorageError) -> Database
  {
    try Database(path: path, options: .init(encryptionKey: key), calls: calls)
  }

  @Test(arguments: [nil, Keys.first], [ENOMEM, EPERM])
  func `a passing refusal while a file is opened loses no commit and leaves no mark`(
    key: [UInt8]?, refusal: CInt
  ) throws {
    try withUncleanFile(key) { path in
      for calls in [RefusingCalls(populating: refusal), RefusingCalls(syncing: EIO)] {
        #expect(throws: StorageError.self) { try open(path, key, calls) }
      }
      let database = try open(path, key, RefusingCalls())
      #expect(try database.snapshot().tree("a").count() == 20)
      try database.write { try $0.tree("a").set([2], for: [200]) }
      #expect(IntegrityCheck.run(try database.snapshot()).isClean)
    }
  }

  @Test func `a node that the system refuses to read is not reported as damage`() throws {
    try withUncleanFile(nil) { path in
      do { _ = try open(path, nil, RefusingCalls()) }
      // The file is closed cleanly by now, so opening it reads no node.
      let database = try open(path, nil, RefusingCalls(populating: ENOMEM))
      let report = IntegrityCheck.run(try database.snapshot())
      #expect(report.findings == [])
      #expect(!report.isClean)
      guard case .system(call: .read, errno: ENOMEM, _, _) = report.failure else {
        Issue.record("\(String(describing: report.failure))")
        return
      }
    }
  }

  @Test func `a file that is cut off while a snapshot is open makes the next snapshot fail`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { try $0.tree("a").set([UInt8](repeating: 1, count: 70_000), for: [1]) }
      let held = try database.snapshot()
      try withExtendedLifetime(held) {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        let length = try file.seekToEnd()
        try file.truncate(atOffset: 8192)
        #expect(throws: StorageError.self) { try database.snapshot() }
        // The file gets its old length back. Otherwise the system would stop the program when the held snapshot is
        // read.
        try file.truncate(atOffset: length)
        try file.close()
      }
    }
  }
}
