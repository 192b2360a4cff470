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

  private static let longest = 15

  static func rql(_ text: String) -> Keyword? {
    guard isWord(text) else { return nil }
    let lower = text.lowercased()
    if let keyword = anyCase[lower] { return keyword }
    return text == lower || text == text.uppercased() ? uniformCase[lower] : nil
  }

  static func format(_ text: String) -> Keyword? {
    isWord(text) ? format[text.lowercased()] : nil
  }

  /// Letters outside ASCII may have small letters in it.
  private static func isWord(_ text: String) -> Bool {
    text.utf8.count <= longest && text.utf8.allSatisfy { $0 < 0x80 }
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
