/// A set of keys of rows of a table.
///
/// Tables give keys by counting, so a bit for each possible key takes little memory and is read in a nanosecond. If the
/// table has given more than 2^26 keys, or the greatest possible key is not known, the keys are in a hashed set
/// instead.
package struct RowSet {
  private enum Form {
    case bits([UInt64])
    case hashed(Set<UInt64>)
  }

  private var form: Form
  package private(set) var count = 0

  package var isEmpty: Bool { count == 0 }

  /// The greatest number of bits. They take 8 MiB.
  private static let mostBits: UInt64 = 1 << 26

  /// Makes an empty set for keys that are less than `end`.
  package init(below end: UInt64) {
    form = end <= Self.mostBits ? .bits([UInt64](repeating: 0, count: Int(end + 63) / 64)) : .hashed([])
  }

  package init(_ rows: Set<UInt64>) {
    form = .hashed(rows)
    count = rows.count
  }

  /// Adds a key. If the set was made by `init(below:)` with bits, a key beyond the bits is ignored.
  ///
  /// - Returns: whether the key was added: false if it was in the set already, or is ignored.
  @discardableResult
  package mutating func insert(_ row: UInt64) -> Bool {
    switch form {
    case .hashed(var rows):
      form = .hashed([])
      let isNew = rows.insert(row).inserted
      form = .hashed(rows)
      count += isNew ? 1 : 0
      return isNew
    case .bits(var words):
      // In a forged file a link may lead to any key.
      guard row / 64 < UInt64(words.count) else { return false }
      form = .hashed([])
      let (word, bit) = (Int(row / 64), UInt64(1) << (row % 64))
      let isNew = words[word] & bit == 0
      words[word] |= bit
      form = .bits(words)
      count += isNew ? 1 : 0
      return isNew
    }
  }

  package func contains(_ row: UInt64) -> Bool {
    switch form {
    case .hashed(let rows): rows.contains(row)
    case .bits(let words):
      row / 64 < UInt64(words.count) && words[Int(row / 64)] & (1 << (row % 64)) != 0
    }
  }

  /// The keys, in ascending order.
  package var sorted: [UInt64] {
    switch form {
    case .hashed(let rows): return rows.sorted()
    case .bits(let words):
      var rows: [UInt64] = []
      rows.reserveCapacity(count)
      for (index, word) in words.enumerated() where word != 0 {
        var rest = word
        while rest != 0 {
          rows.append(UInt64(index * 64 + rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
      return rows
    }
  }

  /// The positions at which the rows of the set stand in an order, in ascending order.
  ///
  /// - Parameter chunks: the chunks of the order.
  func positions(in chunks: [RowOrder.Chunk]) -> [Int] {
    var found: [Int] = []
    found.reserveCapacity(count)
    var position = 0
    switch form {
    case .hashed(let rows):
      for chunk in chunks {
        for row in chunk.rows {
          if rows.contains(row) { found.append(position) }
          position += 1
        }
      }
    case .bits(let words):
      let end = UInt64(words.count) * 64
      for chunk in chunks {
        for row in chunk.rows {
          if row < end, words[Int(row / 64)] & (1 << (row % 64)) != 0 { found.append(position) }
          position += 1
        }
      }
    }
    return found
  }
}
