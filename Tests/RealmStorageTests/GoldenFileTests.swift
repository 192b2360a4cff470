import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files that earlier libraries wrote. The engine reads the values that were stored, or refuses the file and names the
/// reason.
///
/// `REALM_WRITE_GOLDEN=1 swift test --filter Golden` writes the files of the current format that do not exist yet.
@Suite(.serialized) struct GoldenFileTests {
  private static let samples = GoldenFile.all.filter { $0.content == .sample }
  private static let structures = GoldenFile.all.filter { $0.content == .structures }
  private static let drafts = GoldenFile.all.filter { $0.format == .draft4 }

  @Test(
    .enabled(if: GoldenFile.isWritten),
    arguments: (samples + structures).filter { $0.format == .one })
  func `files of the current format are written where that is asked for`(file: GoldenFile) throws {
    guard !FileManager.default.fileExists(atPath: file.url.path) else { return }
    guard file.content == .sample else {
      try Data(GoldenStructures.bytes(key: file.key, isClean: file.isClean)).write(to: file.url)
      return
    }
    try withTemporaryPath { path in
      try GoldenSample.make(path, key: file.key)
      try Data(contentsOf: URL(filePath: path)).write(to: file.url)
    }
  }

  // MARK: - What stands in them

  @Test(arguments: samples)
  func `a file holds the values that were stored`(file: GoldenFile) throws {
    try withCopy(of: file) { path in
      for isReadOnly in [true, false] {
        let database = try Database(
          path: path, options: .init(encryptionKey: file.key, isReadOnly: isReadOnly))
        let snapshot = try database.snapshot()
        #expect(IntegrityCheck.run(snapshot).problem == nil)
        try expectSample(snapshot)
        #expect(database.fellBackTo == nil)
        if !isReadOnly { try database.write { try $0.tree("settings").set([1], for: [2]) } }
      }
    }
  }

  @Test(arguments: structures)
  func `a file with every structure is whole, also after a change`(file: GoldenFile) throws {
    try withCopy(of: file) { path in
      for isReadOnly in [true, false] {
        let database = try Database(
          path: path, options: .init(encryptionKey: file.key, isReadOnly: isReadOnly))
        let snapshot = try database.snapshot()
        #expect(IntegrityCheck.run(snapshot).findings.isEmpty)
        #expect(database.fellBackTo == nil)
        try expectStructures(database, snapshot)
        guard !isReadOnly else { continue }
        try database.write { transaction in
          let table = try transaction.table("City")
          _ = try table?.insert(["number": .int(7), "country": .string("Fiji")])
        }
        #expect(try IntegrityCheck.run(database.snapshot()).findings.isEmpty)
        database.close()
        let again = try Database(path: path, options: .init(encryptionKey: file.key))
        try expectStructures(again, again.snapshot(), dropsColumn: nil)
      }
    }
  }

  /// - Parameter dropsColumn: Whether the file must still hold a part of a dropped column. Commits take such parts
  ///   away.
  private func expectStructures(_ database: Database, _ snapshot: Snapshot, dropsColumn: Bool? = true) throws
  {
    let kinds: Set<NodeKind?> = Set(try snapshot.nodes().map(\.kind))
    #expect(kinds == Set(NodeKind.allCases))
    let tables = try snapshot.schemas()
    #expect(tables.contains { $0.isEmbedded } && tables.contains { $0.hasElementIDs })
    let columns = tables.flatMap(\.columns)
    for type in ColumnType.allCases {
      for collection in [ColumnCollection.none, .list, .set, .map] {
        #expect(columns.contains { $0.type == type && $0.collection == collection }, "\(type), \(collection)")
      }
      for index in [ColumnIndex.none, .plain] where index == .none || type.canHave(index) {
        #expect(columns.contains { $0.type == type && $0.index == index }, "\(type), \(index)")
      }
    }
    #expect(columns.contains { $0.storedDefault != nil })
    let cities = try #require(try snapshot.table("City"))
    #expect(!cities.dictionaries.all.isEmpty)
    if let dropsColumn { #expect(cities.schema.droppedColumns.isEmpty != dropsColumn) }
    let earlier = try #require(try database.snapshot(named: GoldenStructures.version))
    #expect(try earlier.table("Gone")?.count == 100)
    #expect(try earlier.table("City")?.schema.column("dropped") != nil)
    #expect(IntegrityCheck.run(earlier).findings.isEmpty)
  }

  // MARK: - Drafts

  /// A program that only reads a file must not change its number: the library that wrote the file could not open it
  /// then.
  @Test(arguments: drafts)
  func `a file of the last draft gets number 1 by its first write, and not before`(file: GoldenFile) throws {
    let options = Self.options(file)
    let before = try file.bytes()
    #expect(Self.numbers(before) == [[0, 4], [0, 4]])
    try withCopy(of: file) { path in
      var reading = options
      reading.isReadOnly = true
      let text = try Self.text(of: Database(path: path, options: reading))
      #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == before)
      #expect(try Self.text(of: Database(path: path, options: options)) == text)
      // If the file was not closed cleanly, opening it recovers it, and closing it again writes to it.
      #expect(try Self.numbers(of: path) == (file.isClean ? [[0, 4], [0, 4]] : [[1, 0], [1, 0]]))
      let database = try Database(path: path, options: options)
      try database.write { try $0.tree("added").set([1], for: [2]) }
      #expect(try Self.numbers(of: path).contains([1, 0]))
      database.close()
      #expect(try Self.numbers(of: path) == [[1, 0], [1, 0]])
      let again = try Database(path: path, options: options)
      #expect(try again.snapshot().tree("added").value(for: [2]) == [1])
      try again.write { try $0.tree("added").removeAll() }
      #expect(try Self.text(of: again) == text)
      #expect(try IntegrityCheck.run(again.snapshot()).findings.isEmpty)
    }
  }

  /// The file has the state in which a process left it that died after its first commit.
  @Test(arguments: drafts)
  func `a file with one meta page of the last draft is read and written`(file: GoldenFile) throws {
    let options = Self.options(file)
    try withCopy(of: file) { path in
      let database = try Database(path: path, options: options)
      try database.write { try $0.tree("added").set([1], for: [2]) }
      let copy = path + ".copy"
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      withExtendedLifetime(database) {}
      #expect(Set(try Self.numbers(of: copy)) == [[0, 4], [1, 0]])
      let again = try Database(path: copy, options: options)
      #expect(try again.snapshot().tree("added").value(for: [2]) == [1])
      #expect(try IntegrityCheck.run(again.snapshot()).findings.isEmpty)
      try again.write { try $0.tree("added").set([3], for: [2]) }
      again.close()
      #expect(try Self.numbers(of: copy) == [[1, 0], [1, 0]])
    }
  }

  @Test(arguments: drafts)
  func `copies and compacted files of a file of the last draft have number 1`(file: GoldenFile) throws {
    let options = Self.options(file)
    try withCopy(of: file) { path in
      let text = try Self.text(of: Database(path: path, options: options))
      let copy = path + ".copy"
      do {
        let database = try Database(path: path, options: options)
        if file.content == .structures { try database.dropVersion(named: GoldenStructures.version) }
        try database.snapshot().copy(to: copy, encryptionKey: file.key)
      }
      try Database.compact(path: path, options: options)
      for path in [copy, path] {
        #expect(try Self.numbers(of: path) == [[1, 0], [1, 0]])
        #expect(try Self.text(of: Database(path: path, options: options)) == text)
      }
    }
  }

  /// The newest version is on the page of format 1, and that page is damaged.
  @Test(arguments: drafts.filter(\.isClean))
  func `a damaged page of format 1 beside a page of the last draft is replaced`(file: GoldenFile) throws {
    let options = Self.options(file)
    try withCopy(of: file) { path in
      let text = try Self.text(of: Database(path: path, options: options))
      let copy = path + ".copy"
      do {
        let database = try Database(path: path, options: options)
        try database.write { try $0.tree("added").set([1], for: [2]) }
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let page = Self.numbers(bytes).firstIndex(of: [1, 0]) ?? 0
        bytes[page * FilePlace.page + 100] ^= 1
        try Data(bytes).write(to: URL(filePath: copy))
        withExtendedLifetime(database) {}
      }
      #expect(try Self.text(of: Database(path: copy, options: options)) == text)
      #expect(try Self.numbers(of: copy) == [[1, 0], [1, 0]])
    }
  }

  @Test(arguments: 0..<4 as Range<UInt32>, [false, true])
  func `a file of an earlier draft is refused with the number of the draft, whatever the options are`(
    draft: UInt32, isEncrypted: Bool
  ) throws {
    let name = "refused/draft-\(draft)-\(isEncrypted ? "encrypted" : "plain").realm"
    let golden = try Data(contentsOf: GoldenFile.folder.appending(path: name))
    for given in [nil, GoldenFile.key, Keys.second] {
      for isReadOnly in [true, false] {
        try withTemporaryPath { path in
          try golden.write(to: URL(filePath: path))
          let before = try FolderListing(around: path)
          let told = StorageError.unsupportedDraft(found: draft, supported: MetaPage.lastDraft, path: path)
          #expect(throws: told) {
            try Database(path: path, options: .init(encryptionKey: given, isReadOnly: isReadOnly))
          }
          #expect(try FolderListing(around: path) == before)
        }
      }
    }
  }

  // MARK: - Helpers

  private static func options(_ file: GoldenFile) -> Database.Options {
    var options = Database.Options(encryptionKey: file.key)
    options.history = file.content.isSynced ? .synced : .local
    return options
  }

  private func withCopy(of file: GoldenFile, _ body: (_ path: String) throws -> Void) throws {
    try withTemporaryPath { path in
      try Data(file.bytes()).write(to: URL(filePath: path))
      try body(path)
    }
  }

  /// The number of the format and the number of the draft in each meta page.
  private static func numbers(_ bytes: [UInt8]) -> [[UInt32]] {
    (0..<2).map { page in [8, 52].map { bytes.load(UInt32.self, at: page * FilePlace.page + $0) } }
  }

  private static func numbers(of path: String) throws -> [[UInt32]] {
    numbers([UInt8](try Data(contentsOf: URL(filePath: path))))
  }

  /// All rows of all tables, all entries of all trees, and the changes that are recorded for a server.
  private static func text(of database: Database) throws -> String {
    var text = ""
    let snapshot = try database.snapshot()
    for schema in try snapshot.schemas() {
      try snapshot.table(schema.name)?.forEach { (key, values) throws(StorageError) in
        text += "\(schema.name) \(key) \(values)\n"
        return true
      }
    }
    for name in try snapshot.treeNames() {
      try snapshot.tree(name).forEach { (key, value) throws(StorageError) in
        text += "\(name) \(key) \(value)\n"
        return true
      }
    }
    try snapshot.changelog()?.forEach(snapshot) { changeset in
      text += "\(changeset.sequence) \(changeset.bytes)\n"
      return true
    }
    return text
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

  /// The value that remains after rows were removed: links to these rows are null.
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
