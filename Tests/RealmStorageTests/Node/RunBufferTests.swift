import Testing

@testable import RealmStorage

/// What is left of a unit or of a page is zero, whatever the buffer held before (FORMAT.md, "Nodes").
@Suite struct RunBufferTests {
  private static let key = (0..<64).map { UInt8($0) }

  @Test(arguments: [nil, key]) func `where no node stands a run is zero, also in a buffer that was used`(
    key: [UInt8]?
  ) throws {
    let cipher = try NodeFile.cipher(key, fileID: 1)
    let store = try NodeStore(
      storage: MemoryStorage(), cipher: cipher, validators: .all, decryptedLimit: 1 << 24)
    let arena = NodeArena(refWidth: store.refWidth, capacity: 1 << 24)
    let run = RunBuffer(store: store, adopts: false)
    try arena.reset(birth: 7)

    func node(_ bodyLength: Int) -> Ref {
      let node = arena.make(kind: .chunk, level: 0, refCount: 0, bodyLength: bodyLength)
      node.copy([UInt8](repeating: 0xff, count: bodyLength), at: 0)
      return node.ref
    }
    func place(_ node: Ref, at unit: UInt64) -> Range<Int> {
      _ = run.place(node, of: arena, at: unit, birth: 7)
      return Int(unit) * Ref.unit..<Int(unit) * Ref.unit + store.extent(ofLength: node.length)
    }
    /// Whether each byte outside of the nodes is zero, and some inside are not.
    func check(_ pieces: [Range<Int>], _ nodes: [Range<Int>]) {
      for (index, pages) in pieces.enumerated() {
        let bytes = run.bytes(ofPiece: index).array
        #expect(bytes.count == pages.count * FilePlace.page)
        for (offset, byte) in bytes.enumerated() {
          let place = pages.lowerBound * FilePlace.page + offset
          if !nodes.contains(where: { $0.contains(place) }), byte != 0 {
            Issue.record("byte \(offset) of piece \(index) is \(byte)")
            return
          }
        }
        let held = nodes.filter { pages.contains($0.lowerBound / FilePlace.page) }
        #expect(
          held.allSatisfy { node in
            let first = node.lowerBound - pages.lowerBound * FilePlace.page
            return bytes[first..<first + node.count].contains { $0 != 0 }
          })
      }
    }

    let whole = [10..<30]
    run.begin(whole)
    let large = node(20 * FilePlace.page - 1_000)
    check(whole, [place(large, at: 10 * 64)])

    // Gaps before, between and behind nodes; one node crosses a page, one has the last unit of one.
    let pieces = [40..<43, 90..<91, 12..<14]
    run.begin(pieces)
    var nodes = [place(node(100), at: 40 * 64 + 3), place(node(3_000), at: 40 * 64 + 40)]
    nodes.append(place(node(1), at: 42 * 64 + 63))
    nodes.append(place(node(1_500), at: 12 * 64))
    nodes.append(place(node(33), at: 90 * 64 + 31))
    check(pieces, nodes)
  }
}
