/// A condition on a row.
///
/// Comparisons with null: `equal`, `lessOrEqual` and `greaterOrEqual` hold if both sides are null, `notEqual` holds if exactly
/// one side is null, and `less` and `greater` never hold. There is one exception: for a string column of the table itself that is
/// not a collection, null is less than all strings.
///
/// Numbers of all types are compared by their exact values. NaN equals nothing and has no order; -0.0 equals 0.0. Strings and
/// data are compared by their bytes. Values of types that can't be compared, such as a string and a number, are never equal and
/// have no order. Links can be equal, but have no order either.
///
/// Predicates may be joined to any depth and with any number of parts: they are tested, compared and released without recursion.
public enum Predicate: Sendable {
  /// Every row matches.
  case always
  /// No row matches.
  case never
  /// The value at the path, on the left, is compared with a constant on the right.
  case compare(ColumnPath, Comparison, Value)
  /// The string or data at the path is tested against a constant; see `TextMatch`.
  case text(ColumnPath, TextMatch, Value, options: TextOptions)
  /// The value at the path equals one of the constants.
  case isIn(ColumnPath, [Value])
  /// The value at the path is neither less than the first constant nor greater than the second one.
  case between(ColumnPath, Value, Value)
  /// The number of elements of the collection at the path is compared with a constant.
  ///
  /// If a link on the path is null, a collection of links is missing and does not match, and any other collection counts as
  /// empty.
  case count(ColumnPath, Comparison, Int)
  /// One expression is tested against another. `Predicate.test` makes one of the simpler conditions above if one says the same.
  case relation(Relation)
  /// All parts match. Without parts every row matches.
  case and(PredicateParts)
  /// At least one part matches. Without parts no row matches.
  case or(PredicateParts)
  /// Not all parts match. With one part, that part does not match.
  case not(PredicateParts)

  /// Makes a predicate that matches if all parts match. Without parts every row matches.
  public static func and(_ parts: [Predicate]) -> Predicate { .and(PredicateParts(parts)) }
  /// Makes a predicate that matches if at least one part matches. Without parts no row matches.
  public static func or(_ parts: [Predicate]) -> Predicate { .or(PredicateParts(parts)) }
  /// Makes a predicate that matches if the part does not.
  public static func not(_ part: Predicate) -> Predicate { .not(PredicateParts([part])) }

  /// The path of a simple condition; nil for joined, constant and relational predicates.
  var path: ColumnPath? {
    switch self {
    case .compare(let path, _, _), .text(let path, _, _, _), .isIn(let path, _), .between(let path, _, _),
      .count(let path, _, _):
      path
    case .always, .never, .relation, .and, .or, .not: nil
    }
  }

  /// The parts of a joined predicate; nil for other predicates.
  var parts: PredicateParts? {
    switch self {
    case .and(let parts), .or(let parts), .not(let parts): parts
    default: nil
    }
  }
}

/// A test of a string or data against a constant of the same kind. Other values match only `notEqual`.
public enum TextMatch: Sendable, Hashable, CaseIterable {
  /// Both are equal. Null equals null.
  case equal
  /// The test `equal` does not hold.
  case notEqual
  /// The value contains the constant, begins with it, or ends with it. None of these holds if the constant is empty or null.
  case contains, begins, ends
  /// The value matches a pattern: `*` stands for any characters, `?` for exactly one; in data for bytes. Null matches only the
  /// pattern null.
  ///
  /// A character is a Unicode scalar of the string after folding by the options. The test takes time in proportion to the length
  /// of the string times that of the longest part of the pattern between two stars.
  case like
}

/// Options for the comparison of letters in tests of strings.
public struct TextOptions: OptionSet, Sendable, Hashable {
  /// The bits of the options.
  public let rawValue: UInt8
  /// Makes options of their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Capital and small letters are equal, by the simple case folding of Unicode 14.0 (the statuses C and S of its table).
  ///
  /// Each scalar is folded to one scalar, so ß and SS differ. The table is the same in all processes and on all machines. In
  /// data, letters are folded as by `latin1Case`.
  public static let ignoringCase = TextOptions(rawValue: 1)
  /// Letters with and without diacritics are equal: strings are compared by their canonical decomposition (NFD) of Unicode 14.0,
  /// also of Hangul, without nonspacing marks (general category Mn).
  ///
  /// If an option folds case too, that happens afterwards. A string with only marks becomes empty. Data is compared by its bytes.
  public static let ignoringDiacritics = TextOptions(rawValue: 2)
  /// The letters A to Z, and U+00C0 to U+00DE without U+00D7, equal their small letters. Other letters equal only themselves.
  ///
  /// Other databases with this API fold strings like this. Data is folded as if it were UTF-8. Together with `ignoringCase`,
  /// which folds these letters too, this option has no effect.
  public static let latin1Case = TextOptions(rawValue: 4)
}

/// A path from a row to the values of a column: of the row itself, or of rows to which links lead.
///
/// It has at most `maximumLinks` links. Columns are named by their position in the schema of their table. A null link leads to
/// null. A path through a collection of links, or to a collection, has any number of values: then a condition matches if one of
/// them does, and null links have no value.
public struct ColumnPath: Sendable, Hashable {
  /// The columns of links, or of collections of links, one after another.
  public var links: [Int]
  /// The column, in the table to which the links lead.
  public var column: Int

  /// The greatest number of links in a path. Each link takes space on the stack.
  public static let maximumLinks = 64

  /// Makes a path to a column of the row itself.
  public init(_ column: Int) { self.init(links: [], column: column) }

  /// Makes a path to a column of the rows to which links lead.
  public init(links: [Int], column: Int) {
    self.links = links
    self.column = column
  }
}

/// A column by which rows are sorted.
public struct SortKey: Sendable, Hashable {
  /// The path to the values. For `Table.sorted` it leads to single values: none of its columns is a collection.
  public var path: ColumnPath
  /// Whether small values come first.
  public var ascending: Bool

  /// Makes a sort key.
  public init(_ path: ColumnPath, ascending: Bool = true) {
    self.path = path
    self.ascending = ascending
  }
}
