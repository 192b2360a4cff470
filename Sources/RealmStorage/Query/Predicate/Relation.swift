/// A test of one expression against another.
///
/// It holds of a row where it holds of one of the groups of the left side and one of those of the right (see `Expression`). Two single values are tested as they are. Of two
/// sequences, where neither side has a quantifier, each element is tested against the one at the same place: all must pass and the sequences must be of one length; `notEqual` also
/// holds where the lengths differ. Else a single value is a sequence of one, each value of the left side is tested against those of the right, and the quantifiers say how many of them must pass;
/// a missing one is `any`.
public struct Relation: Sendable, Hashable {
  public enum Test: Sendable, Hashable {
    /// See `Predicate.compare`.
    case compare(Comparison)
    /// See `TextMatch`.
    case text(TextMatch, options: TextOptions)
  }

  /// How many of several values must pass.
  public enum Quantifier: Sendable, Hashable, CaseIterable {
    case any
    /// Every value; so it does without any value.
    case all
    /// No value; so it does without any value.
    case none
  }

  public struct Side: Sendable, Hashable {
    public var expression: Expression
    public var quantifier: Quantifier?

    public init(_ expression: Expression, _ quantifier: Quantifier? = nil) {
      self.expression = expression
      self.quantifier = quantifier
    }
  }

  public var left: Side
  public var test: Test
  public var right: Side

  public init(_ left: Side, _ test: Test, _ right: Side) {
    (self.left, self.test, self.right) = (left, test, right)
  }
}

extension Predicate {
  /// A test of one expression against another, in the form that takes the least time: where the left side is a column, or one behind links, and the right side a constant, that is
  /// `compare`, `text`, `isIn` or `count`; else it is `relation`.
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
  /// The same as a condition on a column, but for a NONE on the left; nil where there is no such condition.
  fileprivate func onColumn(_ path: ValuePath) -> Predicate? {
    guard left.quantifier != .all, right.quantifier == nil || right.expression.list != nil else { return nil }
    let counted: Bool
    let column: Int
    switch path.end {
    case .value(let found): (column, counted) = (found, false)
    // TestBuilder makes this of a column that is no collection what it is.
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
    // A sequence on both sides without a quantifier is compared element by element: only the column tells.
    guard let values = right.expression.list, test == .compare(.equal), left.quantifier != nil,
      right.quantifier == nil || right.quantifier == .any
    else { return nil }
    return .isIn(place, values)
  }
}

extension Relation {
  /// The columns of the row whose values it looks at; nil where it looks at other rows.
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
  /// The column of the row that it looks at, or none; nil where it looks at other rows.
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
  /// It leads to no other row.
  var staysInRow: Bool { if case .key = self { false } else { true } }
}
