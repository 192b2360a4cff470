/// A condition on a row.
///
/// Null and other values: `equal` holds where both are null, `notEqual` where one of them is or they differ,
/// `lessOrEqual` and `greaterOrEqual` where both are null, the other orders never. In a column of strings of the table
/// itself, though, which holds no lists, null comes before all strings, and is ordered so.
///
/// Numbers of all types compare by value, exactly. NaN equals nothing and has no order; -0.0 equals 0.0. Strings and
/// data compare by their bytes. Values of types that do not compare, a string and a number, are never equal and have
/// no order; the same holds of the order of links, which may be equal only.
///
/// Predicates may be joined to any depth and of any number of parts: none is tested, compared or freed by recursion.
public enum Predicate: Sendable {
  case always
  case never
  /// How the column's value compares with another, which stands on the right.
  case compare(ColumnPath, Comparison, Value)
  /// A test of a string, or of data, against another: see `TextMatch`.
  case text(ColumnPath, TextMatch, Value, options: TextOptions)
  /// The column's value equals one of them.
  case isIn(ColumnPath, [Value])
  /// The column's value is neither less than the first nor greater than the second.
  case between(ColumnPath, Value, Value)
  /// How the number of elements of a list compares with another.
  ///
  /// Where a link on the way is null, there is no list of links, and any other has no elements.
  case count(ColumnPath, Comparison, Int)
  /// A test of any expression against another. `Predicate.test` makes one of the conditions above instead, where one says the same.
  case relation(Relation)
  /// All hold; so it does without any.
  case and(PredicateParts)
  /// One of them holds; it does not without any.
  case or(PredicateParts)
  /// It does not hold that all do: of one part, that it does.
  case not(PredicateParts)

  /// All hold; so it does without any.
  public static func and(_ parts: [Predicate]) -> Predicate { .and(PredicateParts(parts)) }
  /// One of them holds; it does not without any.
  public static func or(_ parts: [Predicate]) -> Predicate { .or(PredicateParts(parts)) }
  /// It does not hold.
  public static func not(_ part: Predicate) -> Predicate { .not(PredicateParts([part])) }

  /// Where the values are that a condition tests; nil of what is joined, or constant.
  var path: ColumnPath? {
    switch self {
    case .compare(let path, _, _), .text(let path, _, _, _), .isIn(let path, _), .between(let path, _, _),
      .count(let path, _, _):
      path
    case .always, .never, .relation, .and, .or, .not: nil
    }
  }

  /// Of what it is joined; nil of a condition.
  var parts: PredicateParts? {
    switch self {
    case .and(let parts), .or(let parts), .not(let parts): parts
    default: nil
    }
  }
}

/// Tests of a string or data against another of its kind; nothing else passes any but `notEqual`.
public enum TextMatch: Sendable, Hashable, CaseIterable {
  /// Null passes where the other is null too.
  case equal
  /// What does not pass `equal`.
  case notEqual
  /// Nothing contains an empty one, or null; nor does anything begin or end with it.
  case contains, begins, ends
  /// The other is a pattern: `*` stands for any characters, `?` for one; in data for bytes. Null is like null only.
  ///
  /// A character is a scalar, of the string as the options fold it. The test takes time in proportion to the length of the
  /// string times that of the longest part of the pattern between two stars.
  case like
}

/// How tests of strings compare letters.
public struct TextOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Capital letters equal small ones: by simple case folding of Unicode 14.0, which is the statuses C and S of its table.
  ///
  /// One scalar becomes one scalar, so that ß and SS differ. It is the same table in every process and on every machine,
  /// whatever Unicode their systems have. Data is compared as by `latin1Case`.
  public static let ignoringCase = TextOptions(rawValue: 1)
  /// Letters with and without diacritics are the same: strings are compared by their canonical decomposition (NFD) by Unicode
  /// 14.0, Hangul too, without nonspacing marks (general category Mn).
  ///
  /// With an option of case, case is folded after that. A string of marks alone is empty then. Data has no diacritics: it is
  /// compared by its bytes.
  public static let ignoringDiacritics = TextOptions(rawValue: 2)
  /// A to Z and U+00C0 to U+00DE but U+00D7 equal their small letters, and other letters only themselves.
  ///
  /// It is how other databases of this API fold strings. Data is compared so as if it were UTF-8. Beside `ignoringCase`,
  /// which folds these and more, it changes nothing.
  public static let latin1Case = TextOptions(rawValue: 4)
}

/// Leads from a row to a column's values: over links, or straight.
///
/// It has no more than `maximumLinks` links. Columns are named by their position in the schema of the table they belong to. A
/// link that is null leads to null.
/// Over a list of links, or to a list, there are any number of values: then a condition holds where one of them passes,
/// and links that are null lead nowhere.
public struct ColumnPath: Sendable, Hashable {
  /// Columns of links, or of lists of links, one after another.
  public var links: [Int]
  /// The column of the table they lead to.
  public var column: Int

  /// So many links at most one path has: each takes room on the stack.
  public static let maximumLinks = 64

  /// A column of the row itself.
  public init(_ column: Int) { self.init(links: [], column: column) }

  public init(links: [Int], column: Int) {
    self.links = links
    self.column = column
  }
}

/// One of the columns rows are sorted by.
public struct SortKey: Sendable, Hashable {
  /// - Precondition: of `Table.sorted`, there is no list on it.
  public var path: ColumnPath
  public var ascending: Bool

  public init(_ path: ColumnPath, ascending: Bool = true) {
    self.path = path
    self.ascending = ascending
  }
}
