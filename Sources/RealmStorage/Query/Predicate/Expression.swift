/// What stands on one side of a test: a value, or several, that a row gives.
///
/// Its parts stand in the order in which they are computed: operands before what is done with them. So an expression of any depth is
/// computed, compared and freed without recursion.
///
/// A row gives *groups* of values. Most expressions give one group: a constant, or a path over links to one object each, gives one value, and a list of
/// constants, or a path over collections, gives a sequence. A path to a collection of values over collections of links gives a sequence for each owner of
/// such a collection. Where an index or a key leads to nothing there is no group at all.
public struct Expression: Sendable, Hashable {
  public enum Part: Sendable, Hashable {
    case constant(Value)
    /// A sequence of constants.
    case list([Value])
    case path(ValuePath)
    /// What an operation makes of the two parts before it.
    case arithmetic(Arithmetic)
  }

  public enum Arithmetic: Sendable, Hashable, CaseIterable {
    case plus, minus, times
    /// Of whole numbers it is cut towards zero; divided by zero, a whole number is the greatest there is, or the least where it is negative.
    case divided
  }

  /// Operands before operations, as in reverse Polish notation.
  public let parts: [Part]

  private init(parts: [Part]) { self.parts = parts }

  public static func constant(_ value: Value) -> Expression { Expression(parts: [.constant(value)]) }
  public static func list(_ values: [Value]) -> Expression { Expression(parts: [.list(values)]) }
  public static func path(_ path: ValuePath) -> Expression { Expression(parts: [.path(path)]) }

  /// What an operation makes of two numbers: an integer, a float, a double or a decimal, whichever of both is the widest. Null, and what is no number, makes null.
  ///
  /// A sequence and a number make a sequence.
  /// - Parameter parts: the parts of the left operand, then those of the right one, then further operands and operations in the order in which they are computed.
  /// - Precondition: each operation has two operands, and one value is left.
  public static func computed(_ parts: [Part]) -> Expression {
    var depth = 0
    for part in parts {
      if case .arithmetic = part { depth -= 1 } else { depth += 1 }
      precondition(depth >= 1, "Expression.computed: an operation has no operands")
    }
    precondition(depth == 1, "Expression.computed: \(depth) values are left, not one")
    return Expression(parts: parts)
  }

  /// The path, where it is nothing else.
  public var path: ValuePath? {
    if parts.count == 1, case .path(let path) = parts[0] { path } else { nil }
  }

  /// The constant, where it is nothing else.
  public var constant: Value? {
    if parts.count == 1, case .constant(let value) = parts[0] { value } else { nil }
  }

  /// The constants of a list, where it is nothing else.
  public var list: [Value]? {
    if parts.count == 1, case .list(let values) = parts[0] { values } else { nil }
  }
}

/// Leads from a row to values: over links, links of others to it, and into collections.
///
/// Columns are named by their position in the schema of the table that they belong to. A link to one row that is null leads to null; one in a collection leads nowhere.
public struct ValuePath: Sendable, Hashable {
  /// A step from a row to another one, or to several.
  public enum Step: Sendable, Hashable {
    /// Along a column of links, or of a collection of links.
    case links(Int)
    /// To the rows of a table that link here by a column: both are named by their ids. A row comes as often as it links.
    case backlinks(table: UInt32, column: UInt16)
  }

  /// What is taken of each row that the steps reach.
  public indirect enum End: Sendable, Hashable {
    /// The row, as a link to it.
    case row
    /// The value of a column, or the elements of its collection.
    case value(Int)
    /// What stands in the value of a column.
    case inner(Int, [InnerStep])
    /// The keys of the map of a column.
    case keys(Int)
    /// A number or a name that is made of each value of another end, which is `value` or `inner`; of a collection as a whole, where it is `value`.
    case property(ValueProperty, of: End)
    /// How many rows the steps lead to from here.
    case rowCount([Step])
    /// How many links lead to the row, from any table.
    case linkCount
    /// One number of the values that the steps lead to from here: of a column of single values or the elements of a collection, or, where the end says so, of what
    /// stands there.
    case aggregate(PathAggregate, [Step], of: End)
    /// How many rows that the steps lead to from here meet a condition.
    case subquery([Step], Predicate)
  }

  /// Into a collection, or a mixed value.
  public enum InnerStep: Sendable, Hashable {
    /// The element at a place. A negative one is none.
    case index(Int)
    case first, last
    /// The value of a map for a key; of a link, the property of that stored name of the row.
    case key(String)
    /// Each element of a list, each value of a map.
    case all
    /// Each key of a map.
    case keys
  }

  public enum ValueProperty: Sendable, Hashable {
    /// How many elements a collection has, bytes a string or data, and rows a link: 0 or 1. Null where the value is null and no link; nothing of other values.
    case count
    /// How many bytes each string or data has; 0 of null. Other values are left out.
    case length
    /// The type of each value: `ValueType.rawValue` as a whole number.
    case type
  }

  public var steps: [Step]
  public var end: End

  public init(_ steps: [Step] = [], _ end: End) {
    self.steps = steps
    self.end = end
  }

  /// So many steps at most one path has, and so many subqueries stand in each other: each takes room on the stack.
  public static let maximumSteps = 64
}

/// How many values become one. Nulls and NaN are left out.
public enum PathAggregate: Sendable, Hashable, CaseIterable {
  /// Null without any value.
  case min, max
  /// 0 without any value.
  case sum
  /// A double, of decimals a decimal; null without any value.
  case average
}

/// The types of values, as tests of a type know them.
public enum ValueType: Int64, Sendable, CaseIterable {
  case null, bool, int, float, double, decimal128, string, data, date, objectID, uuid, link, list, map

  public init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .bool: .bool
      case .int: .int
      case .float: .float
      case .double: .double
      case .decimal128: .decimal128
      case .string: .string
      case .data: .data
      case .date: .date
      case .objectID: .objectID
      case .uuid: .uuid
      case .link, .typedLink: .link
      case .list: .list
      case .map: .map
      }
  }
}
