/// Which rows of a table to find, and in which order. A plan is a value: it names the table and its columns, and runs on any version that has them, and on an open
/// transaction (`RowSearch`).
///
/// The rows come from the source, in its order. Those stay of which the predicate holds. Then the steps are taken, one after another.
public struct RowPlan: Sendable, Hashable {
  public enum Source: Sendable, Hashable {
    /// Every row of the table, in the order they were made.
    case table
    /// The rows that a list, set or map of links holds, in its order, each as often as it is there. The list is the cell of a row of another table, or of this one; the
    /// column is named by its id.
    case collection(table: UInt32, column: UInt16, row: UInt64)
    /// The rows that link to a row of a table, by a column of this plan's table, which is named by its id: each as often as it links, in the order they were made.
    case backlinks(table: UInt32, row: UInt64, column: UInt16)
    /// Rows of this plan's table, by their keys, in this order. They are there.
    case rows([UInt64])
  }

  public enum Step: Sendable, Hashable {
    /// By the values of columns; among equals the order stays. See `Table.sorted`.
    case sort([SortKey])
    /// Of rows with the same values in these columns the first stays. See `Table.distinct`.
    case distinct([ColumnPath])
    /// The first rows, no more than so many.
    case limit(Int)
    /// All but the first rows.
    case offset(Int)
  }

  /// The id of the table.
  public var table: UInt32
  public var source: Source
  public var predicate: Predicate
  public var steps: [Step]

  /// - Parameter table: the id of the table.
  public init(
    table: UInt32, source: Source = .table, predicate: Predicate = .always, steps: [Step] = []
  ) {
    (self.table, self.source, self.predicate, self.steps) = (table, source, predicate, steps)
  }

  /// The rows of which another predicate holds too. It is asked before the steps are taken.
  public func filtered(_ other: Predicate) -> RowPlan {
    var plan = self
    plan.predicate = predicate.and(other)
    return plan
  }

  /// The plan with one step more. A sort behind a sort is one sort by both, the later first.
  public func adding(_ step: Step) -> RowPlan {
    var plan = self
    if case .sort(let keys) = step, case .sort(let before)? = steps.last {
      plan.steps[steps.count - 1] = .sort(keys + before)
    } else {
      plan.steps.append(step)
    }
    return plan
  }

  /// The columns of the table whose values the predicate and the steps look at, each once; nil where they follow links to other rows.
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

  /// Of the rows that a stage leaves so many are asked for by the stages behind it, where no more than `count` are wanted in the end; nil for all. One number for
  /// the source and each step.
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
  /// Both hold.
  package func and(_ other: Predicate) -> Predicate {
    switch (self, other) {
    case (_, .always): self
    case (.always, _): other
    default: .and([self, other])
    }
  }
}
