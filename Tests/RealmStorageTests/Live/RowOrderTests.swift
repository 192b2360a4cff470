import RealmStorage
import RealmTestSupport
import Testing

@Suite struct RowOrderTests {
  /// Random changes of orders of some chunks. The reported changes lead from one order to the other, and are as few as
  /// possible.
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the reported changes of an order lead to the new order`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let isUnique = seed % 3 != 0
    let count = [0, 1, 511, 513, 1_500, 4_000][Int(seed) % 6]
    var rows = (0..<count).map { UInt64(isUnique ? $0 : $0 % 40) }
    var order = RowOrder(rows)
    var next = UInt64(count)
    for _ in 0..<15 {
      let (before, beforeRows) = (order, rows)
      // The places of removals and insertions are random, often at the borders of chunks.
      func place(_ end: Int) -> Int {
        let near = Int.random(in: 0...8, using: &random) * 512 + Int.random(in: -1...1, using: &random)
        return Bool.random(using: &random) ? min(max(near, 0), end) : Int.random(in: 0...end, using: &random)
      }
      let removals = Set(
        (0..<Int.random(in: 0...6, using: &random)).map { _ in place(max(rows.count - 1, 0)) }
      )
      .filter { $0 < rows.count }.sorted()
      let insertions = (0..<Int.random(in: 0...6, using: &random)).map { _ in place(rows.count) }.sorted()
        .map { position -> RowOrder.Insertion in
          next += 1
          return .init(at: position, isUnique ? next : next % 40)
        }
      order = order.edited(removing: removals, inserting: insertions)
      var expected: [UInt64] = []
      for position in 0...rows.count {
        expected += insertions.filter { $0.position == position }.map(\.row)
        if position < rows.count, !removals.contains(position) { expected.append(rows[position]) }
      }
      rows = expected
      #expect(order.rows == rows && order.count == rows.count, "seed \(seed)")
      for _ in 0..<5 where !rows.isEmpty {
        let position = Int.random(in: 0..<rows.count, using: &random)
        #expect(order[position] == rows[position])
      }
      if Int.random(in: 0..<4, using: &random) == 0, rows.count > 2 {
        // A stretch moves to another place, and the order is made anew.
        let start = place(rows.count - 1)
        let end = min(rows.count, start + Int.random(in: 1...700, using: &random))
        let moved = Array(rows[start..<end])
        rows.removeSubrange(start..<end)
        rows.insert(contentsOf: moved, at: Int.random(in: 0...rows.count, using: &random))
        order = order.replaced(by: rows)
        #expect(order.rows == rows, "seed \(seed)")
      }
      check(before, beforeRows, order, rows, isUnique: isUnique, seed)
    }
  }

  private func check(
    _ older: RowOrder, _ oldRows: [UInt64], _ newer: RowOrder, _ newRows: [UInt64], isUnique: Bool,
    _ seed: UInt64
  ) {
    let changes = older.changes(to: newer)
    #expect((older == newer) == (oldRows == newRows))
    let gone = Set(changes.deletions)
    var patched = oldRows.indices.filter { !gone.contains($0) }.map { oldRows[$0] }
    let kept = oldRows.indices.filter { !gone.contains($0) }
    for position in changes.insertions { patched.insert(newRows[position], at: position) }
    #expect(patched == newRows, "seed \(seed)")
    if isUnique {
      let fewest = ListChanges(from: oldRows, to: newRows)
      #expect(changes.deletions.count <= fewest.deletions.count, "seed \(seed)")
    }
    // The old position of each row that stayed must be right.
    var stayed = 0
    for position in newRows.indices {
      let old = changes.oldPosition(of: position)
      if changes.insertions.contains(position) {
        #expect(old == nil)
      } else {
        #expect(old == kept[stayed], "seed \(seed)")
        stayed += 1
      }
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `the positions of many ascending rows equal the position of each row alone`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Few gaps give chunks whose keys are consecutive.
    let gaps = [1, 2, 500, 100_000].randomElement(using: &random)!
    var rows: [UInt64] = []
    var key: UInt64 = UInt64.random(in: 0..<10, using: &random)
    for _ in 0..<Int.random(in: 0..<3_000, using: &random) {
      rows.append(key)
      key += Int.random(in: 0..<gaps, using: &random) == 0 ? UInt64.random(in: 1...9, using: &random) : 1
    }
    let asked = Set((0..<200).map { _ in UInt64.random(in: 0...key + 5, using: &random) }).sorted()
    let places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1, $0) })
    #expect(RowOrder(rows).positions(ofAscending: asked) == asked.compactMap { places[$0] }, "seed \(seed)")
  }

  @Test func `a row that moves over many others is reported as one deletion and one insertion`() {
    let rows = (0..<5_130).map { UInt64($0) }
    let order = RowOrder(rows)
    var moved = rows
    moved.insert(moved.removeLast(), at: 0)
    let changes = order.changes(to: order.replaced(by: moved))
    #expect(changes.deletions == [5_129] && changes.insertions == [0])
    moved = rows
    moved.insert(moved.remove(at: 0), at: 2_500)
    let other = order.changes(to: order.replaced(by: moved))
    #expect(other.deletions == [0] && other.insertions == [2_500])
  }
}
