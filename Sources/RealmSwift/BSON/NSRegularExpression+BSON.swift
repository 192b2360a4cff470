import Foundation

// BSON has a pattern and letters. The letters d and w are those of the engine of Foundation for what BSON has no letter for: `d`
// for lines that end on a line feed only, `w` for words by the rules of Unicode.
extension NSRegularExpression {
  /// In the order of the alphabet, as BSON has them.
  private static let letters = "dimswx"

  /// The option that a letter stands for; an empty one for `u`, since patterns always match by Unicode here. Nil of another letter.
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

  /// The pattern that finds the same with the options that have letters. Of an expression that takes its pattern for a plain text, that is
  /// the text with escapes.
  var patternForBSON: String {
    #if canImport(Darwin)
      options.contains(.ignoreMetacharacters) ? Self.escapedPattern(for: pattern) : pattern
    #else
      // Here Foundation keeps such a pattern with its escapes.
      pattern
    #endif
  }

  /// The letters of its options.
  var optionsForBSON: String {
    Self.letters.filter { letter in Self.option(letter).map { options.contains($0) } ?? false }
  }

  /// Nil of a pattern that the engine refuses, and of letters that stand for no option.
  static func fromBSON(pattern: String, options letters: String) -> NSRegularExpression? {
    var options: Options = []
    for letter in letters {
      guard let option = Self.option(letter) else { return nil }
      options.formUnion(option)
    }
    // ICU, which is the engine of every system, takes no empty pattern.
    guard !pattern.isEmpty else { return nil }
    return try? NSRegularExpression(pattern: pattern, options: options)
  }
}
