import Foundation
import TestSupport
import Testing

@testable import RealmStorage

/// Files that the library of each draft wrote: what it stored is read as it was meant, or the file is refused by name.
///
/// `REALM_WRITE_GOLDEN=1 swift test --filter GoldenFileTests` writes those of the current draft anew.
@Suite(.serialized) struct GoldenFileTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
  fileprivate static let current = Int(MetaPage.draft)

  private static func file(draft: Int, key: [UInt8]?) -> URL {
    folder.appending(path: "draft-\(draft)-\(key == nil ? "plain" : "encrypted").realm")
  }

  @Test(
    .enabled(if: ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] == "1"),
    arguments: [nil, GoldenSample.key])
  func `the files of the current draft are written where that is asked for`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      try GoldenSample.make(path, key: key)
      try Data(contentsOf: URL(filePath: path)).write(to: Self.file(draft: Self.current, key: key))
    }
  }

  @Test(arguments: [nil, GoldenSample.key])
  func `a file of the current draft holds what was stored`(key: [UInt8]?) throws {
    let golden = try Data(contentsOf: Self.file(draft: Self.current, key: key))
    #expect(golden.count <= 96 << 10)
    for isReadOnly in [true, false] {
      try withTemporaryPath { path in
        try golden.write(to: URL(filePath: path))
        let database = try Database(
          path: path, options: .init(encryptionKey: key, isReadOnly: isReadOnly))
        let snapshot = try database.snapshot()
        #expect(IntegrityCheck.run(snapshot).problem == nil)
        try expectSample(snapshot)
        #expect(database.fellBackTo == nil)
        if !isReadOnly { try database.write { try $0.tree("settings").set([1], for: [2]) } }
      }
    }
  }

  /// Every draft before this one.
  @Test(arguments: 0..<GoldenFileTests.current, [nil, GoldenSample.key])
  func `a file of an earlier draft is refused by name, whatever it is opened with`(draft: Int, key: [UInt8]?)
    throws
  {
    let golden = try Data(contentsOf: Self.file(draft: draft, key: key))
    #expect(golden.count <= 96 << 10)
    for given in [nil, GoldenSample.key, Keys.second] {
      for isReadOnly in [true, false] {
        try withTemporaryPath { path in
          try golden.write(to: URL(filePath: path))
          let before = try FolderListing(around: path)
          let told = StorageError.unsupportedDraft(
            found: UInt32(draft), supported: MetaPage.draft, path: path)
          #expect(throws: told) {
            try Database(path: path, options: .init(encryptionKey: given, isReadOnly: isReadOnly))
          }
          #expect(try FolderListing(around: path) == before)
        }
      }
    }
  }

  private func expectSample(_ snapshot: Snapshot) throws {
    #expect(try snapshot.treeNames() == ["long", "settings"])
    #expect(try snapshot.tree("long").value(for: [1, 2, 3]) == GoldenSample.longValue)
    for (key, value) in GoldenSample.settings {
      #expect(try snapshot.tree("settings").value(for: key) == value)
    }
    let places = try #require(try snapshot.table("Place"))
    var names: [Value] = []
    try places.forEach { (_, values) throws(StorageError) in
      names += values
      return true
    }
    #expect(names == GoldenSample.places.map { .string($0) })
    try expectThings(try #require(try snapshot.table("Thing")), places)
  }

  private func expectThings(_ things: Table, _ places: Table) throws {
    let expected = GoldenSample.columns(linkingTo: places.schema.id)
    let columns = things.schema.columns
    #expect(columns.map(\.name) == expected.map(\.name) && columns.map(\.type) == expected.map(\.type))
    #expect(columns.map(\.index) == expected.map(\.index))
    let numbers = GoldenSample.rows.filter { !GoldenSample.removed.contains(UInt64($0)) }
    var keys: [UInt64] = []
    try things.forEach { (key, values) throws(StorageError) in
      keys.append(key)
      for (column, value) in zip(columns, values) {
        #expect(value == Self.left(column, Int64(key)), "\(column.name) of row \(key)")
      }
      return true
    }
    #expect(keys == numbers.map { UInt64($0) })
    try expectIndexes(things, numbers)
  }

  /// What is left of a value when rows were removed: links to them are null.
  private static func left(_ column: Column, _ number: Int64) -> Value {
    let value = GoldenSample.value(column, number)
    if column.name == "next", case .link(let row) = value, GoldenSample.removed.contains(row) { return .null }
    return value
  }

  private func expectIndexes(_ things: Table, _ numbers: [Int64]) throws {
    for name in ["indexed int64", "indexed string", "id"] {
      let column = try #require(things.schema.column(name))
      for number in numbers {
        let value = GoldenSample.value(column, number)
        let same = numbers.filter { GoldenSample.value(column, $0) == value }.map { UInt64($0) }
        #expect(try things.rows(with: value, in: column) == same, "\(name) of \(number)")
      }
    }
  }
}
