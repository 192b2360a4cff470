import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct NodeEditorTests {
  private func editor(of file: NodeFile) throws -> NodeEditor {
    let editor = NodeEditor(
      store: file.store, arena: NodeArena(refWidth: file.store.refWidth, capacity: 1 << 24))
    try editor.begin(birth: 9, end: UInt64(file.nextPage * FilePlace.page))
    return editor
  }

  @Test(arguments: [nil, Keys.first])
  func `a node that is damaged after its first verification is not copied with a new checksum`(
    key: [UInt8]?
  ) throws {
    let file = try NodeFile(key: key)
    let ref = try file.writeChunk(Array(repeating: 7, count: 3000), birth: 3)
    let editor = try editor(of: file)
    try editor.touch(ref)
    let whole = try editor.copy(ref, children: [])
    let copied = try LongValue.read(whole, editor.access())
    #expect(copied == Array(repeating: 7, count: 3000))
    for offset in [0, 20, 1500, ref.length - 1] {
      let place = ref.offset + UInt64(offset)
      let byte = try file.storage.read(1, at: place)
      try file.storage.write([byte[0] ^ 4].span.bytes, at: place)
      #expect(throws: StorageError.self, "byte \(offset)") { try editor.copy(ref, children: []) }
      try file.storage.write(byte.span.bytes, at: place)
    }
    #expect(throws: Never.self) { try editor.copy(ref, children: []) }
  }

  @Test func `a copy of a node has the children it is given, and another number of children is refused`()
    throws
  {
    let file = try NodeFile(key: nil)
    let (first, second) = try (
      file.writeChunk([1, 2, 3], birth: 3), file.writeChunk([4, 5, 6], birth: 3)
    )
    let parent = try file.write(
      .chunkBranch, body: NodeFile.branchBody([first, second], chunkLength: 3), children: [first, second],
      birth: 3)
    let editor = try editor(of: file)
    let moved = try editor.copy(second, children: [])
    let copy = try editor.copy(parent, children: [first, moved])
    let children = try editor.access().children(of: copy)
    #expect(children == [first, moved] && copy.birth == 9)
    #expect(throws: StorageError.self) { try editor.copy(parent, children: [first]) }
  }
}
