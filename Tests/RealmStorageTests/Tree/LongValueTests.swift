import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct LongValueTests {
  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000, 20_000_000])
  func `a long value is read as it was written`(length: Int) throws {
    let fixture = try TreeFixture()
    let value = Self.content(length)
    let ref = LongValue.write(value.span.bytes, editor: fixture.editor)
    let access = fixture.editor.access()
    let found = try LongValue.read(ref, access)
    let foundLength = try LongValue.length(ref, access)
    #expect(foundLength == length)
    expectEqual(found, value)
    // The value has only the chunks that it needs. No chunk is empty except that of an empty value.
    let chunks = try TreeNodes.all(ref, access).filter { $0.rawKind == NodeKind.chunk.rawValue }
    #expect(chunks.count == max(1, (length + 65_535) / 65_536))
  }

  @Test(arguments: [0, 1, 1024, 1025, 65_535, 65_536, 65_537, 200_000], [nil, Keys.first])
  func `a value of any length comes back from the file`(length: Int, key: [UInt8]?) throws {
    let storage = try MemoryStorage(name: "long")
    let value = Self.content(length)
    do {
      let database = try Database(creatingIn: storage, options: .init(encryptionKey: key))
      try database.write { transaction in
        let tree = try transaction.tree("a")
        try tree.set([1], for: [1])
        try tree.set(value, for: [2])
        try tree.set([3], for: [3])
        let found = try tree.value(for: [2])
        expectEqual(found, value)
      }
      database.close()
    }
    let database = try Database(storage: storage, options: .init(encryptionKey: key))
    let snapshot = try database.snapshot()
    let found = try snapshot.tree("a").value(for: [2])
    expectEqual(found, value)
    let count = try snapshot.tree("a").count()
    #expect(count == 3)
    let findings = IntegrityCheck.run(snapshot).findings
    #expect(findings == [])
  }

  @Test func `a long value that was replaced gives back its space`() throws {
    let storage = try MemoryStorage(name: "long")
    let database = try Database(creatingIn: storage)
    for round in 0..<60 {
      let value = [UInt8](repeating: UInt8(round), count: 200_000)
      try database.write { try $0.tree("a").set(value, for: [1]) }
    }
    let length = storage.length()
    #expect(length < 3_000_000)
    try database.write { try $0.tree("a").removeValue(for: [1]) }
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings == [])
    #expect(report.liveBytes < 1000)
  }

  @Test func `a wrong count of bytes is found`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let value = Self.content(200_000)
    let ref = LongValue.write(value.span.bytes, editor: editor)
    editor.arena.edit(ref) { writer in writer.store(UInt64(65_535), at: 0) }
    let error = #expect(throws: StorageError.self) { try LongValue.read(ref, editor.access()) }
    guard case .corrupted(let corruption, path: _) = error else {
      Issue.record("not a finding of damage")
      return
    }
    #expect(corruption.finding == Corruption.Finding.rows)
  }

  @Test func `a node without bytes of a value is not read as a long value`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    var tree = ModelledTree(editor)
    try tree.set([1], for: [1])
    let leaf = tree.root
    #expect(throws: StorageError.self) { try LongValue.read(leaf, editor.access()) }
    #expect(throws: StorageError.self) { try LongValue.length(leaf, editor.access()) }
  }

  /// Bytes that depend on their positions.
  private static func content(_ length: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0x5a, count: length)
    for position in stride(from: 0, to: length, by: 1021) {
      bytes[position] = UInt8(truncatingIfNeeded: (position / 1021) &* 37)
    }
    return bytes
  }

  /// Compares the bytes with one call, without a slow loop over each byte.
  private func expectEqual(
    _ found: [UInt8]?, _ value: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard let found else {
      Issue.record("no value", sourceLocation: sourceLocation)
      return
    }
    let order = found.span.bytes.compare(value.span.bytes)
    #expect(order == 0, sourceLocation: sourceLocation)
  }
}
