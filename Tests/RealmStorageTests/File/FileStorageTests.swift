import Dispatch
import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

@Suite struct FileStorageTests {
  private static func content(of path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private static func names(beside path: String) throws -> [String] {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  private static func withStorage(
    calls: any SystemCalls = NativeSystemCalls(), _ body: (FileStorage, String) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      try FileStorage.create(path: path, content: [])
      let storage = try FileStorage(path: path, readOnly: false, calls: calls)
      try body(storage, path)
      storage.close()
    }
  }

  // MARK: - Making a file

  @Test func `creating a file that exists leaves the existing file`() throws {
    try withTemporaryPath { path in
      #expect(!FileStorage.exists(path))
      try FileStorage.create(path: path, content: [1, 2, 3])
      #expect(FileStorage.exists(path))
      try FileStorage.create(path: path, content: [4])
      #expect(try Self.content(of: path) == [1, 2, 3])
      #expect(try Self.names(beside: path) == ["test.realm"])
    }
  }

  @Test(arguments: 0..<4)
  func `a file that many threads create at once has the content of one of them`(round: Int) throws {
    try withTemporaryPath { path in
      let errors = Mutex<[StorageError]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        do throws(StorageError) {
          try FileStorage.create(path: path, content: [UInt8](repeating: UInt8(number), count: 20_000))
        } catch {
          errors.withLock { $0.append(error) }
        }
      }
      let thrown = errors.withLock { $0 }
      #expect(thrown == [])
      let content = try Self.content(of: path)
      let kinds = Set(content)
      #expect(content.count == 20_000)
      #expect(kinds.count == 1)
      #expect(try Self.names(beside: path) == ["test.realm"])
    }
  }

  @Test func `creating a file in a missing folder is an error`() throws {
    try withTemporaryPath { path in
      let nowhere = path + "/nowhere/test.realm"
      #expect(throws: StorageError.system(call: .open, errno: ENOENT, path: nowhere, offset: nil)) {
        try FileStorage.create(path: nowhere, content: [1])
      }
    }
  }

  @Test(arguments: [false, true])
  func `opening a missing file is an error`(readOnly: Bool) throws {
    try withTemporaryPath { path in
      #expect(throws: StorageError.system(call: .open, errno: ENOENT, path: path, offset: nil)) {
        _ = try FileStorage(path: path, readOnly: readOnly)
      }
      return ()
    }
  }

  // MARK: - Reading and writing

  @Test(arguments: 0..<6)
  func `written bytes are read through calls and through the mapping`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    try Self.withStorage { storage, path in
      var model: [UInt8] = []
      for _ in 0..<40 {
        let offset = generator.below(20_000)
        let bytes = generator.bytes(1 + generator.below(2000))
        let end = offset + bytes.count
        if model.count < end { model += [UInt8](repeating: 0, count: end - model.count) }
        model.replaceSubrange(offset..<end, with: bytes)
        try storage.write(bytes, at: UInt64(offset))
      }
      try storage.sync(.data)
      try storage.sync(.all)
      let whole = try storage.read(model.count + 100, at: 0)
      let mapped = [UInt8](UnsafeRawBufferPointer(start: storage.mapping.base, count: model.count))
      let part = try storage.read(500, at: 700)
      let past = try storage.read(10, at: UInt64(model.count))
      #expect(try storage.length() == UInt64(model.count))
      #expect(whole == model)
      #expect(mapped == model)
      #expect(part == Array(model[700..<1200]))
      #expect(past == [])
      #expect(try Self.content(of: path) == model)
      try storage.truncate(to: 600)
      #expect(try storage.read(1000, at: 500) == Array(model[500..<600]))
    }
  }

  @Test func `a file that outgrows its mapping gets a larger one, and the old mapping stays usable`() throws {
    try Self.withStorage { storage, path in
      let before = storage.mapping
      try storage.write([7], at: 100)
      try storage.reserve(UInt64(before.size) + 1)
      let after = storage.mapping
      #expect(after.size > before.size)
      let bytes = [before, after].map { $0.base.load(fromByteOffset: 100, as: UInt8.self) }
      #expect(bytes == [7, 7])
      #expect(throws: StorageError.limitExceeded(.fileSize, path: path)) {
        try storage.reserve(FileLimit.bytes + 1)
      }
    }
  }

  // MARK: - A system that does less than asked

  /// A system that transfers only a part of the bytes, or none because a signal interrupts the call.
  private final class ShakyCalls: SystemCalls {
    private let generator: Mutex<SeededGenerator>
    private let native = NativeSystemCalls()

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    /// The number of bytes to transfer, or nil for an interruption.
    private func part(of count: Int) -> Int? {
      generator.withLock { generator in generator.chance(40) ? nil : 1 + generator.below(count) }
    }

    func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
      guard let count = part(of: buffer.count) else { return -Int(EINTR) }
      let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      return native.read(descriptor, into: slice, at: offset)
    }

    func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      guard let count = part(of: buffer.count) else { return -Int(EINTR) }
      let slice = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      return native.write(descriptor, from: slice, at: offset)
    }

    func sync(_ descriptor: CInt, kind: SyncKind) -> CInt { native.sync(descriptor, kind: kind) }
    func truncate(_ descriptor: CInt, to length: UInt64) -> CInt { native.truncate(descriptor, to: length) }
  }

  @Test(arguments: 0..<10)
  func `short transfers and interruptions lose no bytes`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bytes = generator.bytes(200_000)
    try Self.withStorage(calls: ShakyCalls(seed: seed)) { storage, path in
      try storage.write(bytes, at: 5000)
      #expect(try storage.read(200_000, at: 5000) == bytes)
      #expect(try storage.read(300_000, at: 5000) == bytes)
      #expect(try Self.content(of: path) == [UInt8](repeating: 0, count: 5000) + bytes)
    }
  }

  /// Notes the range that each call writes.
  private final class NotingCalls: SystemCalls {
    let written = Mutex<[Range<UInt64>]>([])

    func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      written.withLock { $0.append(offset..<offset + UInt64(buffer.count)) }
      return NativeSystemCalls().write(descriptor, from: buffer, at: offset)
    }
  }

  @Test func `a long write is made in calls that end at multiples of 64 KiB`() throws {
    let calls = NotingCalls()
    try Self.withStorage(calls: calls) { storage, _ in
      calls.written.withLock { $0 = [] }
      try storage.write([UInt8](repeating: 1, count: 200_000), at: 61_440)
      let ends: [UInt64] = [61_440, 65_536, 131_072, 196_608, 261_440]
      #expect(calls.written.withLock { $0 } == zip(ends, ends.dropFirst()).map { $0..<$1 })
    }
  }

  /// Once `begin()` was called, each call returns the same result, whatever its arguments.
  private final class FixedCalls: SystemCalls {
    private let transferred: Int
    private let refusal: CInt
    private let hasBegun = Atomic(false)

    init(transferred: Int, refusal: CInt) {
      self.transferred = transferred
      self.refusal = refusal
    }

    func begin() { hasBegun.store(true, ordering: .relaxed) }

    func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
      transferred
    }
    func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
      hasBegun.load(ordering: .relaxed)
        ? transferred : NativeSystemCalls().write(descriptor, from: buffer, at: offset)
    }
    func sync(_ descriptor: CInt, kind: SyncKind) -> CInt { refusal }
    func truncate(_ descriptor: CInt, to length: UInt64) -> CInt { refusal }
  }

  @Test func `calls that are interrupted without end fail with an error`() throws {
    let calls = FixedCalls(transferred: -Int(EINTR), refusal: 0)
    try Self.withStorage(calls: calls) { storage, path in
      calls.begin()
      #expect(throws: StorageError.system(call: .read, errno: EINTR, path: path, offset: 0)) {
        try storage.read(10, at: 0)
      }
      #expect(throws: StorageError.system(call: .write, errno: EINTR, path: path, offset: 64)) {
        try storage.write([1], at: 64)
      }
    }
  }

  @Test(arguments: [EIO, ENOSPC])
  func `a refusal of the system is reported with its call and number`(refusal: CInt) throws {
    let calls = FixedCalls(transferred: -Int(refusal), refusal: refusal)
    try Self.withStorage(calls: calls) { storage, path in
      calls.begin()
      #expect(throws: StorageError.system(call: .read, errno: refusal, path: path, offset: 4096)) {
        try storage.read(10, at: 4096)
      }
      #expect(throws: StorageError.system(call: .write, errno: refusal, path: path, offset: 8192)) {
        try storage.write([1, 2, 3], at: 8192)
      }
      #expect(throws: StorageError.system(call: .sync, errno: refusal, path: path, offset: nil)) {
        try storage.sync(.data)
      }
      #expect(throws: StorageError.system(call: .truncate, errno: refusal, path: path, offset: 512)) {
        try storage.truncate(to: 512)
      }
    }
  }

  @Test func `a disk that writes zero bytes is reported as full`() throws {
    let calls = FixedCalls(transferred: 0, refusal: 0)
    try Self.withStorage(calls: calls) { storage, path in
      calls.begin()
      #expect(throws: StorageError.system(call: .write, errno: ENOSPC, path: path, offset: 64)) {
        try storage.write([1], at: 64)
      }
      let nothing = try storage.read(10, at: 0)
      #expect(nothing == [])
    }
  }

  // MARK: - Locks

  @Test func `one open file at a time has the writer's lock`() throws {
    try Self.withStorage { first, path in
      let second = try FileStorage(path: path, readOnly: false)
      #expect(try first.lock(.writer, waits: false))
      #expect(try !second.lock(.writer, waits: false))
      #expect(second.isHeldElsewhere(.writer) && !first.isHeldElsewhere(.writer))
      first.unlock(.writer)
      #expect(try second.lock(.writer, waits: false))
      second.close()
      #expect(!first.isHeldElsewhere(.writer))
    }
  }

  @Test func `the presence lock is shared, and a handle without the lock sees that others hold it`() throws {
    try Self.withStorage { first, path in
      let second = try FileStorage(path: path, readOnly: true)
      #expect(!first.isHeldElsewhere(.presence))
      #expect(try first.lock(.presence, waits: false))
      #expect(try second.lock(.presence, waits: false))
      #expect(first.isHeldElsewhere(.presence))
      first.unlock(.presence)
      #expect(first.isHeldElsewhere(.presence) && !second.isHeldElsewhere(.presence))
      #expect(try first.lock(.participant(3), waits: false))
      #expect(second.isHeldElsewhere(.participant(3)) && !second.isHeldElsewhere(.participant(4)))
      second.close()
      #expect(!first.isHeldElsewhere(.presence))
    }
  }

  @Test func `a file open for reading only is never written`() throws {
    try withTemporaryPath { path in
      try FileStorage.create(path: path, content: [1, 2, 3])
      let first = try FileStorage(path: path, readOnly: true)
      let second = try FileStorage(path: path, readOnly: true)
      #expect(throws: StorageError.readOnly(path: path)) { try first.write([9], at: 0) }
      #expect(throws: StorageError.readOnly(path: path)) { try first.truncate(to: 0) }
      #expect(try second.read(3, at: 0) == [1, 2, 3])
      #expect(first.identity == second.identity)
      first.close()
      second.close()
    }
  }

  @Test func `all handles of a file share its control words`() throws {
    try Self.withStorage { first, path in
      let second = try FileStorage(path: path, readOnly: false)
      let (mine, theirs) = (try #require(first.control), try #require(second.control))
      mine[word: 100] = 5
      #expect(theirs[word: 100] == 5)
      #expect(!theirs.exchange(word: 100, from: 4, to: 6) && theirs.exchange(word: 100, from: 5, to: 6))
      #expect(mine[word: 100] == 6)
      #expect(first.isControlInPlace)
      try FileManager.default.removeItem(atPath: path + ".management")
      #expect(!first.isControlInPlace && !second.isControlInPlace)
      let third = try FileStorage(path: path, readOnly: false)
      #expect(third.isControlInPlace && !second.isControlInPlace)
      second.close()
      third.close()
    }
  }

  /// Another process removes the database after its file is opened and before the files beside it are opened.
  private final class RemovingCalls: SystemCalls {
    private let path: String
    private let isDone = Mutex(false)

    init(_ path: String) { self.path = path }

    func makeFolder(_ folder: String) -> CInt {
      let isFirst = isDone.withLock { done in
        defer { done = true }
        return !done
      }
      if isFirst { #expect(throws: Never.self) { try Database.removeFiles(path: path) } }
      return NativeSystemCalls().makeFolder(folder)
    }
  }

  @Test
  func `opening a database that is being removed makes a new file, and no write goes to an unlinked file`()
    throws
  {
    try withTemporaryPath { path in
      try Database(path: path).close()
      try Database(path: path, options: .init(), calls: RemovingCalls(path))
        .write { try $0.tree("t").set([1], for: [2]) }
      let database = try Database(path: path)
      #expect(try database.snapshot().tree("t").value(for: [2]) == [1])
      #expect(throws: StorageError.inUse(path: path)) { try Database.removeFiles(path: path) }
      database.close()
      #expect(try Database.removeFiles(path: path))
      #expect(try !Database.removeFiles(path: path))
    }
  }
}
