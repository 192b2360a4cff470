import RealmTestSupport
import Testing

@testable import RealmStorage

/// Shared memory that a library of the last draft of the format left since the last boot.
@Suite struct EarlierControlBlockTests {
  /// If the mark were ignored, the version whose sync failed would be opened, and the next sync would call it durable.
  @Test(arguments: [nil, Keys.first])
  func `the mark of a failed sync that a library of the last draft left is respected`(key: [UInt8]?) throws {
    for layout in [ControlPlace.layout, ControlPlace.layoutOfLastDraft] {
      var generator = SeededGenerator(seed: 5)
      var disk = SimulatedDisk()
      let options = Database.Options(encryptionKey: key)
      let first = try Database(creatingIn: disk, options: options)
      try first.write { try $0.tree("a").set([1], for: [1]) }
      disk.follow(.init(failSync: disk.events.count { $0 == .syncStarted }))
      #expect(throws: StorageError.self) { try first.write { try $0.tree("a").set([2], for: [1]) } }
      first.close()
      disk = disk.afterKill(&generator)
      try #require(disk.control)[word: 4] = layout
      let second = try Database(storage: disk, options: options)
      #expect(try second.snapshot().tree("a").value(for: [1]) == [1])
      try second.write { try $0.tree("a").set([3], for: [2]) }
      second.close()
      #expect(disk.control?[word: 4] == ControlPlace.layout)
      let lost = try Database(storage: disk.afterPowerLoss(&generator), options: options)
      #expect(try lost.snapshot().tree("a").value(for: [2]) == [3])
    }
  }
}
