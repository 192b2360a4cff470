/// An expression on one side of a test: it gives a value, or several, for a row.
///
/// Its parts are stored in the order in which they are computed: operands before their operation. So expressions of any depth are
/// computed, compared and released without recursion.
///
/// For a row an expression gives *groups* of values. Most expressions give one group: a constant, or a path through links to
/// single objects, gives a group of one value; a list of constants, or a path through collections, gives a sequence. A path
/// through collections of links to a collection of values gives one sequence for each owner of such a collection. If an index or
/// a key leads to nothing, there is no group.
public struct Expression: Sendable, Hashable {
  /// A part of an expression.
  public enum Part: Sendable, Hashable {
    /// A constant value.
    case constant(Value)
    /// A sequence of constant values.
    case list([Value])
    /// The values at the end of a path.
    case path(ValuePath)
    /// The result of an operation on the results of the two parts before it.
    case arithmetic(Arithmetic)
  }

  /// An operation on two numbers.
  public enum Arithmetic: Sendable, Hashable, CaseIterable {
    /// Addition, subtraction and multiplication.
    case plus, minus, times
    /// Division. The result for whole numbers is rounded towards zero. A whole number divided by zero gives the greatest whole
    /// number, or the least one if the number is negative.
    case divided
  }

  /// The parts, operands before their operations, as in reverse Polish notation.
  public let parts: [Part]

  private init(parts: [Part]) { self.parts = parts }

  /// Makes an expression of a constant.
  public static func constant(_ value: Value) -> Expression { Expression(parts: [.constant(value)]) }
  /// Makes an expression of a sequence of constants.
  public static func list(_ values: [Value]) -> Expression { Expression(parts: [.list(values)]) }
  /// Makes an expression of a path.
  public static func path(_ path: ValuePath) -> Expression { Expression(parts: [.path(path)]) }

  /// Makes an expression that computes numbers.
  ///
  /// The result of an operation has the wider type of its operands: whole number, float, double or decimal. It is null if an
  /// operand is null or not a number. A whole number that does not fit 64 bits becomes the greatest or the least one that does.
  /// For a sequence and a number the result is a sequence.
  ///
  /// - Parameter parts: the parts of the left operand, then those of the right one, then the operation, and so on in the order in
  ///   which they are computed.
  /// - Precondition: each operation has two operands, and one result is left at the end. Otherwise the program stops.
  public static func computed(_ parts: [Part]) -> Expression {
    var depth = 0
    for part in parts {
      if case .arithmetic = part { depth -= 1 } else { depth += 1 }
      precondition(depth >= 1, "Expression.computed: an operation has no operands")
    }
    precondition(depth == 1, "Expression.computed: \(depth) values are left, not one")
    return Expression(parts: parts)
  }

  /// The path, if the expression is only a path; otherwise nil.
  public var path: ValuePath? {
    if parts.count == 1, case .path(let path) = parts[0] { path } else { nil }
  }

  /// The constant, if the expression is only a constant; otherwise nil.
  public var constant: Value? {
    if parts.count == 1, case .constant(let value) = parts[0] { value } else { nil }
  }

  /// The constants, if the expression is only a list; otherwise nil.
  public var list: [Value]? {
    if parts.count == 1, case .list(let values) = parts[0] { values } else { nil }
  }
}

/// A path from a row to values: through links, through links of other rows to it, and into collections.
///
/// Columns are named by their position in the schema of their table. A single link that is null leads to null; a null link in a
/// collection leads nowhere.
public struct ValuePath: Sendable, Hashable {
  /// A step from a row to another one, or to several.
  public enum Step: Sendable, Hashable {
    /// Follows a column of links, or of a collection of links.
    case links(Int)
    /// Goes to the rows of a table that link to this row by a column. Both are named by their ids. A row comes as often as it
    /// links.
    case backlinks(table: UInt32, column: UInt16)
  }

  /// What a path takes of each row that its steps reach.
  public indirect enum End: Sendable, Hashable {
    /// The row itself, as a link to it.
    case row
    /// The value of a column, or the elements of its collection.
    case value(Int)
    /// Parts of the value of a column.
    case inner(Int, [InnerStep])
    /// The keys of a column's map.
    case keys(Int)
    /// A property of each value of another end, which is `value` or `inner`. For a collection that is `value`, it is the property
    /// of the whole collection.
    case property(ValueProperty, of: End)
    /// The number of rows to which the steps lead from here.
    case rowCount([Step])
    /// The number of links to the row from all tables.
    case linkCount
    /// One number made of the values to which the steps lead from here: of a column of single values, of the elements of a
    /// collection, or of parts of them, as the end says.
    case aggregate(PathAggregate, [Step], of: End)
    /// The number of rows to which the steps lead from here and that match a condition.
    case subquery([Step], Predicate)
  }

  /// A step into a collection or a mixed value.
  public enum InnerStep: Sendable, Hashable {
    /// The element at an index. A negative index has no element.
    case index(Int)
    /// The first element, or the last one.
    case first, last
    /// The value for a key of a map; for a link, the property with that stored name of the linked row.
    case key(String)
    /// All elements of a list, or all values of a map.
    case all
    /// All keys of a map.
    case keys
  }

  /// A property of a value.
  public enum ValueProperty: Sendable, Hashable {
    /// The number of elements of a collection, of bytes of a string or data, or of rows of a link, which is 0 or 1. It is null
    /// for a null that is not a link. Other values have no count.
    case count
    /// The number of bytes of a string or data; 0 for null. Other values are left out.
    case length
    /// The type of the value: `ValueType.rawValue` as a whole number.
    case type
  }

  /// The steps from the row to other rows.
  public var steps: [Step]
  /// What is taken of the rows that the steps reach.
  public var end: End

  /// Makes a path.
  public init(_ steps: [Step] = [], _ end: End) {
    self.steps = steps
    self.end = end
  }

  /// The greatest number of steps in a path, and the greatest number of nested subqueries. Each takes space on the stack.
  public static let maximumSteps = 64
}

/// A way to make one value of many. Nulls and NaN are left out.
public enum PathAggregate: Sendable, Hashable, CaseIterable {
  /// The smallest or the greatest value; null if there is no value.
  case min, max
  /// The sum; 0 if there is no value.
  case sum
  /// The average: a decimal for decimals, otherwise a double; null if there is no value.
  case average
}

/// The type of a value, for tests of types. The numbers are those that `ValuePath.ValueProperty.type` gives.
public enum ValueType: Int64, Sendable, CaseIterable {
  /// The types of the cases of `Value`. Both kinds of links are `link`.
  case null, bool, int, float, double, decimal128, string, data, date, objectID, uuid, link, list, map

  /// The type of a value.
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
