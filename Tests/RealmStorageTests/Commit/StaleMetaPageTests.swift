import RealmStorage
import RealmTestSupport
import Testing

/// A meta page whose sync failed stands in the cache, and not on the disk. The system treats the cached page as clean.
@Suite struct StaleMetaPageTests {
  /// - Parameter commits: The number of commits. With 1 and 2 commits, each of the two meta pages is the one in
  ///   question.
  @Test(arguments: [1, 2], [nil, Keys.first])
  func `no later process relies on a meta page that no sync made durable`(
    commits: Int, key: [UInt8]?
  ) throws {
    for seed in UInt64(0)..<60 {
      var generator = SeededGenerator(seed: seed)
      var disk = SimulatedDisk()
      let options = Database.Options(encryptionKey: key)
      let first = try Database(creatingIn: disk, options: options)
      for number in 0..<commits { try first.write { try $0.tree("a").set([1], for: [UInt8(number)]) } }
      // A clean close syncs once for each page. The second sync fails, and the process dies in it.
      let syncs = disk.events.count { $0 == .syncStarted }
      disk.follow(.init(failSync: syncs + 1, diesInFailedSync: true))
      first.close()
      #expect(disk.isDead)
      // One process recovers the file and closes it. The next one makes a commit that the disk may lose.
      disk = disk.afterKill(&generator)
      try Database(storage: disk, options: options).close()
      disk = disk.afterKill(&generator)
      let last = try Database(storage: disk, options: options)
      try last.write(.relaxed) { try $0.tree("a").set([2], for: [200]) }
      disk.follow(.init(dieAt: disk.events.count))
      last.close()
      let lost = disk.afterPowerLoss(&generator)
      let found = try Database(storage: lost, options: options).snapshot()
      #expect(IntegrityCheck.run(found).isClean, "seed \(seed)")
      #expect(try found.tree("a").count() >= UInt64(commits), "seed \(seed)")
    }
  }
}
