import RealmStorage

/// Tells objects by a few fields of them, so that it can be told of a state that is long gone: the log keeps what the fields were.
///
/// A filter has terms; an object matches if it matches all conditions of one of them.
package struct FieldFilter: Sendable, Equatable {
  package enum Comparison: UInt8, Sendable {
    case equal = 0
    case notEqual = 1
    case less = 2
    case lessOrEqual = 3
    case greater = 4
    case greaterOrEqual = 5
  }

  /// A field is compared with this.
  package enum Operand: Sendable, Equatable {
    case value(Value)
    /// The id of the user that asks.
    case userID
    /// The partition of the replica that asks; null of one that has none.
    case partition
  }

  package struct Condition: Sendable, Equatable {
    package var field: String
    package var comparison: Comparison
    /// The condition holds if it holds for one of them; of `notEqual`, if it holds for all.
    package var operands: [Operand]

    package init(_ field: String, _ comparison: Comparison, _ operands: [Operand]) {
      (self.field, self.comparison, self.operands) = (field, comparison, operands)
    }
  }

  package var terms: [[Condition]]

  package init(terms: [[Condition]]) { self.terms = terms }

  package static let everything = FieldFilter(terms: [[]])
  package static let nothing = FieldFilter(terms: [])

  /// A filter has so many terms at most.
  package static let mostTerms = 64

  /// The user and the replica that ask.
  package struct Asking: Sendable, Equatable {
    package var user: String
    package var partition: Value?

    package init(user: String, partition: Value? = nil) { (self.user, self.partition) = (user, partition) }
  }

  /// Whether an object matches.
  ///
  /// - Parameters:
  ///   - names: the fields of its class that filters may use.
  ///   - values: what it has in them. A condition on any other field holds for no object.
  package func matches(_ values: [Value], of names: [String], _ asking: Asking) -> Bool {
    terms.contains { conditions in
      conditions.allSatisfy { condition in
        guard let field = names.firstIndex(of: condition.field), field < values.count else { return false }
        return condition.holds(values[field], asking)
      }
    }
  }
}

extension FieldFilter.Condition {
  fileprivate func holds(_ value: Value, _ asking: FieldFilter.Asking) -> Bool {
    func compare(_ operand: FieldFilter.Operand) -> Bool {
      let other: Value =
        switch operand {
        case .value(let value): value
        case .userID: .string(asking.user)
        case .partition: asking.partition ?? .null
        }
      return switch comparison {
      case .equal: value == other
      case .notEqual: value != other
      case .less: value.isOrdered(before: other) ?? false
      case .lessOrEqual: other.isOrdered(before: value).map { !$0 } ?? false
      case .greater: other.isOrdered(before: value) ?? false
      case .greaterOrEqual: value.isOrdered(before: other).map { !$0 } ?? false
      }
    }
    return comparison == .notEqual ? operands.allSatisfy(compare) : operands.contains(where: compare)
  }
}

extension Value {
  /// Whether a value is less than another one of its type; nil of others, and of types without an order.
  fileprivate func isOrdered(before other: Value) -> Bool? {
    switch (self, other) {
    case (.int(let one), .int(let other)): one < other
    case (.double(let one), .double(let other)): one.isNaN || other.isNaN ? nil : one < other
    case (.float(let one), .float(let other)): one.isNaN || other.isNaN ? nil : one < other
    case (.date(let one), .date(let other)): one < other
    case (.string(let one), .string(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
    case (.objectID(let one), .objectID(let other)): one.bytes.lexicographicallyPrecedes(other.bytes)
    case (.uuid(let one), .uuid(let other)): one.bytes.lexicographicallyPrecedes(other.bytes)
    default: nil
    }
  }
}

/// Filters of several classes: a query set, or what a user may read or write.
package struct ClassFilters: Sendable, Equatable {
  package var byClass: [String: FieldFilter]
  /// The filter of all classes that are not named.
  package var others: FieldFilter

  package init(_ byClass: [String: FieldFilter] = [:], others: FieldFilter = .nothing) {
    (self.byClass, self.others) = (byClass, others)
  }

  package static let everything = ClassFilters(others: .everything)

  package subscript(_ name: String) -> FieldFilter { byClass[name] ?? others }
}

/// The rules that tell what a user may read and write.
package struct AccessRules: Sendable, Equatable {
  package var read: ClassFilters
  package var write: ClassFilters

  package init(read: ClassFilters, write: ClassFilters) { (self.read, self.write) = (read, write) }

  package static let everything = AccessRules(read: .everything, write: .everything)
}
