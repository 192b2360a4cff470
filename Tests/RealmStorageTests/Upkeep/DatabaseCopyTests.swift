import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct DatabaseCopyTests {
  private func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  private func fingerprint(_ path: String, key: [UInt8]?) throws -> UInt64 {
    let database = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
    let snapshot = try database.snapshot()
    let check = IntegrityCheck.run(snapshot)
    #expect(check.isClean, "\(check.findings)")
    return try Content.fingerprint(of: snapshot)
  }

  /// Fills a database, whose file then has room for much more than the content.
  private func fill(_ database: Database, seed: UInt64) throws -> TableModel {
    var generator = SeededGenerator(seed: seed)
    var model = TableModel()
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema(TableModel.name, columns: TableModel.ofEachType))
      while model.rows.count < 120 { _ = try model.insert(table, &generator) }
      try transaction.tree("long").set(generator.bytes(200_000), for: [1])
      for number in 0..<500 {
        try transaction.tree("many").set(
          generator.bytes(generator.below(60)), for: [UInt8(number % 251), UInt8(number / 251)])
      }
      try transaction.tree("gone").set(generator.bytes(1_200_000), for: [1])
    }
    try database.write { transaction in
      try transaction.tree("gone").removeAll()
      let table = try #require(try transaction.table(TableModel.name))
      for _ in 0..<100 { _ = try model.change(table, &generator) }
    }
    return model
  }

  @Test(
    arguments: [(nil, nil), (nil, Keys.first), (Keys.first, Keys.second), (Keys.first, nil)]
      as [([UInt8]?, [UInt8]?)])
  func `a copy has the same content in less space, encrypted with the given key`(keys: ([UInt8]?, [UInt8]?))
    throws
  {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: keys.0))
      let model = try fill(database, seed: 3)
      let snapshot = try database.snapshot()
      // Later changes are not in the copy.
      try database.write { try $0.tree("many").removeAll() }
      let target = path + "-copy"
      try snapshot.copy(to: target, encryptionKey: keys.1)
      #expect(try fingerprint(target, key: keys.1) == Content.fingerprint(of: snapshot))
      #expect(try size(target) < size(path) / 2)
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".copy-") }
      #expect(left.isEmpty)
      // New rows of the copy get the next keys.
      let copy = try Database(path: target, options: .init(encryptionKey: keys.1))
      var generator = SeededGenerator(seed: 4)
      var changed = model
      try copy.write { transaction in
        let table = try #require(try transaction.table(TableModel.name))
        for _ in 0..<40 { #expect(try changed.change(table, &generator) == nil) }
      }
      let table = try #require(try copy.snapshot().table(TableModel.name))
      #expect(try changed.difference(to: table, &generator) == nil)
    }
  }

  @Test(arguments: [nil, Keys.first]) func `a transaction can be copied with its changes, and then continues`(
    key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: key))
      var model = try fill(database, seed: 5)
      var generator = SeededGenerator(seed: 6)
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.table(TableModel.name))
      for _ in 0..<50 { _ = try model.change(table, &generator) }
      try transaction.createTable(TableSchema("New", columns: [Column("a", .int64)]))
      try transaction.tree("new").set([1], for: [2])
      try transaction.copy(to: path + "-copy", encryptionKey: key)
      let copied = try fingerprint(path + "-copy", key: key)
      for _ in 0..<50 { _ = try model.change(table, &generator) }
      try transaction.copy(to: path + "-second", encryptionKey: key)
      try transaction.commit()
      #expect(
        try model.difference(to: #require(try database.snapshot().table(TableModel.name)), &generator) == nil)
      #expect(try Content.fingerprint(of: database.snapshot()) == fingerprint(path + "-second", key: key))
      #expect(try copied != fingerprint(path + "-second", key: key))
      #expect(IntegrityCheck.run(try database.snapshot()).isClean)
    }
  }

  @Test func `content larger than the memory of a transaction is copied in parts`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      var generator = SeededGenerator(seed: 8)
      try database.write { transaction in
        for number in 0..<20 {
          let tree = try transaction.tree("t\(number % 3)")
          try tree.set(generator.bytes(150_000), for: [UInt8(number)])
        }
      }
      let snapshot = try database.snapshot()
      var options = Database.Options()
      options.spillBytes = 256 << 10
      try snapshot.copy(to: path + "-copy", options: options)
      #expect(try fingerprint(path + "-copy", key: nil) == Content.fingerprint(of: snapshot))
      #expect(try size(path + "-copy") < 3_200_000)
    }
  }

  @Test func `a copy replaces no file, and an empty database can be copied`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      let error = #expect(throws: StorageError.self) { try database.snapshot().copy(to: path) }
      guard case .system(_, let number, _, _) = error else { return #expect(Bool(false), "\(error!)") }
      #expect(number == EEXIST)
      try database.snapshot().copy(to: path + "-empty")
      #expect(try Database(path: path + "-empty").snapshot().treeNames() == [])
    }
  }

  @Test func `a damaged version is not copied`() throws {
    try withTemporaryPath { path in
      try Database(path: path).write { try $0.tree("a").set([UInt8](repeating: 7, count: 100_000), for: [1]) }
      let handle = try #require(FileHandle(forUpdatingAtPath: path))
      var content = try #require(try handle.readToEnd())
      let place = try #require(content.firstRange(of: [UInt8](repeating: 7, count: 5000)))
      content[place.lowerBound + 2500] ^= 1
      try content.write(to: URL(fileURLWithPath: path))
      let database = try Database(path: path)
      #expect(throws: StorageError.self) { try database.snapshot().copy(to: path + "-copy") }
      #expect(!FileManager.default.fileExists(atPath: path + "-copy"))
    }
  }

  @Test(arguments: [nil, Keys.first]) func `compacting makes a file small and keeps its content`(
    key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      let options = Database.Options(encryptionKey: key)
      let database = try Database(path: path, options: options)
      _ = try fill(database, seed: 9)
      let content = try Content.fingerprint(of: database.snapshot())
      let before = try size(path)
      #expect(try !Database.compact(path: path, options: options), "it is open")
      database.close()
      let brokenOff = path + ".compact-0123456789abcdef"
      for other in [brokenOff, path + ".compact", path + ".compact-mine"] {
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: other))
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
      #expect(try Database.compact(path: path, options: options))
      #expect(try size(path) < before / 2)
      #expect(try fingerprint(path, key: key) == content)
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
        $0.contains(".compact")
      }
      #expect(left.sorted() == ["test.realm.compact", "test.realm.compact-mine"], "what is not ours stays")
      #expect(throws: StorageError.self) {
        _ = try Database.compact(path: path, options: .init(encryptionKey: Keys.second))
      }
    }
  }

  @Test func `compacting a symbolic link compacts the file that it leads to`() throws {
    try withTemporaryPath { path in
      let linked = path + "-link"
      _ = try fill(Database(path: path), seed: 11)
      try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: path)
      let before = try size(path)
      #expect(try Database.compact(path: linked))
      #expect(
        try size(path) < before && FileManager.default.destinationOfSymbolicLink(atPath: linked) == path)
      #expect(try fingerprint(linked, key: nil) == fingerprint(path, key: nil))
    }
  }

  @Test func `a copy has the permissions of its file`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      try database.snapshot().copy(to: path + "-copy")
      let mode = try FileManager.default.attributesOfItem(atPath: path + "-copy")[.posixPermissions] as? Int
      #expect(mode == 0o600)
      try Database(inMemory: "m").snapshot().copy(to: path + "-memory")
      let other =
        try FileManager.default.attributesOfItem(atPath: path + "-memory")[.posixPermissions] as? Int
      #expect(other != 0o600)
    }
  }

  @Test func `threads that open a file while it is compacted find the whole content`() throws {
    try withTemporaryPath { path in
      let expected = try { () throws -> UInt64 in
        let database = try Database(path: path)
        _ = try fill(database, seed: 10)
        return try Content.fingerprint(of: database.snapshot())
      }()
      let done = DispatchGroup()
      for number in 0..<4 {
        DispatchQueue.global().async(group: done) {
          for _ in 0..<6 {
            do {
              if number == 0 {
                _ = try Database.compact(path: path)
              } else {
                let found = try Content.fingerprint(of: Database(path: path).snapshot())
                #expect(found == expected)
              }
            } catch {
              Issue.record("\(error)")
            }
          }
        }
      }
      done.wait()
      #expect(try fingerprint(path, key: nil) == expected)
    }
  }
}
