import Foundation

// BSON stores a pattern and letters for options. The letters `d` and `w` are those of ICU for options of Foundation that have no
// letter in BSON: `d` if lines end at a line feed only, `w` if word boundaries follow the rules of Unicode.
extension NSRegularExpression {
  /// The letters in alphabetical order, as BSON has them.
  private static let letters = "dimswx"

  /// The option of a letter; empty for `u`, because patterns always match by Unicode here. Nil for an unknown letter.
  private static func option(_ letter: Character) -> Options? {
    switch letter {
    case "d": .useUnixLineSeparators
    case "i": .caseInsensitive
    case "m": .anchorsMatchLines
    case "s": .dotMatchesLineSeparators
    case "u": Options()
    case "w": .useUnicodeWordBoundaries
    case "x": .allowCommentsAndWhitespace
    default: nil
    }
  }

  /// The pattern that matches the same texts with the options that have letters. If the expression treats its pattern as a plain
  /// text, it is that text with escapes.
  var patternForBSON: String {
    #if canImport(Darwin)
      options.contains(.ignoreMetacharacters) ? Self.escapedPattern(for: pattern) : pattern
    #else
      // On these systems Foundation stores such a pattern with its escapes.
      pattern
    #endif
  }

  /// The letters of the options.
  var optionsForBSON: String {
    Self.letters.filter { letter in Self.option(letter).map { options.contains($0) } ?? false }
  }

  /// Makes an expression; nil if the pattern is not valid, or if a letter stands for no option.
  static func fromBSON(pattern: String, options letters: String) -> NSRegularExpression? {
    var options: Options = []
    for letter in letters {
      guard let option = Self.option(letter) else { return nil }
      options.formUnion(option)
    }
    // ICU, the engine of all systems, does not accept an empty pattern.
    guard !pattern.isEmpty else { return nil }
    return try? NSRegularExpression(pattern: pattern, options: options)
  }
}
