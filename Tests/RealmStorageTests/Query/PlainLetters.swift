import Foundation
import RealmStorage

/// Folding of letters by what Swift and Foundation know of Unicode, which is newer than the engine's table.
enum PlainLetters {
  /// A string as the options fold it.
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

  /// The simple case folding of a scalar, told by what its capital and small letters are.
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
    // The letter without a dot is a letter of its own.
    case 0x131: return scalar
    // Cherokee had capital letters first: they are what its letters fold to.
    case 0x13a0...0x13ff, 0xab70...0xabbf: return capital(scalar)
    default: return small(capital(small(scalar)))
    }
  }

  /// Canonical decomposition without nonspacing marks, and canonical order of what remains.
  static func withoutMarks(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var found: [Unicode.Scalar] = []
    for scalar in scalars {
      // One by one: Foundation would put the marks of the whole text in order before some are dropped.
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

  /// Whether the engine's Unicode has a scalar.
  static func isAssigned(_ scalar: Unicode.Scalar) -> Bool {
    guard let age = scalar.properties.age else { return false }
    return age.major <= 14
  }
}
