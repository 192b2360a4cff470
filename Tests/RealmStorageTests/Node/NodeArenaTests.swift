import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct NodeArenaTests {
  private static func arena() throws -> NodeArena {
    let arena = NodeArena(refWidth: .plain, capacity: 1 << 26)
    try arena.reset(birth: 1)
    return arena
  }

  private static func node(of count: Int, in arena: NodeArena) -> Ref {
    let node = arena.make(kind: .chunk, level: 0, refCount: 0, bodyLength: count)
    node.copy([UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count), at: 0)
    return node.ref
  }

  @Test(arguments: 0..<4) func `the room of nodes that were freed together is used for nodes of any size`(
    seed: UInt64
  )
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let arena = try Self.arena()
    var kept: [(ref: Ref, count: Int)] = []
    for _ in 0..<200 {
      let before = arena.usedBytes
      arena.mark()
      var made: [Ref] = []
      for _ in 0..<generator.below(40) {
        made.append(Self.node(of: 1 + generator.below(20_000), in: arena))
        if generator.chance(20), let ref = made.popLast() { arena.free(ref) }
      }
      for ref in made.shuffled(using: &generator) { arena.free(ref) }
      arena.rewind()
      #expect(arena.usedBytes == before, "seed \(seed)")
      let count = 1 + generator.below(300)
      kept.append((Self.node(of: count, in: arena), count))
    }
    try expect(arena, toHold: kept)
  }

  @Test(arguments: 0..<4) func `live nodes behind a mark keep their room`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let arena = try Self.arena()
    var kept: [(ref: Ref, count: Int)] = []
    for _ in 0..<100 {
      arena.mark()
      for _ in 0..<generator.below(20) {
        let count = 1 + generator.below(2_000)
        kept.append((Self.node(of: count, in: arena), count))
      }
      for _ in 0..<generator.below(20) where !kept.isEmpty {
        arena.free(kept.remove(at: generator.below(kept.count)).ref)
      }
      arena.rewind()
    }
    try expect(arena, toHold: kept)
  }

  private func expect(_ arena: NodeArena, toHold kept: [(ref: Ref, count: Int)]) throws {
    let file = try NodeFile(key: nil)
    let access = file.store.access(below: 0, arena: arena)
    for (ref, count) in kept {
      let node = try access.node(ref)
      #expect(
        node.bytes(at: 0, count: count).array
          == [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count))
    }
    let taken = kept.reduce(0) { $0 + ($1.ref.length + Ref.unit - 1) / Ref.unit * Ref.unit }
    #expect(arena.liveBytes == taken)
  }
}
