/// A test of one expression against another.
///
/// A row matches if the test holds for one group of values on the left side and one group on the right side (see `Expression`):
/// - Two single values are tested as they are.
/// - Two sequences, if neither side has a quantifier, are tested element by element: all pairs must pass, and both must have the
///   same length. `notEqual` also holds if the lengths differ.
/// - In all other cases a single value counts as a sequence of one value, each value on the left is tested against those on the
///   right, and the quantifiers say how many of them must pass. A missing quantifier means `any`.
public struct Relation: Sendable, Hashable {
  /// The test of two values.
  public enum Test: Sendable, Hashable {
    /// A comparison; see `Predicate`.
    case compare(Comparison)
    /// A test of strings or data; see `TextMatch`.
    case text(TextMatch, options: TextOptions)
  }

  /// How many of several values must pass a test.
  public enum Quantifier: Sendable, Hashable, CaseIterable {
    /// At least one value.
    case any
    /// All values. The test also holds if there is no value.
    case all
    /// No value. The test also holds if there is no value.
    case none
  }

  /// One side of a test.
  public struct Side: Sendable, Hashable {
    /// The expression that gives the values.
    public var expression: Expression
    /// How many of the values must pass; nil if the query says nothing.
    public var quantifier: Quantifier?

    /// Makes a side.
    public init(_ expression: Expression, _ quantifier: Quantifier? = nil) {
      self.expression = expression
      self.quantifier = quantifier
    }
  }

  /// The left side.
  public var left: Side
  /// The test.
  public var test: Test
  /// The right side.
  public var right: Side

  /// Makes a test of two sides.
  public init(_ left: Side, _ test: Test, _ right: Side) {
    (self.left, self.test, self.right) = (left, test, right)
  }
}

extension Predicate {
  /// Makes a test of one expression against another, in the fastest form: `compare`, `text`, `isIn` or `count` if the left side
  /// is a column, directly or through links, and the right side is a constant; otherwise `relation`.
  public static func test(
    _ left: Relation.Side, _ test: Relation.Test, _ right: Relation.Side
  ) -> Predicate {
    let relation = Relation(left, test, right)
    guard let path = left.expression.path, let simple = relation.onColumn(path) else {
      return .relation(relation)
    }
    return left.quantifier == Relation.Quantifier.none ? .not(simple) : simple
  }
}

extension Relation {
  /// The same test as a condition on a column, without a NONE on the left; nil if there is no such condition.
  fileprivate func onColumn(_ path: ValuePath) -> Predicate? {
    guard left.quantifier != .all, right.quantifier == nil || right.expression.list != nil else { return nil }
    let counted: Bool
    let column: Int
    switch path.end {
    case .value(let found): (column, counted) = (found, false)
    // If the column is no collection, `TestBuilder` turns the count back into a relation.
    case .property(.count, of: .value(let found)): (column, counted) = (found, true)
    default: return nil
    }
    var links: [Int] = []
    for step in path.steps {
      guard case .links(let link) = step else { return nil }
      links.append(link)
    }
    let place = ColumnPath(links: links, column: column)
    if counted {
      guard case .compare(let comparison) = test, case .int(let number)? = right.expression.constant,
        let count = Int(exactly: number), right.quantifier == nil
      else { return nil }
      return .count(place, comparison, count)
    }
    if let constant = right.expression.constant {
      if constant.elements != nil { return nil }
      switch test {
      case .compare(let comparison): return .compare(place, comparison, constant)
      case .text(let match, let options): return .text(place, match, constant, options: options)
      }
    }
    // Two sequences without quantifiers are compared element by element. Only the column says whether the left side is a
    // sequence.
    guard let values = right.expression.list, test == .compare(.equal), left.quantifier != nil,
      right.quantifier == nil || right.quantifier == .any
    else { return nil }
    return .isIn(place, values)
  }
}

extension Relation {
  /// The columns of the row that the test reads; nil if it reads other rows.
  var columnsRead: [Int]? {
    var columns: [Int] = []
    for part in left.expression.parts + right.expression.parts {
      guard case .path(let path) = part else { continue }
      guard path.steps.isEmpty, let found = path.end.columnRead else { return nil }
      columns += found
    }
    return columns
  }
}

extension ValuePath.End {
  /// The columns of the row that the end reads, one or none; nil if it reads other rows.
  var columnRead: [Int]? {
    switch self {
    case .row: []
    case .value(let column), .keys(let column): [column]
    // A link in a mixed value may lead to another row.
    case .inner(let column, let steps): steps.allSatisfy(\.staysInRow) ? [column] : nil
    case .property(_, let end): end.columnRead
    case .aggregate(_, let steps, let end): steps.isEmpty ? end.columnRead : nil
    case .rowCount, .linkCount, .subquery: nil
    }
  }
}

extension ValuePath.InnerStep {
  /// Whether the step leads to no other row.
  var staysInRow: Bool { if case .key = self { false } else { true } }
}
