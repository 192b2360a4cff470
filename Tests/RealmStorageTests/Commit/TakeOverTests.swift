import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A handle writes after another process died during a write, while other handles go on reading. The tests forge the
/// state that the dead process left in the control block.
@Suite struct TakeOverTests {
  private func value(_ database: Database) throws -> [UInt8]? {
    try database.snapshot().tree("a").value(for: [1])
  }

  private func set(_ database: Database, _ number: UInt8, _ durability: Durability = .full) throws {
    try database.write(durability) { try $0.tree("a").set([number], for: [1]) }
  }

  private func isWhole(_ database: Database) throws -> Bool {
    try IntegrityCheck.run(database.snapshot()).findings == []
  }

  @Test(arguments: [nil, Keys.first])
  func `the next writer recovers the file after a writer died in a transaction`(key: [UInt8]?) throws {
    try SharingTests.withHandles(2, key: key) { handles, _ in
      try set(handles[0], 1)
      let before = try handles[0].snapshot()
      let block = handles[0].held.block
      block.inWrite = true
      try set(handles[1], 2)
      #expect(!block.needsRecovery && block.durable.number == block.current.number)
      #expect(try value(handles[0]) == [2] && before.tree("a").value(for: [1]) == [1])
      #expect(try isWhole(handles[0]))
      try set(handles[0], 3)
      #expect(try value(handles[1]) == [3])
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `the next writer writes a version again if its sync ended without a result`(key: [UInt8]?) throws {
    try SharingTests.withHandles(2, key: key) { handles, path in
      try set(handles[0], 1)
      try set(handles[0], 2, .relaxed)
      let block = handles[0].held.block
      let (sure, unsure) = (block.durable.number, block.current.number)
      #expect(sure < unsure)
      let read = try handles[0].snapshot()
      (block.inWrite, block.sync) = (true, .inFlight)
      try set(handles[1], 3)
      #expect(!block.needsRecovery && block.durable.number == block.current.number)
      #expect(block.isUnsure(unsure) && !block.isUnsure(sure))
      // No sync has failed, so the versions that other handles read stay.
      #expect(try read.tree("a").value(for: [1]) == [2])
      #expect(try value(handles[0]) == [3] && isWhole(handles[0]))
      for handle in handles { handle.close() }
      #expect(try value(Database(path: path, options: .init(encryptionKey: key))) == [3])
    }
  }

  @Test func `no handle reads a version before it is written again, and each handle reads it afterwards`()
    throws
  {
    try SharingTests.withHandles(2) { handles, _ in
      try set(handles[0], 1)
      try set(handles[0], 2, .relaxed)
      // This is the state if the process died before the sync of a full commit returned.
      let block = handles[0].held.block
      block.current = block.durable
      (block.inWrite, block.sync) = (true, .inFlight)
      #expect(try value(handles[0]) == [1])
      let transaction = try handles[1].beginWrite()
      #expect(try value(handles[0]) == [2] && transaction.tree("a").value(for: [1]) == [2])
      transaction.cancel()
      #expect(!block.needsRecovery && block.durable.number == block.current.number)
      #expect(try isWhole(handles[0]))
    }
  }

  /// The first handle made the file longer. It is about to write zeros behind the end when it takes the lock again.
  @Test func `a flush without a transaction does not overwrite the end that another handle wrote`() throws {
    try SharingTests.withHandles(2) { handles, _ in
      for round in 0..<20 as Range<UInt8> {
        let bytes = [UInt8](repeating: round, count: 40_000)
        try handles[0].write(.relaxed) { try $0.tree("a").set(bytes, for: [round]) }
        handles[0].writer?.pages.with { $0.hasGrown = true }
        try handles[1].write(.relaxed) { try $0.tree("b").set(bytes + bytes, for: [round]) }
        try handles[0].flush()
        #expect(try isWhole(Database(path: handles[0].path)), "round \(round)")
      }
    }
  }

  @Test func `a writer after a failed sync starts from the durable version, and newer snapshots expire`()
    throws
  {
    try SharingTests.withHandles(2) { handles, _ in
      try set(handles[0], 1)
      try set(handles[0], 2, .relaxed)
      let lost = try handles[0].snapshot()
      handles[0].held.block.noteSyncFailed()
      try handles[1].write { try $0.tree("a").set([3], for: [2]) }
      #expect(throws: StorageError.self) { try lost.tree("a").value(for: [1]) }
      #expect(try value(handles[1]) == [1])
      #expect(try isWhole(handles[1]))
    }
  }

  @Test func `the mark of a dead writer stays if the next writer could not recover the file`() throws {
    try SharingTests.withHandles(2) { handles, path in
      try set(handles[0], 1)
      let block = handles[0].held.block
      block.inWrite = true
      try FileManager.default.moveItem(atPath: path + ".management", toPath: path + ".elsewhere")
      Thread.sleep(forTimeInterval: 0.002)
      #expect(throws: StorageError.controlReplaced(path: path)) { try handles[1].beginWrite() }
      #expect(block.inWrite)
      try FileManager.default.moveItem(atPath: path + ".elsewhere", toPath: path + ".management")
      Thread.sleep(forTimeInterval: 0.002)
      try set(handles[1], 2)
      #expect(try !block.inWrite && value(handles[0]) == [2])
    }
  }
}
