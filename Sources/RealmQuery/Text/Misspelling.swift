/// Finds the word that was probably meant.
package enum Misspelling {
  /// The word that is most similar, without regard to case; nil if no word is similar enough.
  ///
  /// A word of up to 4 bytes may differ by one change, a longer word by two. A change inserts, removes or replaces a
  /// letter, or swaps two letters side by side. The search takes time in proportion to the number of words and to the
  /// square of their length. It finds nothing for a word that has less than 2 or more than 64 bytes.
  package static func nearest<Words: Sequence>(to word: String, among words: Words) -> String?
  where Words.Element == String {
    let wanted = Array(word.lowercased().utf8)
    guard (2...64).contains(wanted.count) else { return nil }
    var best: (word: String, distance: Int)?
    let limit = wanted.count <= 4 ? 1 : 2
    for candidate in words {
      let bytes = Array(candidate.lowercased().utf8)
      guard abs(bytes.count - wanted.count) <= limit, bytes.count <= 66 else { continue }
      let distance = distance(wanted, bytes)
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  /// The number of changes that lead from one word to the other.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var rows = [Array(0...right.count)]
    for (row, byte) in left.enumerated() {
      var line = [row + 1]
      for (column, other) in right.enumerated() {
        var cost = min(
          line[column] + 1, rows[row][column + 1] + 1, rows[row][column] + (byte == other ? 0 : 1))
        if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
          cost = min(cost, rows[row - 1][column - 1] + 1)
        }
        line.append(cost)
      }
      rows.append(line)
    }
    return rows[left.count][right.count]
  }
}
