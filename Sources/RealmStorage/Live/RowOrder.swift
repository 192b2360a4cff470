/// The keys of rows in an order, in chunks. A changed order shares with the older one the chunks in which nothing
/// changed.
///
/// So an observer that keeps the order of which it was notified last needs memory only for what has changed since. To
/// compare the two orders takes time in proportion to that too.
package struct RowOrder: Sendable {
  /// Some keys of an order, one after another. A chunk never changes.
  final class Chunk: Sendable {
    let rows: [UInt64]
    init(_ rows: [UInt64]) { self.rows = rows }
  }

  /// The greatest number of rows in a chunk, which then takes 4 KiB.
  static let mostRows = 512

  /// The chunks, in order. No chunk is empty.
  let chunks: [Chunk]
  /// The position of the first row of each chunk, and then the number of all rows.
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

  /// The index of the chunk that has the row at a position.
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

  /// The first position whose row meets a condition; `count` if no row does. It is found by binary search.
  ///
  /// - Precondition: if a row meets the condition, all rows after it do.
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

  /// The first position whose row is not less than `row`; `count` if all rows are less.
  ///
  /// - Precondition: the rows are in ascending order.
  package func position(ofRowFrom row: UInt64) -> Int {
    guard !chunks.isEmpty else { return 0 }
    // This is the first chunk whose last row is not less than `row`.
    let chunk = chunks.partitioningIndex { $0.rows[$0.rows.count - 1] >= row }
    guard chunk < chunks.count else { return count }
    return starts[chunk] + chunks[chunk].rows.partitioningIndex { $0 >= row }
  }

  /// Whether the order has a row.
  ///
  /// - Precondition: the rows of the order are in ascending order.
  package func contains(ascending row: UInt64) -> Bool {
    let position = position(ofRowFrom: row)
    return position < count && self[position] == row
  }

  /// The positions of the given rows that the order has. Takes time in proportion to the given rows and to the chunks.
  ///
  /// - Parameter rows: keys in ascending order.
  /// - Precondition: the rows of the order are in ascending order.
  package func positions(ofAscending rows: [UInt64]) -> [Int] {
    var found: [Int] = []
    found.reserveCapacity(rows.count)
    var next = 0
    for (index, chunk) in chunks.enumerated() {
      let known = chunk.rows
      let (first, last) = (known[0], known[known.count - 1])
      while next < rows.count, rows[next] < first { next += 1 }
      if next == rows.count { break }
      // In a chunk whose keys follow one another without gaps, the place of a key is a difference of keys.
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

  /// A row to insert into an order before the row at `position`; after all rows if `position` is `count`.
  package struct Insertion {
    package var position: Int
    package var row: UInt64

    package init(at position: Int, _ row: UInt64) { (self.position, self.row) = (position, row) }
  }

  /// The order without the rows at some positions, and with other rows. Takes time in proportion to the chunks that
  /// change, and a little for each other chunk.
  ///
  /// - Parameters:
  ///   - removals: the positions of the rows to remove, in ascending order.
  ///   - insertions: the rows to insert, in the order of their positions in this order. Rows for the same position are
  ///     inserted in the given order.
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

  /// Adds rows at the end of some chunks. They join the last chunk if both together fill at most half a chunk.
  /// Otherwise they become one chunk, or several of about the same size if they are more than `mostRows`.
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
