/// Says which rows of a table to find, and in which order. A plan is a value: it names the table and its columns, and `RowSearch`
/// runs it on any version that has them, or on an open transaction.
///
/// The rows come from the source, in its order. The predicate selects some of them. Then the steps are carried out, one after
/// another.
public struct RowPlan: Sendable, Hashable {
  /// Where the rows of a plan come from.
  public enum Source: Sendable, Hashable {
    /// All rows of the table, in the order in which they were made.
    case table
    /// The rows to which a list, set or map of links leads, in its order, each one as often as it is linked. The collection is
    /// the cell of a row in another table, or in this one. The table and the column are named by their ids.
    case collection(table: UInt32, column: UInt16, row: UInt64)
    /// The rows of the plan's table that link to a row of another table, or of this one: each one as often as it links, in the
    /// order in which they were made. `column` is the id of the column of links in the plan's table.
    case backlinks(table: UInt32, row: UInt64, column: UInt16)
    /// The rows of the plan's table with these keys, in this order. All of them have to exist.
    case rows([UInt64])
  }

  /// A step that orders rows or leaves some out.
  public enum Step: Sendable, Hashable {
    /// Sorts the rows by the values of columns. Rows with equal values keep their order. See `Table.sorted`.
    case sort([SortKey])
    /// Keeps the first row of each group with equal values in these columns. See `Table.distinct`.
    case distinct([ColumnPath])
    /// Keeps the first rows, at most this number. It is not negative.
    case limit(Int)
    /// Leaves out the first rows, as many as this number. It is not negative.
    case offset(Int)
  }

  /// The id of the table.
  public var table: UInt32
  /// Where the rows come from.
  public var source: Source
  /// The condition that selects rows of the source.
  public var predicate: Predicate
  /// The steps, in the order in which they are carried out.
  public var steps: [Step]

  /// Makes a plan. Without further parameters it finds all rows of the table.
  ///
  /// - Parameter table: the id of the table.
  public init(
    table: UInt32, source: Source = .table, predicate: Predicate = .always, steps: [Step] = []
  ) {
    (self.table, self.source, self.predicate, self.steps) = (table, source, predicate, steps)
  }

  /// A plan that selects only rows that match another predicate too. The predicate is tested before the steps.
  public func filtered(_ other: Predicate) -> RowPlan {
    var plan = self
    plan.predicate = predicate.and(other)
    return plan
  }

  /// A plan with one more step at the end. A sort after a sort becomes one sort by the keys of both, in which those of the later
  /// one come first.
  public func adding(_ step: Step) -> RowPlan {
    var plan = self
    if case .sort(let keys) = step, case .sort(let before)? = steps.last {
      plan.steps[steps.count - 1] = .sort(keys + before)
    } else {
      plan.steps.append(step)
    }
    return plan
  }

  /// The columns of the table that the predicate and the steps read, each one once; nil if they follow links to other rows.
  public var columnsRead: [Int]? {
    var paths: [ColumnPath] = []
    var rest = [predicate]
    while let next = rest.popLast() {
      if let path = next.path { paths.append(path) }
      if case .relation(let relation) = next {
        guard let columns = relation.columnsRead else { return nil }
        paths += columns.map { ColumnPath($0) }
      }
      if let parts = next.parts { rest += parts }
    }
    for step in steps {
      switch step {
      case .sort(let keys): paths += keys.map(\.path)
      case .distinct(let found): paths += found
      case .limit, .offset: break
      }
    }
    guard paths.allSatisfy({ $0.links.isEmpty }) else { return nil }
    return Array(Set(paths.map(\.column)))
  }

  /// The number of rows that the source and each step have to provide if at most `count` rows are wanted in the end; nil for all
  /// rows.
  func needed(_ count: Int?) -> [Int?] {
    var needed = [count]
    for step in steps.reversed() {
      let last = needed[needed.count - 1]
      switch step {
      case .limit(let limit): needed.append(min(last ?? limit, limit))
      case .offset(let offset): needed.append(last.map { $0 > Int.max - offset ? Int.max : $0 + offset })
      case .sort, .distinct: needed.append(last == 0 ? 0 : nil)
      }
    }
    return needed.reversed()
  }
}

extension Predicate {
  /// A predicate that matches if both match.
  package func and(_ other: Predicate) -> Predicate {
    switch (self, other) {
    case (_, .always): self
    case (.always, _): other
    default: .and([self, other])
    }
  }
}
