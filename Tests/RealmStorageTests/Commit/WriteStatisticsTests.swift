import RealmStorage
import RealmTestSupport
import Testing

@Suite struct WriteStatisticsTests {
  @Test(arguments: [nil, Keys.first])
  func `the written bytes are counted by kind and add up`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: key))
      #expect(database.writeStatistics == WriteStatistics())
      for number in 0..<40 {
        try database.write { try $0.tree("a").set(Array("value \(number)".utf8), for: [UInt8(number)]) }
      }
      let statistics = database.writeStatistics
      #expect(statistics.commits == 40)
      // Each of these commits writes less than a page of nodes and one meta page.
      #expect(statistics.nodeBytes == 40 * 4096)
      #expect(statistics.metaBytes == 40 * 4096)
      #expect(statistics.growthBytes % 4096 == 0)
      #expect(statistics.recycledPages > 0 && statistics.recycledPages <= 40)
      // A transaction that is cancelled before it was written is no commit. Neither is a transaction without changes.
      try database.beginWrite().cancel()
      try database.write { _ = try $0.tree("a").value(for: [1]) }
      #expect(database.writeStatistics == statistics)
    }
  }

  @Test func `a larger commit adds more to the statistics`() throws {
    let database = try Database(inMemory: "test")
    try database.write { try $0.tree("a").set([UInt8](repeating: 1, count: 100_000), for: [1]) }
    #expect(database.writeStatistics.commits == 1)
    #expect(database.writeStatistics.nodeBytes > 100_000)
  }

  @Test func `a handle that only reads has written nothing`() throws {
    try withTemporaryPath { path in
      do {
        let database = try Database(path: path)
        try database.write { try $0.tree("a").set([1], for: [1]) }
      }
      let reading = try Database(path: path, options: .init(isReadOnly: true))
      #expect(reading.writeStatistics == WriteStatistics())
    }
  }
}
