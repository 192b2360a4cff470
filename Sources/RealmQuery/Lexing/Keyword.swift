import RealmStorage

/// A word that has a meaning in a query language.
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

  /// The words of RQL that are keywords in any mixture of capital and small letters.
  static let anyCase: [String: Keyword] = [
    "and": .and, "or": .or, "beginswith": .beginswith, "endswith": .endswith, "contains": .contains,
    "like": .like, "text": .text, "between": .between, "geowithin": .geowithin, "geobox": .geobox,
    "geocircle": .geocircle, "geopolygon": .geopolygon, "truepredicate": .truepredicate,
    "falsepredicate": .falsepredicate, "sort": .sort, "distinct": .distinct, "limit": .limit,
    "asc": .ascending, "ascending": .ascending, "desc": .descending, "descending": .descending,
    "subquery": .subquery, "obj": .obj, "bin": .binary, "binary": .binary, "null": .null, "nil": .null,
    "inf": .infinity, "infinity": .infinity, "nan": .nan,
  ]
  /// The words of RQL that are keywords only if all letters are capital, or all are small.
  static let uniformCase: [String: Keyword] = [
    "in": .isIn, "not": .not, "any": .any, "some": .any, "all": .all, "none": .noneOf, "true": .isTrue,
    "false": .isFalse, "first": .first, "last": .last, "size": .size,
  ]
  /// The words of formats that are keywords in any mixture of capital and small letters.
  static let format: [String: Keyword] = [
    "and": .and, "or": .or, "not": .not, "in": .isIn, "contains": .contains, "beginswith": .beginswith,
    "endswith": .endswith, "like": .like, "matches": .matches, "between": .between, "any": .any,
    "some": .any, "all": .all, "none": .noneOf, "true": .isTrue, "yes": .isTrue, "false": .isFalse,
    "no": .isFalse, "null": .null, "nil": .null, "self": .selfWord, "truepredicate": .truepredicate,
    "falsepredicate": .falsepredicate, "subquery": .subquery, "first": .first, "last": .last,
    "size": .size, "anykey": .anykey, "fetch": .fetch, "cast": .cast, "ternary": .ternary,
    "function": .function, "caseinsensitive": .caseinsensitive, "ci": .ci,
  ]

  /// The keyword that a word of RQL is; nil if the word is only a name.
  static func rql(_ source: SourceText, _ range: SourceRange) -> Keyword? {
    guard let word = Word(source, range) else { return nil }
    return Words.anyCase[word.letters] ?? (word.isUniform ? Words.uniformCase[word.letters] : nil)
  }

  /// The keyword that a word of formats is; nil if the word is only a name.
  static func format(_ source: SourceText, _ range: SourceRange) -> Keyword? {
    Word(source, range).flatMap { Words.format[$0.letters] }
  }

  /// The keywords by their letters as numbers, so that a word is looked up without making a string of it.
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

  /// A word that has only letters.
  private struct Word {
    /// The letters as small letters, one byte each, the last one in the lowest byte.
    var letters: UInt128 = 0
    /// Whether all letters are capital, or all are small.
    var isUniform: Bool

    /// It is nil for a word that has a character other than an ASCII letter, or more than 16 letters.
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

  /// Whether RQL also accepts the word as a name.
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

  /// The test that the word stands for between two values. The lexer of formats does not know the words TEXT and
  /// GEOWITHIN, so formats do not have their tests.
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
