/// The changes of a list: the older elements, without the deletions and with the insertions, are the newer elements.
///
/// There are as few changes as possible: the elements that stay are the longest common subsequence of what is left without the
/// common start and end of both lists. If several answers are possible, it is the one with the lowest deletions, and among those
/// the one with the lowest insertions. An element that was moved or replaced is a deletion and an insertion. If more than
/// `mostCompared` elements of either list are left that the other list has too, all of them are deleted and inserted.
public struct ListChanges: Sendable, Equatable {
  /// The positions of deleted elements in the older list, in ascending order.
  public var deletions: [Int] = []
  /// The positions of inserted elements in the newer list, in ascending order.
  public var insertions: [Int] = []

  /// Whether nothing changed.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty }

  /// The greatest number of elements of each list that are compared with one another. That comparison takes 13 MB for each of two
  /// tables of bits, and a tenth of a second.
  public static let mostCompared = 10_000

  /// Compares two lists. Takes time in proportion to their lengths, and to a 64th of the product of the lengths of the parts that
  /// differ.
  public init<Element: Hashable>(from old: [Element], to new: [Element]) {
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] { start += 1 }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    let stretch = CommonStretch(old[start..<old.count - end], new[start..<new.count - end])
    let kept = stretch.kept()
    let keptOld = Set(kept.map(\.old))
    let keptNew = Set(kept.map(\.new))
    deletions = (start..<old.count - end).filter { !keptOld.contains($0) }
    insertions = (start..<new.count - end).filter { !keptNew.contains($0) }
  }
}

/// The elements that both lists have, as numbers. Equal elements have the same number.
private struct CommonStretch {
  private struct Place {
    var index: Int
    var symbol: Int
  }

  private var old: [Place] = []
  private var new: [Place] = []
  private var symbolCount = 0

  /// Numbers the elements that both lists have. Elements of only one list are deleted or inserted in any case.
  init<Element: Hashable>(_ old: ArraySlice<Element>, _ new: ArraySlice<Element>) {
    guard !old.isEmpty, !new.isEmpty else { return }
    let there = Set(old)
    var symbols: [Element: Int] = [:]
    for (index, element) in zip(new.indices, new) where there.contains(element) {
      let symbol = symbols[element] ?? symbols.count
      symbols[element] = symbol
      self.new.append(Place(index: index, symbol: symbol))
    }
    symbolCount = symbols.count
    for (index, element) in zip(old.indices, old) {
      if let symbol = symbols[element] { self.old.append(Place(index: index, symbol: symbol)) }
    }
  }

  /// The pairs of positions whose elements stay, in ascending order.
  func kept() -> [(old: Int, new: Int)] {
    guard max(old.count, new.count) <= ListChanges.mostCompared, !old.isEmpty else { return [] }
    let stays = oldThatStay()
    // Using the last possible positions in the newer list leaves the lowest ones to insertions.
    var kept: [(old: Int, new: Int)] = []
    var place = new.count - 1
    for old in stays.reversed() {
      while new[place].symbol != old.symbol { place -= 1 }
      kept.append((old.index, new[place].index))
      place -= 1
    }
    return kept.reversed()
  }

  /// The elements of the older list in a longest common subsequence, chosen so that the deleted elements have the lowest
  /// positions.
  private func oldThatStay() -> [Place] {
    let lengths = SuffixLengths(old.map(\.symbol), new.map(\.symbol), symbolCount: symbolCount)
    var stays: [Place] = []
    var (row, column) = (0, 0)
    var length = lengths.length(0, 0)
    while length > 0 {
      if lengths.length(row + 1, column) == length {
        row += 1
      } else if old[row].symbol == new[column].symbol {
        stays.append(old[row])
        (row, column, length) = (row + 1, column + 1, length - 1)
      } else {
        column += 1
      }
    }
    return stays
  }
}

/// The length of the longest common subsequence of the ends of two lists, for each pair of starts.
///
/// From one position of the newer list to the next the length decreases by one or stays the same. So one bit for each is enough,
/// and a row of bits is made of the row below it with a few operations for each word (H. Hyyrö, "Bit-parallel LCS-length
/// computation revisited", 2004). The bits are in the order from the end of the newer list to its start.
private struct SuffixLengths {
  private let words: Int
  private let columns: Int
  /// For each row, from the last one on, a bit for each position at which the length grows.
  private var grows: [UInt64] = []
  private let rows: Int

  init(_ old: [Int], _ new: [Int], symbolCount: Int) {
    columns = new.count
    rows = old.count
    words = (columns + 63) / 64
    var places = [UInt64](repeating: 0, count: symbolCount * words)
    for (column, symbol) in new.reversed().enumerated() {
      places[symbol * words + column / 64] |= 1 << UInt64(column % 64)
    }
    grows = [UInt64](repeating: 0, count: (rows + 1) * words)
    for row in 1...rows {
      let symbol = old[rows - row]
      var carry = false
      for word in 0..<words {
        let stays = ~grows[(row - 1) * words + word]
        let common = stays & places[symbol * words + word]
        let (sum, first) = stays.addingReportingOverflow(common)
        let (carried, second) = sum.addingReportingOverflow(carry ? 1 : 0)
        carry = first || second
        grows[row * words + word] = ~(carried | (stays & ~common))
      }
    }
  }

  /// The length for the older list from `row` on and the newer one from `column` on.
  func length(_ row: Int, _ column: Int) -> Int {
    let count = columns - column
    let start = (rows - row) * words
    var length = 0
    for word in 0..<count / 64 { length += grows[start + word].nonzeroBitCount }
    let rest = count % 64
    if rest > 0 { length += (grows[start + count / 64] & (1 << UInt64(rest) - 1)).nonzeroBitCount }
    return length
  }
}
