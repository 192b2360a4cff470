import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct IntegrityCheckTests {
  @Test(arguments: [nil, Keys.first])
  func `a healthy database has no findings and its entries are counted`(key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: 1)
    let storage = try MemoryStorage(name: "check")
    let database = try Database(creatingIn: storage, options: .init(encryptionKey: key))
    let empty = try IntegrityCheck.run(database.snapshot())
    #expect(empty.findings == [])
    #expect(empty.nodes == 0)
    var content = Content()
    for _ in 0..<30 { try database.write { try Workload.change($0, &content, &generator) } }
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings == [])
    #expect(report.isClean)
    #expect(report.entries == content.entries)
    let live = try nodes(of: database.snapshot())
    #expect(report.nodes == live.count)
    let units = live.reduce(0) { $0 + database.store.units(ofLength: $1.length) }
    #expect(report.liveBytes == UInt64(units * Ref.unit))
  }

  // MARK: - Names

  /// A tree with a name that is too long, or without a name, could not be found.
  @Test(arguments: ["", String(repeating: "n", count: 256)])
  func `a named tree with an empty or too long name is damage for the check and for the list of trees`(
    name: String
  )
    throws
  {
    let database = try Database(inMemory: "names")
    try database.write { transaction in
      try transaction.tree("proper").set([1], for: [1])
      _ = try transaction.tree("lent").set([2], for: [2])
      let lent = try #require(transaction.openTrees.last)
      transaction.openTrees[transaction.openTrees.count - 1] = (name, lent.root)
    }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings.count == 1)
    #expect {
      try snapshot.treeNames()
    } throws: {
      guard case StorageError.corrupted(let found, _) = $0 else { return false }
      return found.finding == .structure && found.nodeKind == "leaf"
    }
    #expect(try snapshot.tree("proper").value(for: [1]) == [1])
  }

  @Test func `only UTF-8 of 1 to 255 bytes is a name`() {
    #expect(NamedTrees.name(Array("größe".utf8)) == "größe")
    #expect(NamedTrees.name([UInt8](repeating: 0x6e, count: 255))?.count == 255)
    #expect(NamedTrees.name([]) == nil)
    #expect(NamedTrees.name([UInt8](repeating: 0x6e, count: 256)) == nil)
    #expect(NamedTrees.name([0x6e, 0xff]) == nil)
  }

  // MARK: - Bytes that changed

  @Test(arguments: [nil, Keys.first])
  func `a changed byte anywhere in a live node is found and never read as content`(key: [UInt8]?) throws {
    let storage = try MemoryStorage(name: "check")
    let bytes = try makeSmallFile(storage, key)
    let options = Database.Options(encryptionKey: key, isReadOnly: true)
    #expect(bytes.count > 4096)
    for index in stride(from: 0, to: bytes.count, by: 37) {
      let place = bytes[index]
      let old = storage.read(1, at: place)
      let damaged = [old[0] ^ UInt8(1 + index % 255)]
      try storage.write(damaged, at: place)
      let snapshot = try Database(storage: storage, options: options).snapshot()
      let report = IntegrityCheck.run(snapshot)
      #expect(!report.isClean, "byte \(place)")
      let found = findings(report)
      #expect(found.count == report.findings.count, "byte \(place)")
      #expect(throws: StorageError.self, "byte \(place)") { try Content.fingerprint(of: snapshot) }
      try storage.write(old, at: place)
    }
    let database = try Database(storage: storage, options: options)
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings == [])
  }

  @Test func `the check of an encrypted file larger than its memory limit stays within the limit`() throws {
    let limit = 2 << 20
    let storage = try MemoryStorage(name: "check")
    let options = Database.Options(encryptionKey: Keys.first, decryptedMemory: limit)
    do {
      let database = try Database(creatingIn: storage, options: options)
      var generator = SeededGenerator(seed: 1)
      try database.write { transaction in
        let table = try transaction.createTable(
          TableSchema("Thing", columns: [Column("id", .int64, index: .unique), Column("text", .string)]))
        for number in 0..<20_000 {
          _ = try table.insert([
            "id": .int(Int64(number)), "text": .string(String(repeating: "text \(number)", count: 30)),
          ])
        }
        for number in 0..<40 {
          try transaction.tree("long").set(generator.bytes(100_000), for: [UInt8(number)])
        }
      }
    }
    let database = try Database(storage: storage, options: options)
    var most = 0
    let store = database.store
    let report = try IntegrityCheck.run(database.snapshot()) { _ in most = max(most, store.decryptedBytes) }
    #expect(report.isClean && report.liveBytes > 8 << 20)
    // Memory that is being given back counts until nobody reads it.
    #expect(most <= 3 * limit, "\(most) of \(report.liveBytes)")
    #expect(most > 0)
  }

  @Test func `damage of two nodes is two findings`() throws {
    let storage = try MemoryStorage(name: "check")
    _ = try makeSmallFile(storage, nil)
    let options = Database.Options(isReadOnly: true)
    let leaves: [Ref]
    do {
      let database = try Database(storage: storage, options: options)
      leaves = try nodes(of: database.snapshot()).filter { $0.level == 0 }
    }
    try #require(leaves.count >= 2)
    for leaf in leaves.prefix(2) {
      let old = storage.read(1, at: leaf.offset + 20)
      try storage.write([old[0] ^ 1], at: leaf.offset + 20)
    }
    let database = try Database(storage: storage, options: options)
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.checksum, Corruption.Finding.checksum])
  }

  /// The place of each byte of each node of a small file that was closed cleanly.
  private func makeSmallFile(_ storage: MemoryStorage, _ key: [UInt8]?) throws -> [UInt64] {
    let database = try Database(creatingIn: storage, options: .init(encryptionKey: key))
    try database.write { transaction in
      let first = try transaction.tree("a")
      for number in 0..<150 {
        try first.set([UInt8](repeating: UInt8(number), count: 30), for: [UInt8(number), 1])
      }
      let second = try transaction.tree("b")
      try second.set([1], for: [1])
      try second.set([UInt8](repeating: 5, count: 1500), for: [2])
    }
    var bytes: [UInt64] = []
    for ref in try nodes(of: database.snapshot()) {
      let extent = database.store.extent(ofLength: ref.length)
      bytes += (0..<extent).map { ref.offset + UInt64($0) }
    }
    database.close()
    return bytes
  }

  // MARK: - Nodes that are sound one by one and wrong together

  @Test func `a branch with a wrong count is found`() throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      for number in 0..<60 { try tree.set([UInt8](repeating: 1, count: 20), for: TestKeys.number(number)) }
      try #require(tree.root.isBranch)
      editor.arena.edit(tree.root) { writer in writer.store(UInt64(1000), at: 0) }
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.rows])
  }

  @Test func `a leaf with its keys out of order is found`() throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      tree.setRoot(leaf([[2], [1]], editor))
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.keyOrder])
  }

  @Test func `a leaf that holds a key twice is found`() throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      tree.setRoot(leaf([[1], [1]], editor))
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.keyOrder])
  }

  @Test(arguments: [UInt8(5), 3])
  func `a key on the wrong side of a separator is found`(separator: UInt8) throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      let children = [
        TreeChild(separator: [], count: 2, ref: leaf([[1], [3]], editor)),
        TreeChild(separator: [separator], count: 2, ref: leaf([[4], [6]], editor)),
      ]
      let branches = BranchNode.make(children, shape: .tiny, editor: editor)
      tree.setRoot(branches[0].ref)
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.keyOrder])
  }

  @Test func `a leaf and its separator that agree are no finding`() throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      let children = [
        TreeChild(separator: [], count: 2, ref: leaf([[1], [3]], editor)),
        TreeChild(separator: [4], count: 2, ref: leaf([[4], [6]], editor)),
      ]
      let branches = BranchNode.make(children, shape: .tiny, editor: editor)
      tree.setRoot(branches[0].ref)
    }
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings == [])
    #expect(report.entries == 4)
  }

  @Test func `a long value with another length than its leaf says is found`() throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      let value: [UInt8] = [1, 2, 3]
      let length = TestKeys.length(4)
      let key: [UInt8] = [1]
      let ref = LongValue.write(value.span.bytes, editor: editor)
      let root = try OrderedTree.set(
        TreeValue(bytes: length.span.bytes, ref: ref), for: key.span.bytes, in: .null, editor: editor)
      tree.setRoot(root)
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.rows])
  }

  @Test func `a named tree whose root is no tree node is found`() throws {
    let database = try Database(inMemory: "check")
    try forge(database) { tree, editor in
      let value: [UInt8] = [1, 2, 3]
      tree.setRoot(LongValue.write(value.span.bytes, editor: editor))
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.structure])
  }

  @Test func `two trees that claim one node are found`() throws {
    let database = try Database(inMemory: "check")
    try database.write { try $0.tree("a").set([1], for: [1]) }
    do {
      let transaction = try database.beginWrite()
      let root = try ShapedTree("a", of: transaction).root
      try ShapedTree("b", of: transaction).setRoot(root)
      try transaction.commit()
    }
    let found = try findings(IntegrityCheck.run(database.snapshot()))
    #expect(found == [Corruption.Finding.overlap])
  }

  /// Commits the changes that `body` makes to the tree "a".
  private func forge(_ database: Database, _ body: (ShapedTree, NodeEditor) throws -> Void) throws {
    let transaction = try database.beginWrite()
    try body(ShapedTree("a", of: transaction), transaction.editor)
    try transaction.commit()
  }

  /// A leaf of keys of one length and empty values, in any order.
  private func leaf(_ keys: [[UInt8]], _ editor: NodeEditor) -> Ref {
    let arena = editor.arena
    let width = keys[0].count
    let leaf = arena.make(kind: .leaf, level: 0, refCount: 0, bodyLength: 8 + keys.count * width)
    leaf.store(UInt16(keys.count), at: 0)
    leaf.store(UInt16(0), at: 2)
    leaf.store(UInt16(width), at: 4)
    leaf.store(UInt16(0), at: 6)
    for (index, key) in keys.enumerated() { leaf.copy(key, at: 8 + index * width) }
    return leaf.ref
  }

  // MARK: - Looking at reports

  private func nodes(of snapshot: Snapshot) throws -> [Ref] {
    try TreeNodes.all(snapshot.root, snapshot.access())
  }

  private func findings(_ report: IntegrityCheck.Report) -> [Corruption.Finding] {
    report.findings.compactMap { error in
      guard case .corrupted(let corruption, path: _) = error else { return nil }
      return corruption.finding
    }
  }
}
