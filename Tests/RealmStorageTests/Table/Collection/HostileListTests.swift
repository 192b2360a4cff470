import RealmTestSupport
import Testing

@testable import RealmStorage

/// Trees of lists that the engine never writes. Each read of them throws a typed error, and no read runs without end.
@Suite struct HostileListTests {
  private static let column = Column("list", .int64, collection: .list)

  private func withEditor(_ body: (NodeEditor) throws -> Void) throws {
    let database = try Database(inMemory: "hostile list")
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    try body(transaction.editor)
  }

  private func leaf(_ count: Int, _ editor: NodeEditor) throws -> PositionChild {
    var buffer = ElementBuffer(Self.column.element)
    for number in 0..<count { try buffer.append(.int(Int64(number)), editor) }
    return try buffer.makeLeaves(areLast: true, editor)[0]
  }

  private func branch(_ children: [PositionChild], _ editor: NodeEditor) -> Ref {
    PositionBranch.write(children[...], editor).ref
  }

  /// Expects that each way to read and change the list reports the tree as damaged.
  private func expectDamage(_ root: Ref, _ editor: NodeEditor, _ comment: Comment) {
    let access = editor.access()
    #expect(throws: StorageError.self, comment) {
      _ = try ListTree.values(root, Self.column.element, access)
    }
    #expect(throws: StorageError.self, comment) {
      let list = try OpenList(tree: root, of: Self.column, OpenChanges(), editor)
      for position in [list.count - 1, list.count / 2, 0] { try list.set(.int(1), at: position) }
      while list.count > 0 { try list.remove(0..<1) }
      _ = try list.store()
    }
  }

  @Test func `a branch that counts more or fewer elements than its leaf has is damage`() throws {
    for wrong in [-1, 1, 100] {
      try withEditor { editor in
        var children = try (0..<3).map { _ in try leaf(10, editor) }
        children[1].count = UInt64(10 + wrong)
        expectDamage(branch(children, editor), editor, "\(wrong)")
      }
    }
  }

  @Test func `a leaf that is not a cluster of elements is damage`() throws {
    try withEditor { editor in
      let chunk = LongValue.write([1, 2, 3].span.bytes, editor: editor)
      let children = [try leaf(10, editor), PositionChild(count: 10, ref: chunk)]
      expectDamage(branch(children, editor), editor, "a chunk")
    }
  }

  @Test func `the integrity check finds a leaf that stands beside a branch`() throws {
    let database = try Database(inMemory: "hostile list")
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let editor = transaction.editor
    let lower = PositionBranch.write([try leaf(10, editor)], editor)
    let uneven = branch([lower, try leaf(10, editor)], editor)
    #expect(throws: StorageError.self) { try ListTree.check(uneven, Self.column, transaction) { _ in } }
    let even = branch([try leaf(10, editor), try leaf(10, editor)], editor)
    try ListTree.check(even, Self.column, transaction) { _ in }
  }

  @Test func `one element is found quickly in a forged tree that repeats a leaf a billion times`() throws {
    try withEditor { editor in
      var child = try leaf(512, editor)
      for _ in 0..<30 { child = PositionBranch.write([child, child], editor) }
      let access = editor.access()
      let count = try ListTree.count(child.ref, access)
      #expect(count == 512 << 30)
      let value = try ListTree.value(at: count - 1, of: child.ref, Self.column.element, access)
      #expect(value == .int(511))
    }
  }

  @Test(arguments: 0..<4)
  func `branches of random bytes are refused or can be read without a trap`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    try withEditor { editor in
      var accepted = 0
      for _ in 0..<400 {
        let children = try (0...generator.below(4)).map { _ in try leaf(1 + generator.below(5), editor) }
        let ref = branch(children, editor)
        let place = generator.below(8 + 8 * children.count)
        editor.arena.edit(ref) { $0.store(UInt8(generator.below(256)), at: place) }
        let access = editor.access()
        guard PositionBranch.isValid(try access.node(ref)) else { continue }
        accepted += 1
        do {
          let count = try ListTree.count(ref, access)
          _ = try ListTree.value(at: count - 1, of: ref, Self.column.element, access)
          _ = try ListTree.values(ref, Self.column.element, access)
        } catch {
          #expect(error is StorageError)
        }
      }
      #expect(accepted > 0, "seed \(seed)")
    }
  }
}
