import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct CollectionDiffTests {
  private static let name = "Owners"

  private func database(_ column: Column) throws -> (Database, row: UInt64) {
    let database = try Database(creatingIn: SimulatedDisk(), options: Database.Options())
    var row: UInt64 = 0
    try database.write { transaction in
      row = try transaction.createTable(TableSchema(Self.name, columns: [column])).insert([:])
    }
    return (database, row)
  }

  private func changes(_ new: Snapshot, since old: Snapshot, _ row: UInt64) throws -> CollectionChanges {
    try #require(try new.collectionChanges(inTable: Self.name, column: 0, ofRow: row, since: old))
  }

  /// Applies the changes to the older elements.
  private func apply(_ changes: ElementChanges, to old: [Value], _ new: [Value]) -> [Value] {
    var elements: [Value?] = old
    for change in changes.modifications { elements[change.old] = new[change.new] }
    for place in changes.deletions.reversed() { elements.remove(at: place) }
    for place in changes.insertions { elements.insert(new[place], at: place) }
    return elements.compactMap { $0 }
  }

  @Test(arguments: 0..<8)
  func `the changes of a list lead from the older elements to the newer ones`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (database, row) = try database(Column("list", .int64, collection: .list))
    let length = seed % 2 == 0 ? 40 : 6000
    var elements = (0..<length).map { Value.int(Int64($0 * 3)) }
    _ = try database.write { try $0.table(Self.name)?.append(elements, toList: 0, ofRow: row) }
    for round in 0..<12 {
      let before = try database.snapshot()
      let old = elements
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        for _ in 0..<1 + generator.below(6) {
          let place = generator.below(elements.count)
          let value = Value.int(Int64(generator.below(30)))
          switch generator.below(4) {
          case 0:
            elements.insert(value, at: place)
            try table.insert([value], at: place, ofList: 0, ofRow: row)
          case 1:
            elements[place] = value
            try table.setElement(value, at: place, ofList: 0, ofRow: row)
          case 2:
            let end = min(elements.count, place + 1 + generator.below(3))
            elements.removeSubrange(place..<end)
            try table.removeElements(place..<end, ofList: 0, ofRow: row)
          default:
            let other = generator.below(elements.count)
            elements.insert(elements.remove(at: place), at: other)
            try table.moveElement(from: place, to: other, ofList: 0, ofRow: row)
          }
        }
      }
      guard case .list(let found) = try changes(database.snapshot(), since: before, row) else {
        Issue.record("no list")
        return
      }
      #expect(apply(found, to: old, elements) == elements, "seed \(seed) round \(round)")
      // There are no more changes than a direct comparison of both lists finds.
      let few = ListChanges(from: old, to: elements)
      #expect(found.deletions.count + found.modifications.count == few.deletions.count)
      #expect(found.insertions.count + found.modifications.count == few.insertions.count)
    }
  }

  @Test
  func `a replaced value is a modification, and several values in one gap are paired from the first on`()
    throws
  {
    let (database, row) = try database(Column("list", .int64, collection: .list))
    let list = { (numbers: [Int64]) in Value.list(numbers.map { .int($0) }) }
    _ = try database.write { try $0.table(Self.name)?.set(list([1, 2, 3, 4, 5]), 0, ofRow: row) }
    let before = try database.snapshot()
    _ = try database.write { try $0.table(Self.name)?.set(list([1, 20, 30, 31, 4, 50, 6]), 0, ofRow: row) }
    var expected = ElementChanges()
    expected.modifications = [.init(old: 1, new: 1), .init(old: 2, new: 2), .init(old: 4, new: 5)]
    expected.insertions = [3, 6]
    #expect(try changes(database.snapshot(), since: before, row) == .list(expected))
    #expect(try changes(before, since: before, row).isEmpty)
  }

  @Test func `the change of one element of a long list reads few nodes`() throws {
    let storage = try CountingStorage()
    var row: UInt64 = 0
    do {
      let database = try Database(creatingIn: storage)
      try database.write { transaction in
        let table = try transaction.createTable(
          TableSchema(Self.name, columns: [Column("list", .int64, collection: .list)]))
        row = try table.insert([:])
        try table.append((0..<200_000).map { Value.int($0 << 30) }, toList: 0, ofRow: row)
      }
      database.close()
    }
    // A new handle has not read any leaf yet.
    let database = try Database(storage: storage, options: .init())
    let old = try database.snapshot()
    _ = try database.write { try $0.table(Self.name)?.insert([.int(-1)], at: 100_000, ofList: 0, ofRow: row) }
    let new = try database.snapshot()
    let before = storage.nodesLookedAt
    var expected = ElementChanges()
    expected.insertions = [100_000]
    #expect(try changes(new, since: old, row) == .list(expected))
    let after = storage.nodesLookedAt
    #expect(after - before <= 16)
    // The count is meaningful, because a read of all elements reads many more nodes.
    #expect(try new.table(Self.name)?.list(0, ofRow: row)?.elements().count == 200_001)
    #expect(storage.nodesLookedAt - after > 300)
  }

  @Test(arguments: 0..<6)
  func `the changes of sets and maps list each element and key`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let isSet = seed % 2 == 0
    let (database, row) = try database(
      Column("sorted", isSet ? .string : .int64, collection: isSet ? .set : .map))
    let many = seed < 3 ? 12 : 900
    var (elements, map): ([Value], ValueMap) = ([], ValueMap())
    for round in 0..<8 {
      let before = try database.snapshot()
      let (oldElements, oldMap) = (elements, map)
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        for _ in 0..<(round == 0 ? many : 5) {
          let key = "key \(generator.below(2 * many))"
          if isSet, generator.chance(70) {
            elements = Value.set(elements + [.string(key)]).elements ?? []
            try table.insert([.string(key)], intoSet: 0, ofRow: row)
          } else if isSet {
            elements.removeAll { $0 == .string(key) }
            try table.remove(.string(key), fromSet: 0, ofRow: row)
          } else if generator.chance(70) {
            map[key] = .int(Int64(generator.below(3)))
            try table.setValue(map[key] ?? .null, forKey: key, ofMap: 0, ofRow: row)
          } else {
            map[key] = nil
            try table.removeValue(forKey: key, ofMap: 0, ofRow: row)
          }
        }
      }
      let found = try changes(database.snapshot(), since: before, row)
      if case .set(let changes) = found {
        #expect(apply(changes, to: oldElements, elements) == elements, "seed \(seed) round \(round)")
        #expect(changes.insertions.allSatisfy { !oldElements.contains(elements[$0]) })
      } else if case .map(let changes) = found {
        #expect(changes.deletions == oldMap.keys.filter { map[$0] == nil })
        #expect(changes.insertions == map.keys.filter { oldMap[$0] == nil })
        #expect(changes.modifications == map.keys.filter { oldMap[$0] != nil && oldMap[$0] != map[$0] })
      } else {
        Issue.record("no set and no map")
      }
    }
  }

  @Test func `map keys that share a thousand bytes are distinguished`() throws {
    let (database, row) = try database(Column("map", .int64, collection: .map))
    let shared = String(repeating: "k", count: 1000)
    _ = try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      for key in ["a", "c"] { try table.setValue(.int(1), forKey: shared + key, ofMap: 0, ofRow: row) }
      for number in 0..<600 { try table.setValue(.int(2), forKey: "\(number)", ofMap: 0, ofRow: row) }
    }
    let before = try database.snapshot()
    _ = try database.write {
      try $0.table(Self.name)?.setValue(.int(1), forKey: shared + "b", ofMap: 0, ofRow: row)
    }
    var expected = KeyChanges()
    expected.insertions = [shared + "b"]
    #expect(try changes(database.snapshot(), since: before, row) == .map(expected))
    (expected.insertions, expected.deletions) = ([], [shared + "b"])
    #expect(try changes(before, since: database.snapshot(), row) == .map(expected))
  }
}
