import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct CompactionTests {
  @Test(arguments: Slow.seeds(4, slow: 10), [nil, Keys.first])
  func `compaction moves nodes and shortens the file, and readers notice nothing`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 20)
    options.compaction = .eager
    options.clusterRows = 8
    options.spillBytes = 1 << 16
    let disk = SimulatedDisk()
    var database = try Database(creatingIn: disk, options: options)
    var content = Content()
    var pinned: [(snapshot: Snapshot, fingerprint: UInt64)] = []
    var compacted = (movedNodes: 0, truncations: 0)
    for round in 0..<Slow.count(60, slow: 300) {
      var next = content
      do {
        let transaction = try database.beginWrite()
        try Workload.change(transaction, &next, &generator)
        if !generator.chance(10) {
          try transaction.commit(generator.chance(50) ? .full : .relaxed)
          content = next
        }
      }
      if generator.chance(10) { try pinned.append((database.snapshot(), content.fingerprint)) }
      if generator.chance(10), !pinned.isEmpty { pinned.remove(at: generator.below(pinned.count)) }
      for pin in pinned { #expect(try Content.fingerprint(of: pin.snapshot) == pin.fingerprint) }
      let snapshot = try database.snapshot()
      #expect(try Content.fingerprint(of: snapshot) == content.fingerprint)
      if round % 10 == 0 {
        let findings = IntegrityCheck.run(snapshot).findings
        #expect(findings == [])
      }
      guard generator.chance(5) else { continue }
      pinned = []
      compacted.movedNodes += database.compacted.movedNodes
      compacted.truncations += database.compacted.truncations
      database.close()
      database = try Database(storage: disk, options: options)
    }
    let findings = try IntegrityCheck.run(database.snapshot()).findings
    #expect(findings == [])
    let now = database.compacted
    // Most seeds do both. The tests of growth below are sure to move nodes.
    #expect(compacted.movedNodes + now.movedNodes + compacted.truncations + now.truncations > 0)
  }

  @Test func `deleted content goes back to the file system while the database is open`() throws {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk)
    var generator = SeededGenerator(seed: 1)
    for number in 0..<400 {
      try database.write(.relaxed) {
        try $0.tree("a").set(generator.bytes(60_000), for: [UInt8(number % 256), UInt8(number / 256)])
      }
    }
    let full = try disk.length()
    try database.write { try $0.tree("a").removeAll() }
    for round in 0..<20 { try database.write { try $0.tree("b").set([UInt8(round)], for: [1]) } }
    #expect(full > 20 << 20)
    #expect(try disk.length() <= 2 << 20)
  }

  @Test func `a node that can't be read is not moved, and commits continue`() throws {
    var generator = SeededGenerator(seed: 3)
    var options = Database.Options()
    options.compaction = .eager
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk, options: options)
    try database.write { transaction in
      for name in ["damaged", "a"] {
        for number in 0..<40 { try transaction.tree(name).set(generator.bytes(900), for: [UInt8(number)]) }
      }
    }
    let pages = Int(try disk.length()) / 4096
    // Every third page gets a wrong byte, the meta pages excepted. Nodes that the process has verified before stay
    // trusted.
    for page in stride(from: 2, to: pages, by: 3) {
      var bytes = try disk.read(4096, at: UInt64(page * 4096))
      bytes[100] ^= 1
      try disk.write(bytes, at: UInt64(page * 4096))
    }
    for round in 0..<200 {
      try? database.write { try $0.tree("other").set(generator.bytes(500), for: [UInt8(round)]) }
    }
    #expect(try database.snapshot().tree("other").count() > 190)
  }

  // MARK: - Growth

  private static let isSlow = ProcessInfo.processInfo.environment["REALM_GROWTH"] == "slow"

  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string), Column("note", .string),
      Column("score", .double), Column("age", .int64),
    ])

  private func fill(_ database: Database, rows: Int, _ generator: inout SeededGenerator) throws {
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      for number in 0..<rows {
        let (name, note) = (text(60, &generator), text(112, &generator))
        try table.insert { (row: inout NewRow) throws(StorageError) in
          try row.set(0, Int64(number))
          try row.set(1, name)
          try row.set(2, note)
          try row.set(3, Double(number))
          try row.set(4, Int64(number % 90))
        }
      }
    }
  }

  private func text(_ count: Int, _ generator: inout SeededGenerator) -> String {
    String(decoding: generator.bytes(count).map { $0 % 26 + 97 }, as: UTF8.self)
  }

  private func size(of path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.size] as? NSNumber)?.intValue ?? 0
  }

  /// The objects have 200 bytes. `live` is the length of the file when one transaction has made all objects.
  @Test(arguments: [nil, Keys.first])
  func `a file stays small while a reader holds an old version, and shrinks when the reader ends`(
    key: [UInt8]?
  ) throws {
    let (rows, commits) = Self.isSlow ? (100_000, 10_000) : (20_000, 2_000)
    try withTemporaryPath { path in
      var generator = SeededGenerator(seed: 5)
      let database = try Database(path: path, options: .init(encryptionKey: key))
      try fill(database, rows: rows, &generator)
      let live = try size(of: path)
      var reader: Snapshot? = try database.snapshot()
      func change(_ times: Int) throws -> Int {
        var largest = 0
        for _ in 0..<times {
          let row = UInt64(generator.below(rows))
          let note = text(112, &generator)
          try database.write { transaction in
            let table: WritableTable = try #require(try transaction.table("Thing"))
            let rowKey = try table.reading().key(at: Int(row))
            try table.set(.string(note), "note", ofRow: rowKey)
          }
          largest = max(largest, try size(of: path))
        }
        return largest
      }
      let pinned = try change(commits)
      #expect(pinned <= 3 * live + 4 << 20)
      #expect(try reader?.table("Thing")?.count == rows)
      reader = nil
      _ = try change(100)
      let released = try size(of: path)
      #expect(released <= live + live / 2 + 4 << 20)
      #expect(database.compacted.movedNodes > 0)
      // The file stays small.
      let later = try change(commits / 4)
      #expect(later <= live + live / 2 + 6 << 20)
      let findings = try IntegrityCheck.run(database.snapshot()).findings
      #expect(findings == [])
      if Self.isSlow {
        print(
          "growth encrypted=\(key != nil) live=\(live) pinned=\(pinned) released=\(released) later=\(later)")
      }
    }
  }

  /// A moved node is written twice. If rows are replaced by rows of the same size, holes of the sizes of nodes come and
  /// go, and these holes are enough.
  @Test func `a file whose rows change at random reuses its holes and moves no nodes`() throws {
    try withTemporaryPath { path in
      var generator = SeededGenerator(seed: 8)
      var options = Database.Options()
      options.clusterRows = 256
      options.compaction.slack = 64
      let database = try Database(path: path, options: options)
      let rows = 40_000
      try fill(database, rows: rows, &generator)
      let live = try size(of: path)
      func change(_ count: Int, of batch: Int, _ durability: Durability) throws {
        for _ in 0..<count {
          let places = (0..<batch).map { _ in (generator.below(rows), Double(generator.below(1_000))) }
          try database.write(durability) { transaction in
            let table = try #require(try transaction.table("Thing"))
            for (place, score) in places {
              let key = try table.reading().key(at: place)
              try table.set(.double(score), "score", ofRow: key)
            }
          }
        }
      }
      func round() throws {
        try change(300, of: 1, .full)
        try change(300, of: 1, .relaxed)
        try change(20, of: 50, .relaxed)
        try change(60, of: 6, .full)
      }
      for _ in 0..<3 { try round() }
      let moved = database.compacted.movedNodes
      for _ in 0..<2 { try round() }
      #expect(database.compacted.movedNodes == moved)
      #expect(try size(of: path) <= live * 14 / 10 + 512 << 10)
    }
  }

  @Test func `a relaxed commit syncs if the sync frees the space by which the file would grow`() throws {
    var generator = SeededGenerator(seed: 9)
    var options = Database.Options()
    options.compaction.slack = 0
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk, options: options)
    func set(_ key: Int) throws {
      try database.write(.relaxed) { try $0.tree("a").set(generator.bytes(12_000), for: [UInt8(key)]) }
    }
    for key in 0..<40 { try set(key) }
    var largest = 0
    for _ in 0..<400 {
      try set(generator.below(40))
      largest = max(largest, Int(try disk.length()))
    }
    // The values take 480 KB. The file would take 1.9 MB if only the limit for waiting pages led to a sync.
    #expect(largest < 1_500_000)
  }

  // MARK: - The map

  @Test(arguments: 0..<8)
  func `a page map that shrinks and grows gives out only pages that it has`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var map = PageMap(pageCount: 2)
    var taken: [Range<Int>] = []
    for _ in 0..<200 {
      switch generator.below(4) {
      case 0, 1:
        let count = 1 + generator.below(90)
        let size = RunSize(whole: count, staying: count, shortLived: 0)
        let candidate = map.place(size).candidates[0]
        map.take(candidate)
        taken.append(candidate)
      case 2 where !taken.isEmpty:
        map.giveBack(taken.remove(at: generator.below(taken.count)))
      default:
        map.shrink(to: max(map.usedEnd, map.pageCount - generator.below(100)))
      }
      let used = taken.reduce(2) { $0 + $1.count }
      let end = taken.map(\.upperBound).max() ?? 2
      #expect(map.usedEnd == end)
      #expect(map.freeCount == map.pageCount - used)
    }
  }

  @Test func `the end of a file and its sparse stretches are emptied, unless their nodes are pinned`() {
    var map = PageMap(pageCount: 2 + 1022, slack: 16)
    // The first quarter has few nodes, with birth 5. The end has nodes of birth 9.
    for page in stride(from: 4, to: 256, by: 4) { _ = map.claim(unit: page * 64, units: 10, birth: 5) }
    for page in 1000..<1010 { _ = map.claim(unit: page * 64, units: 64, birth: 9) }
    let isChosen = map.chooseEmptied(size: 64, run: 8, pinned: 0)
    #expect(isChosen)
    #expect(map.isEmptied(unit: 1005 * 64, units: 1))
    let size = RunSize(whole: 20, staying: 20, shortLived: 0)
    #expect(map.place(size).candidates[0].upperBound <= 960)
    let isChosenBelowPin = map.chooseEmptied(size: 64, run: 8, pinned: 7)
    #expect(isChosenBelowPin)
    #expect(!map.isEmptied(unit: 8 * 64, units: 10))
    map.emptyNothing()
    #expect(!map.isEmptied(unit: 1005 * 64, units: 1))
  }
}
