import Foundation
import RealmStorage

/// Folding of letters with the data of Swift and Foundation, whose version of Unicode is newer than the engine's
/// tables.
enum PlainLetters {
  /// The scalars of a string, folded by the options.
  static func folded(_ text: String, _ options: TextOptions) -> [UInt32] {
    var scalars = Array(text.unicodeScalars)
    if options.contains(.ignoringDiacritics) { scalars = withoutMarks(scalars) }
    return scalars.map { scalar in
      if options.contains(.ignoringCase) { return caseFolded(scalar).value }
      return options.contains(.latin1Case) ? latin1Folded(scalar.value) : scalar.value
    }
  }

  static func latin1Folded(_ scalar: UInt32) -> UInt32 {
    let isCapital =
      (0x41...0x5a).contains(scalar) || ((0xc0...0xde).contains(scalar) && scalar != 0xd7)
    return isCapital ? scalar + 0x20 : scalar
  }

  /// The simple case folding of a scalar, derived from its capital and small letters.
  static func caseFolded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    func only(_ mapping: String) -> Unicode.Scalar? {
      mapping.unicodeScalars.count == 1 ? mapping.unicodeScalars.first : nil
    }
    func small(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
      only(scalar.properties.lowercaseMapping) ?? scalar
    }
    func capital(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
      only(scalar.properties.uppercaseMapping) ?? scalar
    }
    switch scalar.value {
    // The dotless i is a letter of its own.
    case 0x131: return scalar
    // Cherokee had capital letters first, so its small letters fold to capital letters.
    case 0x13a0...0x13ff, 0xab70...0xabbf: return capital(scalar)
    default: return small(capital(small(scalar)))
    }
  }

  /// Canonical decomposition without nonspacing marks, with the remaining scalars in canonical order.
  static func withoutMarks(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var found: [Unicode.Scalar] = []
    for scalar in scalars {
      // Each scalar is decomposed alone, because Foundation would order the marks of the whole text before some are
      // dropped.
      for part in String(Character(scalar)).decomposedStringWithCanonicalMapping.unicodeScalars
      where part.properties.generalCategory != .nonspacingMark {
        var place = found.count
        let mark = part.properties.canonicalCombiningClass
        while mark != .notReordered, place > 0, found[place - 1].properties.canonicalCombiningClass > mark {
          place -= 1
        }
        found.insert(part, at: place)
      }
    }
    return found
  }

  /// Whether a scalar is assigned in the engine's version of Unicode.
  static func isAssigned(_ scalar: Unicode.Scalar) -> Bool {
    guard let age = scalar.properties.age else { return false }
    return age.major <= 14
  }
}
