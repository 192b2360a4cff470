import RealmStorage

/// A word that a language gives a meaning.
enum Keyword: String, CaseIterable {
  case and, or, not
  case isIn = "in"
  case contains, beginswith, endswith, like, matches, between, text
  case any, all
  case noneOf = "none"
  case isTrue = "true"
  case isFalse = "false"
  case null, infinity, nan
  case truepredicate, falsepredicate
  case first, last, size
  case sort, distinct, limit, ascending, descending
  case subquery, obj, binary
  case geowithin, geobox, geocircle, geopolygon
  case selfWord = "self"
  /// Words of formats that no query uses.
  case anykey, fetch, cast, ternary, function, caseinsensitive, ci

  /// Words of RQL that count in any mixture of capital and small letters.
  static let anyCase: [String: Keyword] = [
    "and": .and, "or": .or, "beginswith": .beginswith, "endswith": .endswith, "contains": .contains,
    "like": .like, "text": .text, "between": .between, "geowithin": .geowithin, "geobox": .geobox,
    "geocircle": .geocircle, "geopolygon": .geopolygon, "truepredicate": .truepredicate,
    "falsepredicate": .falsepredicate, "sort": .sort, "distinct": .distinct, "limit": .limit,
    "asc": .ascending, "ascending": .ascending, "desc": .descending, "descending": .descending,
    "subquery": .subquery, "obj": .obj, "bin": .binary, "binary": .binary, "null": .null, "nil": .null,
    "inf": .infinity, "infinity": .infinity, "nan": .nan,
  ]
  /// Words of RQL that count in capital or in small letters only.
  static let uniformCase: [String: Keyword] = [
    "in": .isIn, "not": .not, "any": .any, "some": .any, "all": .all, "none": .noneOf, "true": .isTrue,
    "false": .isFalse, "first": .first, "last": .last, "size": .size,
  ]
  /// Words of formats, which count in any mixture of capital and small letters.
  static let format: [String: Keyword] = [
    "and": .and, "or": .or, "not": .not, "in": .isIn, "contains": .contains, "beginswith": .beginswith,
    "endswith": .endswith, "like": .like, "matches": .matches, "between": .between, "any": .any,
    "some": .any, "all": .all, "none": .noneOf, "true": .isTrue, "yes": .isTrue, "false": .isFalse,
    "no": .isFalse, "null": .null, "nil": .null, "self": .selfWord, "truepredicate": .truepredicate,
    "falsepredicate": .falsepredicate, "subquery": .subquery, "first": .first, "last": .last,
    "size": .size, "anykey": .anykey, "fetch": .fetch, "cast": .cast, "ternary": .ternary,
    "function": .function, "caseinsensitive": .caseinsensitive, "ci": .ci,
  ]

  /// The meaning of a word of RQL; nil of one that is a name only.
  static func rql(_ source: SourceText, _ range: SourceRange) -> Keyword? {
    guard let word = Word(source, range) else { return nil }
    return Words.anyCase[word.letters] ?? (word.isUniform ? Words.uniformCase[word.letters] : nil)
  }

  /// The meaning of a word of formats; nil of one that is a name only.
  static func format(_ source: SourceText, _ range: SourceRange) -> Keyword? {
    Word(source, range).flatMap { Words.format[$0.letters] }
  }

  /// The tables by letters, so that no word of a text becomes a string only to be looked up.
  private enum Words {
    static let anyCase = byLetters(Keyword.anyCase)
    static let uniformCase = byLetters(Keyword.uniformCase)
    static let format = byLetters(Keyword.format)

    private static func byLetters(_ words: [String: Keyword]) -> [UInt128: Keyword] {
      words.reduce(into: [:]) { table, entry in
        let source = SourceText(entry.key)
        if let word = Word(source, SourceRange(0, source.bytes.count)) { table[word.letters] = entry.value }
      }
    }
  }

  /// A word of letters only.
  private struct Word {
    /// The letters as small ones, a byte each.
    var letters: UInt128 = 0
    /// Whether all letters are capital, or all small.
    var isUniform: Bool

    /// It is nil of a word that has another character, or more than 16.
    init?(_ source: SourceText, _ range: SourceRange) {
      guard range.upperBound - range.lowerBound <= 16 else { return nil }
      var (small, count) = (0, 0)
      for offset in range.lowerBound..<range.upperBound {
        let byte = source.bytes[offset]
        guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) else { return nil }
        letters = letters << 8 | UInt128(byte | 0x20)
        small += byte & 0x20 == 0 ? 0 : 1
        count += 1
      }
      isUniform = small == 0 || small == count
    }
  }

  /// Whether RQL takes the word as a name too.
  var isName: Bool {
    switch self {
    case .beginswith, .endswith, .contains, .like, .between, .sort, .distinct, .limit, .ascending,
      .descending, .isIn, .text, .binary, .first, .last, .size:
      true
    default: false
    }
  }

  var quantifier: QuerySyntax.Quantifier? {
    switch self {
    case .any: .any
    case .all: .all
    case .noneOf: QuerySyntax.Quantifier.none
    default: nil
    }
  }

  /// The test of the word between two values; that of formats is without TEXT and GEOWITHIN because their lexer finds
  /// no such words.
  var testOperator: QuerySyntax.TestOperator? {
    switch self {
    case .isIn: .isIn
    case .contains: .contains
    case .beginswith: .beginsWith
    case .endswith: .endsWith
    case .like: .like
    case .matches: .matches
    case .between: .between
    case .text: .fullText
    case .geowithin: .geoWithin
    default: nil
    }
  }
}

extension Symbol {
  var testOperator: QuerySyntax.TestOperator? {
    switch self {
    case .equal: .compare(.equal)
    case .notEqual: .compare(.notEqual)
    case .less: .compare(.less)
    case .lessOrEqual: .compare(.lessOrEqual)
    case .greater: .compare(.greater)
    case .greaterOrEqual: .compare(.greaterOrEqual)
    default: nil
    }
  }

  var arithmeticOperator: QuerySyntax.ArithmeticOperator? {
    switch self {
    case .plus: .plus
    case .minus: .minus
    case .times: .times
    case .divided: .divided
    default: nil
    }
  }
}
