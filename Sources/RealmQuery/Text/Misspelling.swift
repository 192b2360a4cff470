/// Finds the word that was probably meant.
package enum Misspelling {
  /// The word that is nearest, regardless of case; nil where none is near enough.
  ///
  /// One change is near in words of up to four letters, two changes are in longer ones. A change puts in, takes out or
  /// replaces a letter, or swaps two that stand side by side. It takes time in proportion to the number of the words and
  /// to the square of their length; a word of more than 64 bytes is like none.
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

  /// How many changes lead from one word to the other.
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
