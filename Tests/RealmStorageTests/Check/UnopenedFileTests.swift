import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Facts about a file that can be read without opening it.
@Suite struct UnopenedFileTests {
  @Test(arguments: [nil, Keys.first])
  func `the id of a file, and whether the file is open, can be read without its key`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: DatabaseOptions(encryptionKey: key))
      let number = try Database.fileID(path: path)
      #expect(try number.count == 16 && number == FileInfo(database).fileID)
      #expect(try Database.isOpen(path: path))
      try database.write { try $0.tree("notes").set([1], for: [1]) }
      #expect(try Database.fileID(path: path) == number)
      database.close()
      #expect(try !Database.isOpen(path: path) && Database.fileID(path: path) == number)
      // Another file at the same path has another id.
      #expect(try Database.removeFiles(path: path))
      try Database(path: path, options: DatabaseOptions(encryptionKey: key)).close()
      #expect(try Database.fileID(path: path) != number)
    }
  }

  @Test func `a file of another kind and a missing file have no id`() throws {
    try withTemporaryPath { path in
      #expect(throws: StorageError.self) { try Database.fileID(path: path) }
      #expect(throws: StorageError.self) { try Database.isOpen(path: path) }
      #expect(FileManager.default.createFile(atPath: path, contents: Data("Dear reader".utf8)))
      #expect(throws: StorageError.notARealmFile(path: path)) { try Database.fileID(path: path) }
      let isOpen = try Database.isOpen(path: path)
      #expect(!isOpen)
    }
  }
}
