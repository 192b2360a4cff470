import Foundation
import Synchronization
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A file of no bytes becomes a database: either completely or not at all, only once, and with the mode of the file.
@Suite struct EmptyFileTests {
  private func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  private func makeEmpty(_ path: String, mode: Int = 0o600) throws {
    #expect(
      FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: mode]))
  }

  @Test(arguments: [0o600, 0o644, 0o660, 0o755], [nil, Keys.first])
  func `an empty file becomes a database of the same mode`(mode: Int, key: [UInt8]?) throws {
    try withTemporaryPath { path in
      try makeEmpty(path, mode: mode)
      let options = Database.Options(encryptionKey: key)
      let database = try Database(path: path, options: options)
      try database.write { try $0.tree("a").set([1], for: [1]) }
      database.close()
      #expect(try self.mode(path) == mode)
      #expect(try Database(path: path, options: options).snapshot().tree("a").value(for: [1]) == [1])
      #expect(try FolderListing(around: path).names.filter { $0.contains(".new-") } == [])
      if key != nil {
        #expect(throws: StorageError.keyMissing(path: path)) { try Database(path: path) }
      }
    }
  }

  @Test func `a file that mkstemp made is an empty file`() throws {
    try withTemporaryPath { path in
      var template = Array((path + ".XXXXXX").utf8CString)
      let descriptor = mkstemp(&template)
      #expect(descriptor >= 0)
      let name = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      try Database(path: name).write { try $0.tree("a").set([1], for: [1]) }
      close(descriptor)
      #expect(try mode(name) == 0o600)
      #expect(try Database(path: name).snapshot().tree("a").value(for: [1]) == [1])
    }
  }

  @Test func `opening a symbolic link to an empty file fills the file that the link leads to`() throws {
    try withTemporaryPath { path in
      let target = path + ".target"
      try makeEmpty(target)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
      try Database(path: path).write { try $0.tree("a").set([1], for: [1]) }
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
      #expect(try Database(path: target).snapshot().tree("a").value(for: [1]) == [1])
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `opening an empty file for reading only throws an error and leaves the file empty`(key: [UInt8]?)
    throws
  {
    try withTemporaryPath { path in
      try makeEmpty(path)
      let before = try FolderListing(around: path)
      #expect(throws: StorageError.emptyFile(path: path)) {
        try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
      }
      #expect(throws: StorageError.invalidKeyLength(3)) {
        try Database(path: path, options: .init(encryptionKey: [1, 2, 3]))
      }
      #expect(try FolderListing(around: path) == before)
      #expect("\(StorageError.emptyFile(path: path))".contains("0 bytes"))
    }
  }

  @Test func `files beside an empty file that remain from an earlier database do not affect the new one`()
    throws
  {
    try withTemporaryPath { path in
      do { try Database(path: path).write { try $0.tree("a").set([1], for: [1]) } }
      #expect(truncate(path, 0) == 0)
      let database = try Database(path: path)
      #expect(try database.snapshot().treeNames() == [])
      try database.write { try $0.tree("b").set([1], for: [1]) }
    }
  }

  @Test(arguments: [false, true])
  func `a database that was cut to zero bytes while it is in use is not an empty file`(isReadOnly: Bool)
    throws
  {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { try $0.tree("a").set([1], for: [1]) }
      #expect(truncate(path, 0) == 0)
      let told = StorageError.truncated(path: path, length: 0, needed: 8192)
      #expect(throws: told) { try Database(path: path, options: .init(isReadOnly: isReadOnly)) }
      #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
      database.close()
    }
  }

  /// Each handle writes its own entry, whichever handle made the database of the file.
  @Test func `handles that open an empty file at the same time lose no writes`() throws {
    for round in 0..<20 {
      try withTemporaryPath { path in
        try makeEmpty(path)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
          do {
            let database = try Database(path: path)
            try database.write(.relaxed) { try $0.tree("who").set([1], for: [UInt8(number)]) }
          } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [], "round \(round)")
        #expect(try Database(path: path).snapshot().tree("who").count() == 8, "round \(round)")
        #expect(try FolderListing(around: path).names.filter { $0.contains(".new-") } == [])
      }
    }
  }

  /// Calls `meet` in the moment before the new file takes the place of the empty one, or refuses the rename with the
  /// number that `meet` returns.
  private final class MeetingCalls: SystemCalls {
    private let meet: @Sendable () -> CInt
    let renames = Atomic(0)

    init(_ meet: @escaping @Sendable () -> CInt) { self.meet = meet }

    func rename(_ path: String, to other: String) -> CInt {
      renames.add(1, ordering: .relaxed)
      let refusal = meet()
      return refusal == 0 ? NativeSystemCalls().rename(path, to: other) : refusal
    }
  }

  @Test(arguments: [ENOSPC, EXDEV, EIO])
  func `a new file that can't take the place of the empty one leaves the empty one alone`(refusal: CInt)
    throws
  {
    try withTemporaryPath { path in
      try makeEmpty(path)
      let before = try FolderListing(around: path)
      #expect(throws: StorageError.system(call: .rename, errno: refusal, path: path, offset: nil)) {
        try Database(path: path, options: .init(), calls: MeetingCalls { refusal })
      }
      #expect(try FolderListing(around: path) == before)
      try Database(path: path).close()
    }
  }

  /// During the first sync, another program fills the file while the new file waits for the disk.
  private final class SlowSync: SystemCalls {
    private let path: String
    private let isDone = Atomic(false)

    init(_ path: String) { self.path = path }

    func sync(_ descriptor: CInt, kind: SyncKind) -> CInt {
      if !isDone.exchange(true, ordering: .relaxed) {
        #expect(throws: Never.self) { try Data("mine".utf8).write(to: URL(filePath: path)) }
      }
      return NativeSystemCalls().sync(descriptor, kind: kind)
    }
  }

  @Test func `bytes that another program writes to an empty file while it is opened are not lost`() throws {
    try withTemporaryPath { path in
      try makeEmpty(path)
      #expect(throws: StorageError.notARealmFile(path: path)) {
        try Database(path: path, options: .init(), calls: SlowSync(path))
      }
      #expect(try FolderListing(around: path).names == ["test.realm"])
      #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
    }
  }
}
