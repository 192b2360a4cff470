/// The form of names, and of lists of names, in messages.
enum Wording {
  /// A name or a text in quotes. It is cut if it is long, and has no characters that would change a terminal.
  static func shown(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(60) {
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
      shown.append(isControl ? "\u{FFFD}" : scalar)
    }
    let isCut = text.unicodeScalars.dropFirst(60).first != nil
    return "'\(String(shown))\(isCut ? "…" : "")'"
  }

  /// A list of names in the form `a, b and c`.
  static func list(_ names: [String], _ word: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) \(word) \(last)"
  }
}

/// Finds the name that a misspelt name may mean.
enum NearName {
  /// The name that is nearest to a wrong one; nil if all names are far from it.
  static func nearest(to wrong: String, among names: [String]) -> String? {
    let bytes = folded(wrong)
    guard bytes.count <= 40 else { return nil }
    let distances = names.map { (name: $0, distance: distance(bytes, folded($0))) }
    let most = bytes.count < 5 ? 1 : 2
    let near = distances.filter { $0.distance <= most }.min { $0.distance < $1.distance }
    return near?.name
  }

  private static func folded(_ name: String) -> [UInt8] {
    name.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
  }

  /// The number of bytes that must be added, removed, replaced, or exchanged with their neighbours.
  private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...second.count)
    for row in first.indices {
      var next = [row + 1]
      for column in second.indices {
        let isSame = first[row] == second[column]
        var best = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          best = min(best, before[column - 1] + 1)
        }
        next.append(best)
      }
      (before, last) = (last, next)
    }
    return last[second.count]
  }
}
