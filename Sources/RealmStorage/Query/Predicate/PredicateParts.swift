/// The parts of a joined predicate.
///
/// They are released by a loop. In an array, parts of deeply nested predicates would release one another by recursion, which
/// could overflow the stack.
public struct PredicateParts: Sendable, RandomAccessCollection, ExpressibleByArrayLiteral {
  fileprivate final class Storage: @unchecked Sendable {
    // Sendable: it changes only while nothing else refers to it.
    fileprivate var parts: [Predicate]

    init(_ parts: [Predicate]) { self.parts = parts }

    deinit {
      var rest = takeNested()
      while var storage = rest.popLast() {
        if isKnownUniquelyReferenced(&storage) { rest += storage.takeNested() }
      }
    }

    /// Removes all parts, and returns the storages of those that have parts themselves.
    private func takeNested() -> [Storage] {
      defer { parts = [] }
      return parts.compactMap { $0.parts?.storage }
    }
  }

  fileprivate let storage: Storage

  /// Makes parts of predicates.
  public init(_ parts: [Predicate]) { storage = Storage(parts) }
  /// Makes parts of predicates.
  public init(arrayLiteral parts: Predicate...) { self.init(parts) }

  /// The position of the first part.
  public var startIndex: Int { 0 }
  /// The number of parts.
  public var endIndex: Int { storage.parts.count }
  /// The part at a position.
  public subscript(position: Int) -> Predicate { storage.parts[position] }
}

extension Predicate: Hashable {
  public static func == (left: Predicate, right: Predicate) -> Bool {
    var pairs = [(left, right)]
    while let pair = pairs.popLast() {
      switch pair {
      case (.and(let left), .and(let right)), (.or(let left), .or(let right)),
        (.not(let left), .not(let right)):
        guard left.count == right.count else { return false }
        if left.storage !== right.storage { pairs += zip(left, right) }
      default: guard pair.0.condition == pair.1.condition else { return false }
      }
    }
    return true
  }

  public func hash(into hasher: inout Hasher) {
    var rest = [self]
    while let next = rest.popLast() {
      hasher.combine(next.condition)
      guard let parts = next.parts else { continue }
      hasher.combine(parts.count)
      rest += parts
    }
  }

  /// A predicate without its parts.
  private enum Condition: Hashable {
    case always, never, and, or, not
    case compare(ColumnPath, Comparison, Value)
    case text(ColumnPath, TextMatch, Value, TextOptions)
    case relation(Relation)
    case isIn(ColumnPath, [Value])
    case between(ColumnPath, Value, Value)
    case count(ColumnPath, Comparison, Int)
  }

  private var condition: Condition {
    switch self {
    case .always: .always
    case .never: .never
    case .compare(let path, let comparison, let value): .compare(path, comparison, value)
    case .text(let path, let match, let value, let options): .text(path, match, value, options)
    case .relation(let relation): .relation(relation)
    case .isIn(let path, let values): .isIn(path, values)
    case .between(let path, let low, let high): .between(path, low, high)
    case .count(let path, let comparison, let number): .count(path, comparison, number)
    case .and: .and
    case .or: .or
    case .not: .not
    }
  }
}
