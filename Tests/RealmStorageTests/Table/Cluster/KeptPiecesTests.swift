import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct KeptPiecesTests {
  private static let column = Column("text", .string, isOptional: true)
  private static let mostHeapBytes = PieceBuffer.Shape.ofCluster.heapBytes

  @Test(arguments: 0..<60, [nil, Keys.first])
  func `the pieces of the remaining rows hold their values, and nothing else stays in memory`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let editor = try TreeFixture(key: key).editor
    let empty = editor.arena.liveBytes
    let hasLong = generator.chance(30)
    let values = values(1 + generator.below(ClusterNode.maximumRows), hasLong, &generator)
    var buffer = PieceBuffer()
    for value in values { try buffer.append(value, of: Self.column, editor: editor) }
    let old = buffer.makePieces(from: 0, editor: editor)
    let rows = rows(below: values.count, &generator)

    var kept = KeptPieces(rows, editor: editor)
    for (index, piece) in old.enumerated() {
      try kept.take(piece, end: index + 1 < old.count ? old[index + 1].firstRow : values.count)
    }
    try kept.finish()

    let found = try contents(kept.pieces, editor)
    #expect(found.values == rows.map { values[Int($0)] })
    // The pieces are compared by their first rows, because a new piece may lie at the place of an old one.
    var whole: [Int: Ref] = [:]
    for (index, piece) in old.enumerated() {
      let end = index + 1 < old.count ? old[index + 1].firstRow : values.count
      guard (piece.firstRow..<end).allSatisfy({ rows.contains(UInt16($0)) }) else { continue }
      whole[rows.firstIndex(of: UInt16(piece.firstRow)) ?? -1] = piece.ref
    }
    for (row, ref) in whole {
      #expect(kept.pieces.contains { $0 == (row, ref) }, "a piece that loses none stays")
    }
    let isNew = kept.pieces.map { whole[$0.firstRow] == nil }
    for (index, bytes) in found.heapBytes.enumerated() where index > 0 && !hasLong {
      let both = bytes + found.heapBytes[index - 1]
      let areApart = !isNew[index] || !isNew[index - 1] || both > Self.mostHeapBytes
      #expect(areApart, "neighbours that fit into one piece are one")
    }
    for (index, bytes) in found.heapBytes.enumerated() where isNew[index] && !hasLong {
      #expect(bytes <= Self.mostHeapBytes)
    }
    for piece in kept.pieces { try editor.freeTree(piece.ref) }
    let left = editor.arena.liveBytes
    #expect(left == empty)
  }

  @Test func `a piece with a different number of rows than the cluster says is refused`() throws {
    let editor = try TreeFixture().editor
    var buffer = PieceBuffer()
    for number in 0..<10 { try buffer.append(.string("\(number)"), of: Self.column, editor: editor) }
    let piece = buffer.makePieces(from: 0, editor: editor)[0]
    for end in [9, 11] {
      var kept = KeptPieces([1, 2], editor: editor)
      #expect(throws: StorageError.self) { try kept.take(piece, end: end) }
    }
  }

  private func contents(
    _ pieces: KeptPieces.Pieces, _ editor: NodeEditor
  ) throws -> (values: [Value], heapBytes: [Int]) {
    var (values, heapBytes): ([Value], [Int]) = ([], [])
    for (firstRow, ref) in pieces {
      #expect(firstRow == values.count)
      let access = editor.access()
      let isValid = PieceNode.isValid(try access.node(ref, .piece))
      #expect(isValid)
      let made = try PieceBuffer(ref, access)
      for row in 0..<made.rows { values.append(try made.text(row, access)) }
      heapBytes.append(made.heapBytes)
    }
    return (values, heapBytes)
  }

  private func values(_ count: Int, _ hasLong: Bool, _ generator: inout SeededGenerator) -> [Value] {
    let longest = [4, 40, 200, 1_500][generator.below(4)]
    return (0..<count).map { number in
      if generator.chance(20) { return .null }
      let isLong = hasLong && generator.chance(3)
      let length = isLong ? PieceNode.maximumInline + 1 + generator.below(3_000) : generator.below(longest)
      return .string(String(repeating: "abcdefgh\(number)", count: length / 8 + 1).prefix(length).description)
    }
  }

  /// The rows that are kept, at least one. In some stretches all rows are kept, or none.
  private func rows(below count: Int, _ generator: inout SeededGenerator) -> [UInt16] {
    var rows: [UInt16] = []
    var row = 0
    while row < count {
      let end = min(count, row + 1 + generator.below(200))
      let share = [0, 100, 50, 90, 10][generator.below(5)]
      for row in row..<end where generator.chance(share) { rows.append(UInt16(row)) }
      row = end
    }
    return rows.isEmpty ? [UInt16(generator.below(count))] : rows
  }
}
