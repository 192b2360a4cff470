import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport
import Testing

private class OtherPerson: Object {
  @Persisted(primaryKey: true) var id: String
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Tests of attempts to open a file that is not a realm. They check the error, and that no file is left behind.
@Suite struct UnopenedTests {
  private static func configuration(
    _ path: String, _ key: [UInt8]? = nil, readOnly: Bool = false, seed: String? = nil
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(filePath: path), encryptionKey: key.map { Data($0) }, readOnly: readOnly,
      objectTypes: [Person.self, Dog.self], seedFilePath: seed.map { URL(filePath: $0) })
  }

  /// - Parameter word: A word in the message of the error.
  private func expect(
    _ code: Realm.Error.Code, _ path: String, _ word: String, key: [UInt8]? = nil, seed: String? = nil,
    readOnly: [Bool] = [false, true]
  ) throws {
    for readOnly in readOnly {
      let before = try FolderListing(around: path)
      let error = #expect(throws: Realm.Error.self) {
        try Realm(configuration: Self.configuration(path, key, readOnly: readOnly, seed: seed))
      }
      #expect(error?.code == code && error?.localizedDescription.contains(word) == true, "\(error as Any)")
      #expect(try FolderListing(around: path) == before)
    }
  }

  private static let original =
    [UInt8](repeating: 0, count: 16) + Array("T-DB".utf8) + [24, 23, 0, 0]
    + [UInt8](repeating: 7, count: 4072)

  @Test func `a file of the original Realm has a format that is not supported`() throws {
    try withTemporaryPath { path in
      try Data(Self.original).write(to: URL(filePath: path))
      try expect(.unsupportedFileFormatVersion, path, "original Realm, in its format 24")
      try expect(.unsupportedFileFormatVersion, path, "original Realm, in its format 24", key: Keys.first)
      var generator = SeededGenerator(seed: 3)
      try Data(generator.bytes(8192)).write(to: URL(filePath: path))
      try expect(.invalidDatabase, path, "encrypted file of the original Realm", key: Keys.first)
      try Data("a text".utf8).write(to: URL(filePath: path))
      try expect(.invalidDatabase, path, "is not a realm file")
    }
  }

  @Test func `a file of the first draft has a format that is not supported`() throws {
    let golden = GoldenFile.folder.appending(path: "refused")
    for name in ["plain", "encrypted"] {
      try withTemporaryPath { path in
        try Data(contentsOf: golden.appending(path: "draft-0-\(name).realm")).write(to: URL(filePath: path))
        try expect(.unsupportedFileFormatVersion, path, "draft 0")
        try expect(.unsupportedFileFormatVersion, path, "draft 0", key: Keys.second)
      }
    }
  }

  @Test func `a wrong key and a missing key leave the file unchanged`() throws {
    try withTemporaryPath { path in
      try autoreleasing {
        let realm = try Realm(configuration: Self.configuration(path, Keys.first))
        try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      }
      for suffix in [".management", ".note"] { try FileManager.default.removeItem(atPath: path + suffix) }
      try expect(.invalidDatabase, path, "another key", key: Keys.second)
      try expect(.invalidDatabase, path, "give its 64-byte key")
    }
  }

  @Test(arguments: [nil, Keys.first]) func `an empty file becomes a realm`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      let made = FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
      #expect(made)
      try expect(.invalidDatabase, path, "is empty", key: key, readOnly: [true])
      try autoreleasing {
        let realm = try Realm(configuration: Self.configuration(path, key))
        #expect(realm.isEmpty)
        try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      }
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      try autoreleasing {
        let realm = try Realm(configuration: Self.configuration(path, key, readOnly: true))
        #expect(realm.objects(Person.self).count == 1)
      }
    }
  }

  @Test func `a path below a file, a folder at the path and a missing folder are reported`() throws {
    try withTemporaryPath { path in
      try Data("a file".utf8).write(to: URL(filePath: path))
      let folder = path + ".folder"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      for readOnly in [false, true] {
        for (place, code) in [
          (path + "/below.realm", Realm.Error.Code.fileOperationFailed), (folder, .fileOperationFailed),
          (path + "/much/below.realm", .fileOperationFailed), (folder + "/missing/a.realm", .fileNotFound),
          ("/dev/null/a.realm", .fileOperationFailed),
          (folder + "/" + String(repeating: "a", count: 300), .fileOperationFailed),
        ] {
          let before = try FolderListing(around: path)
          let error = #expect(throws: Realm.Error.self) {
            try Realm(configuration: Self.configuration(place, readOnly: readOnly))
          }
          #expect(error?.code == code, "\(place): \(error as Any)")
          #expect(try FolderListing(around: path) == before)
        }
      }
    }
  }

  @Test func `a seed that is not a realm is not copied, and no folder is made for it`() throws {
    try withTemporaryPath { path in
      let target = path + ".new"
      try Data(Self.original).write(to: URL(filePath: path))
      try expect(.unsupportedFileFormatVersion, target, "original Realm", seed: path)
      try Data("a text".utf8).write(to: URL(filePath: path))
      try expect(.invalidDatabase, target, "is not a realm file", seed: path)
      try expect(
        .invalidDatabase, path + ".folders/that/are/not there.realm", "is not", seed: path, below: path)
      try Data().write(to: URL(filePath: path))
      try expect(.invalidDatabase, target, "is empty", seed: path)
      try FileManager.default.removeItem(atPath: path)
      try expect(.fileNotFound, target, "no seed file", seed: path)
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a realm with damaged nodes leaves no other file, even if it was cleanly closed`(key: [UInt8]?) throws
  {
    try withTemporaryPath { path in
      try autoreleasing {
        let realm = try Realm(configuration: Self.configuration(path, key))
        try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      }
      for suffix in [".management", ".note"] { try FileManager.default.removeItem(atPath: path + suffix) }
      var bytes = try Data(contentsOf: URL(filePath: path))
      for place in 8192..<bytes.count { bytes[place] ^= 0x55 }
      try bytes.write(to: URL(filePath: path))
      try expect(.invalidDatabase, path, "is damaged", key: key)
      // A folder that was there before stays.
      try FileManager.default.createDirectory(
        atPath: path + ".management", withIntermediateDirectories: false)
      try expect(.invalidDatabase, path, "is damaged", key: key)
      try Data("mine".utf8).write(to: URL(filePath: path + ".note"))
      try expect(.invalidDatabase, path, "is damaged", key: key)
    }
  }

  @Test func `classes that do not fit leave no file beside a file that had none`() throws {
    try withTemporaryPath { path in
      try autoreleasing {
        let realm = try Realm(configuration: Self.configuration(path))
        try realm.write { realm.add(Person(id: 1, name: "a", age: 1)) }
      }
      for suffix in [".management", ".note"] { try FileManager.default.removeItem(atPath: path + suffix) }
      let before = try FolderListing(around: path).names
      var other = Self.configuration(path)
      other.objectTypes = [OtherPerson.self]
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
      #expect(error?.code == .schemaMismatch)
      #expect(try FolderListing(around: path).names == before)
      let realm = try Realm(configuration: Self.configuration(path))
      #expect(realm.objects(Person.self).count == 1)
    }
  }

  /// Checks an error in the same way, with the files around another path.
  private func expect(
    _ code: Realm.Error.Code, _ path: String, _ word: String, seed: String, below place: String
  ) throws {
    let before = try FolderListing(around: place)
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: Self.configuration(path, seed: seed))
    }
    #expect(error?.code == code && error?.localizedDescription.contains(word) == true, "\(error as Any)")
    #expect(try FolderListing(around: place) == before)
  }

  @Test func `a seed with damaged nodes leaves no file, and a whole seed makes the folders that it needs`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Database(path: path + ".source")
      for number in 0..<3 { try database.write { try $0.tree("a").set([UInt8(number)], for: [1]) } }
      let whole = try Data(contentsOf: URL(filePath: path + ".source"))
      database.close()
      _ = try Database.removeFiles(path: path + ".source")
      var damaged = whole
      for place in 8192..<damaged.count { damaged[place] ^= 0x55 }
      try damaged.write(to: URL(filePath: path))
      try expect(.invalidDatabase, path + ".new", "is damaged", seed: path)
      try expect(.invalidDatabase, path + ".folder/deep/a.realm", "is damaged", seed: path, below: path)
      try whole.write(to: URL(filePath: path))
      try autoreleasing {
        let realm = try Realm(configuration: Self.configuration(path + ".folder/deep/a.realm", seed: path))
        #expect(realm.isEmpty)
      }
      let names = try FolderListing(around: path + ".folder/deep/a.realm").names
      #expect(names == ["a.realm", "a.realm.management", "a.realm.management/control", "a.realm.note"])
    }
  }
}
