/// Keys of rows in an order, in chunks that orders share where they have the same: a changed order keeps the chunks in which nothing changed.
///
/// So an observer keeps what it was told last at the cost of what has changed since, and two orders are compared at that cost.
package struct RowOrder: Sendable {
  /// It never changes.
  final class Chunk: Sendable {
    let rows: [UInt64]
    init(_ rows: [UInt64]) { self.rows = rows }
  }

  /// A chunk has 4 KiB at most.
  static let mostRows = 512

  /// None is empty.
  let chunks: [Chunk]
  /// The position of the first row of each chunk, and the number of all rows.
  let starts: [Int]

  package var count: Int { starts[chunks.count] }

  package init(_ rows: [UInt64] = []) {
    var chunks: [Chunk] = []
    var start = 0
    while start < rows.count {
      let end = min(start + Self.mostRows, rows.count)
      chunks.append(Chunk(Array(rows[start..<end])))
      start = end
    }
    self.init(chunks)
  }

  init(_ chunks: [Chunk]) {
    self.chunks = chunks
    var starts: [Int] = []
    starts.reserveCapacity(chunks.count + 1)
    var position = 0
    for chunk in chunks {
      starts.append(position)
      position += chunk.rows.count
    }
    starts.append(position)
    self.starts = starts
  }

  /// The chunk that has a position.
  private func chunk(of position: Int) -> Int { starts.partitioningIndex { $0 > position } - 1 }

  package subscript(position: Int) -> UInt64 {
    let chunk = chunk(of: position)
    return chunks[chunk].rows[position - starts[chunk]]
  }

  package var rows: [UInt64] {
    var rows: [UInt64] = []
    rows.reserveCapacity(count)
    for chunk in chunks { rows += chunk.rows }
    return rows
  }

  /// The first position whose row a condition holds of, which holds of all behind it; `count` where it holds of none.
  package func firstPosition(
    where holds: (UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if try holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The first position of a row that is not less.
  ///
  /// - Precondition: the rows grow.
  package func position(ofRowFrom row: UInt64) -> Int {
    guard !chunks.isEmpty else { return 0 }
    // The first chunk whose last row is not less.
    let chunk = chunks.partitioningIndex { $0.rows[$0.rows.count - 1] >= row }
    guard chunk < chunks.count else { return count }
    return starts[chunk] + chunks[chunk].rows.partitioningIndex { $0 >= row }
  }

  /// - Precondition: the rows grow.
  package func contains(ascending row: UInt64) -> Bool {
    let position = position(ofRowFrom: row)
    return position < count && self[position] == row
  }

  /// The positions of those of some rows that are in the order. Takes time in proportion to these rows, and to the chunks.
  ///
  /// - Parameter rows: growing.
  /// - Precondition: the rows of the order grow.
  package func positions(ofAscending rows: [UInt64]) -> [Int] {
    var found: [Int] = []
    found.reserveCapacity(rows.count)
    var next = 0
    for (index, chunk) in chunks.enumerated() {
      let known = chunk.rows
      let (first, last) = (known[0], known[known.count - 1])
      while next < rows.count, rows[next] < first { next += 1 }
      if next == rows.count { break }
      // Keys without a gap are found by counting.
      let isDense = last >= first && last - first == UInt64(known.count - 1)
      var place = 0
      while next < rows.count, rows[next] <= last {
        let row = rows[next]
        if isDense {
          place = Int(row - first)
        } else {
          place = known[place...].partitioningIndex { $0 >= row }
        }
        if known[place] == row { found.append(starts[index] + place) }
        next += 1
      }
    }
    return found
  }

  /// A row that comes into an order before the row at a position; at `count`, behind all.
  package struct Insertion {
    package var position: Int
    package var row: UInt64

    package init(at position: Int, _ row: UInt64) { (self.position, self.row) = (position, row) }
  }

  /// The order without the rows at some positions, and with others. Takes time in proportion to the chunks that change, and a little for each chunk.
  ///
  /// - Parameters:
  ///   - removals: positions, growing.
  ///   - insertions: by position, not falling; of one position in the order in which they are to stand.
  package func edited(removing removals: [Int], inserting insertions: [Insertion]) -> RowOrder {
    if removals.isEmpty, insertions.isEmpty { return self }
    var edited: [Chunk] = []
    edited.reserveCapacity(chunks.count + 1)
    var (removal, insertion) = (0, 0)
    for (index, chunk) in chunks.enumerated() {
      let (start, end) = (starts[index], starts[index + 1])
      let isLast = index == chunks.count - 1
      let firstRemoval = removal
      let firstInsertion = insertion
      while removal < removals.count, removals[removal] < end { removal += 1 }
      while insertion < insertions.count, insertions[insertion].position < end || isLast { insertion += 1 }
      if firstRemoval == removal, firstInsertion == insertion {
        edited.append(chunk)
        continue
      }
      var rows: [UInt64] = []
      rows.reserveCapacity(chunk.rows.count + insertion - firstInsertion)
      var (nextRemoval, nextInsertion) = (firstRemoval, firstInsertion)
      for position in start...end {
        while nextInsertion < insertion, insertions[nextInsertion].position == position {
          rows.append(insertions[nextInsertion].row)
          nextInsertion += 1
        }
        if position == end { break }
        if nextRemoval < removal, removals[nextRemoval] == position {
          nextRemoval += 1
        } else {
          rows.append(chunk.rows[position - start])
        }
      }
      if rows != chunk.rows { Self.add(rows, to: &edited) } else { edited.append(chunk) }
    }
    if chunks.isEmpty { Self.add(insertions.map(\.row), to: &edited) }
    return RowOrder(edited)
  }

  /// Small neighbours become one chunk, and large ones several.
  static func add<Rows: RandomAccessCollection<UInt64>>(_ rows: Rows, to chunks: inout [Chunk]) {
    if rows.isEmpty { return }
    let rows = Array(rows)
    if let last = chunks.last, last.rows.count + rows.count <= mostRows / 2 {
      chunks[chunks.count - 1] = Chunk(last.rows + rows)
      return
    }
    let parts = (rows.count + mostRows - 1) / mostRows
    for part in 0..<parts {
      let (start, end) = (part * rows.count / parts, (part + 1) * rows.count / parts)
      chunks.append(Chunk(Array(rows[start..<end])))
    }
  }
}

extension RowOrder: Equatable {
  package static func == (left: RowOrder, right: RowOrder) -> Bool {
    guard left.count == right.count else { return false }
    if left.chunks.elementsEqual(right.chunks, by: { $0 === $1 }) { return true }
    return left.rows == right.rows
  }
}
