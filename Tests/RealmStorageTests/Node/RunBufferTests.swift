import RealmTestSupport
import Testing

@testable import RealmStorage

/// The rest of a unit or of a page is zero, whatever the buffer held before (FORMAT.md, "Nodes").
@Suite struct RunBufferTests {
  private static let key = (0..<64).map { UInt8($0) }

  @Test(arguments: [nil, key])
  func `a run is zero wherever no node stands, also in a buffer that was used before`(
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
    /// Expects that each byte outside of the nodes is zero, and that each node has a byte that is not.
    func check(_ pieces: [Range<Int>], _ nodes: [Range<Int>]) {
      var written: [[UInt8]] = []
      try? run.finish { (bytes, offset) throws(StorageError) in
        #expect(offset == UInt64(pieces[written.count].lowerBound * FilePlace.page))
        written.append(bytes.array)
      }
      for (index, pages) in pieces.enumerated() {
        let bytes = written[index]
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

    // There are gaps before, between and behind nodes. One node crosses a page, and one has the last unit of a page.
    let pieces = [40..<43, 90..<91, 12..<14]
    run.begin(pieces)
    var nodes = [place(node(100), at: 40 * 64 + 3), place(node(3_000), at: 40 * 64 + 40)]
    nodes.append(place(node(1), at: 42 * 64 + 63))
    nodes.append(place(node(1_500), at: 12 * 64))
    nodes.append(place(node(33), at: 90 * 64 + 31))
    check(pieces, nodes)
  }

  /// The list has short-lived nodes between the nodes that stay. In the run, the nodes that stay keep their order, and
  /// the short-lived nodes follow behind them.
  @Test(arguments: 0..<6, [nil, key])
  func `a large run is the same whether its first pages are written early or at once`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let cipher = try NodeFile.cipher(key, fileID: 1)
    let store = try NodeStore(
      storage: MemoryStorage(), cipher: cipher, validators: .all, decryptedLimit: 1 << 24)
    let arena = NodeArena(refWidth: store.refWidth, capacity: 1 << 26)
    try arena.reset(birth: 7)
    var nodes: [(ref: Ref, size: RunLayout.Size)] = []
    for _ in 0..<400 {
      let isShortLived = generator.chance(20)
      // Some nodes have nearly the greatest length.
      let length = generator.chance(10) ? 250_000 : 1 + generator.below(20_000)
      let node = arena.make(
        kind: isShortLived ? .branch : .chunk, level: 0, refCount: 0, bodyLength: length)
      node.copy(generator.bytes(length), at: 0)
      nodes.append((node.ref, (store.units(ofLength: node.ref.length), isShortLived)))
    }
    let pages = RunLayout.size(nodes.map(\.size)).whole
    // The last nodes may stand in a hole before the others. With every other seed the short-lived nodes do.
    let first = seed % 2 == 0 ? pages / 3 : pages - pages / 10
    let candidates = [
      5_000..<5_000 + first, 100..<100 + (pages / (seed % 4 == 1 ? 30 : 4)), 10_000..<10_000 + 2 * pages,
    ]
    let layout = RunLayout(nodes.map(\.size), RunPlace(candidates: candidates))
    let order = try #require(layout.inOrderBefore)

    func write(inOrderBefore unit: UInt64?) throws -> (file: [UInt8], refs: [Ref], early: Int) {
      let run = RunBuffer(store: store, adopts: false)
      run.begin(layout.pieces, inOrderBefore: unit)
      var file = [UInt8](repeating: 0xee, count: (10_000 + 2 * pages) * FilePlace.page)
      var (refs, early): ([Ref], Int) = ([], 0)
      func take(_ bytes: RawSpan, _ offset: UInt64) {
        #expect(file[Int(offset)] == 0xee, "written twice")
        file.replaceSubrange(Int(offset)..<Int(offset) + bytes.byteCount, with: bytes.array)
      }
      for (index, node) in nodes.enumerated() {
        try run.makeRoom(at: layout.units[index], node.ref.length) { (bytes, offset) throws(StorageError) in
          take(bytes, offset)
          early += bytes.byteCount
        }
        refs.append(run.place(node.ref, of: arena, at: layout.units[index], birth: 9))
      }
      try run.finish { (bytes, offset) throws(StorageError) in take(bytes, offset) }
      return (file, refs, early)
    }
    let (whole, inParts) = (try write(inOrderBefore: nil), try write(inOrderBefore: order))
    #expect(whole.early == 0)
    #expect(inParts.early > pages * FilePlace.page / 2)
    if cipher == nil {
      #expect(inParts.refs == whole.refs)
      #expect(inParts.file == whole.file)
    }
    // Each ref names the node that was placed there. In an encrypted file each run has its own nonces.
    for (node, ref) in zip(nodes, inParts.refs) {
      let start = Int(ref.offset)
      let extent = store.extent(ofLength: ref.length)
      let bytes = Array(inParts.file[start..<start + extent])
      if let cipher {
        var opened = [UInt8](repeating: 0, count: ref.length)
        let isWhole = opened.withUnsafeMutableBytes { target in
          bytes.withUnsafeBytes {
            cipher.unseal($0.baseAddress!, length: ref.length, ref: ref, into: target.baseAddress!)
          }
        }
        #expect(isWhole)
      } else {
        #expect(bytes.span.bytes.checksum == ref.check)
      }
      #expect(ref.length == node.ref.length)
    }
  }
}
