import RealmStorage

/// Selects objects by the values of a few of their fields. A filter can be applied to states of objects that are long
/// gone, because the history keeps what these values were.
///
/// A filter has terms. An object matches if it matches all conditions of at least one term.
package struct FieldFilter: Sendable, Equatable {
  /// The comparison of two values. Numbers of all types are compared by their numeric values, and texts by their UTF-8
  /// bytes.
  ///
  /// NaN equals nothing. Values of different types are not equal and have no order. Null has no order either: `less`,
  /// `lessOrEqual`, `greater` and `greaterOrEqual` do not hold for values without an order. A comparison whose name
  /// begins with `not` holds exactly if the one that it negates does not.
  package enum Comparison: UInt8, Sendable, CaseIterable {
    case equal = 0
    case notEqual = 1
    case less = 2
    case lessOrEqual = 3
    case greater = 4
    case greaterOrEqual = 5
    /// This comparison and the next two hold for texts only.
    case beginsWith = 6
    case endsWith = 7
    case contains = 8
    case notLess = 9
    case notLessOrEqual = 10
    case notGreater = 11
    case notGreaterOrEqual = 12
    case notBeginsWith = 13
    case notEndsWith = 14
    case notContains = 15
  }

  /// The thing that a condition looks at.
  package enum Subject: Sendable, Hashable {
    /// A field of the object.
    case field(String)
    /// The values of the user that asks, as the server knows them; see `Asking.values(ofUser:)`.
    case user(String)
  }

  /// The thing that the subject is compared with.
  package enum Operand: Sendable, Equatable {
    case value(Value)
    /// The values of the user that asks, as the server knows them; see `Asking.values(ofUser:)`.
    case user(String)
    /// The partition of the replica that asks; null for a replica without a partition.
    case partition
  }

  /// A comparison of a subject with operands, either of which may stand for several values.
  package struct Condition: Sendable, Equatable {
    package var subject: Subject
    package var comparison: Comparison
    /// The operands. The condition holds if the comparison holds for any value of the subject with any value of the
    /// operands. A condition with a negated comparison, which includes `notEqual`, holds if the comparison that it
    /// negates holds for no such pair.
    package var operands: [Operand]

    package init(_ subject: Subject, _ comparison: Comparison, _ operands: [Operand]) {
      (self.subject, self.comparison, self.operands) = (subject, comparison, operands)
    }

    package init(_ field: String, _ comparison: Comparison, _ operands: [Operand]) {
      self.init(.field(field), comparison, operands)
    }
  }

  package var terms: [[Condition]]

  package init(terms: [[Condition]]) { self.terms = terms }

  package static let everything = FieldFilter(terms: [[]])
  package static let nothing = FieldFilter(terms: [])

  /// The greatest number of terms of a filter.
  package static let mostTerms = 64

  /// The user and the replica that ask.
  package struct Asking: Sendable, Equatable {
    package var user: String
    package var partition: Value?
    /// The values of the user that the server knows, by names such as `roles` and `custom_data.team`. A name may have several
    /// values.
    package var data: [String: [Value]]

    package init(user: String, partition: Value? = nil, data: [String: [Value]] = [:]) {
      (self.user, self.partition, self.data) = (user, partition, data)
    }

    /// The values that a user has for a name.
    ///
    /// `id` is always the id of the user, whatever stands in `data`. A name that is not in `data` has null as
    /// its one value, so that `$user.custom_data.team == nil` finds users without a team. A name that stands
    /// there with no values has none: nothing equals them, and everything differs from them.
    package func values(ofUser name: String) -> [Value] {
      name == "id" ? [.string(user)] : data[name] ?? [.null]
    }
  }

  /// Whether an object matches.
  ///
  /// - Parameters:
  ///   - names: the fields of its class that filters may use.
  ///   - values: the values of the object in these fields. A condition on another field holds for no object.
  package func matches(_ values: [Value], of names: [String], _ asking: Asking) -> Bool {
    terms.contains { conditions in
      conditions.allSatisfy { condition in
        switch condition.subject {
        case .user(let name): return condition.holds(asking.values(ofUser: name), asking)
        case .field(let name):
          guard let field = names.firstIndex(of: name), field < values.count else { return false }
          return condition.holds(CollectionOfOne(values[field]), asking)
        }
      }
    }
  }
}

extension FieldFilter.Comparison {
  /// The comparison that holds exactly if this one does not.
  package var negated: Self {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .notLess
    case .lessOrEqual: .notLessOrEqual
    case .greater: .notGreater
    case .greaterOrEqual: .notGreaterOrEqual
    case .beginsWith: .notBeginsWith
    case .endsWith: .notEndsWith
    case .contains: .notContains
    case .notLess: .less
    case .notLessOrEqual: .lessOrEqual
    case .notGreater: .greater
    case .notGreaterOrEqual: .greaterOrEqual
    case .notBeginsWith: .beginsWith
    case .notEndsWith: .endsWith
    case .notContains: .contains
    }
  }

  var isNegated: Bool {
    switch self {
    case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .contains: false
    default: true
    }
  }

  /// Whether the comparison holds for two values.
  func holds(_ value: Value, _ other: Value) -> Bool {
    switch self {
    case .equal: ValueOrder.areEqual(value, other)
    case .less: FilterOrder.order(value, other).map { $0 < 0 } ?? false
    case .lessOrEqual: FilterOrder.order(value, other).map { $0 <= 0 } ?? false
    case .greater: FilterOrder.order(value, other).map { $0 > 0 } ?? false
    case .greaterOrEqual: FilterOrder.order(value, other).map { $0 >= 0 } ?? false
    case .beginsWith: FilterOrder.texts(value, other) { $0.starts(with: $1) }
    case .endsWith: FilterOrder.texts(value, other) { $0.reversed().starts(with: $1.reversed()) }
    case .contains: FilterOrder.texts(value, other, FilterOrder.contains)
    default: !negated.holds(value, other)
    }
  }
}

extension FieldFilter.Condition {
  /// Whether the condition holds for a subject that has these values.
  func holds(_ values: some Collection<Value>, _ asking: FieldFilter.Asking) -> Bool {
    let isNegated = comparison.isNegated
    let positive = isNegated ? comparison.negated : comparison
    let isFound = operands.contains { operand in
      switch operand {
      case .value(let other): values.contains { positive.holds($0, other) }
      case .user, .partition:
        operand.values(asking).contains { other in values.contains { positive.holds($0, other) } }
      }
    }
    return isFound != isNegated
  }
}

extension FieldFilter.Operand {
  /// The values that the operand stands for.
  func values(_ asking: FieldFilter.Asking) -> [Value] {
    switch self {
    case .value(let value): [value]
    case .user(let name): asking.values(ofUser: name)
    case .partition: [asking.partition ?? .null]
    }
  }
}

/// Filters of several classes: a query set, or what a user may read or write.
package struct ClassFilters: Sendable, Equatable {
  package var byClass: [String: FieldFilter]
  /// The filter of all classes that `byClass` does not name.
  package var others: FieldFilter

  package init(_ byClass: [String: FieldFilter] = [:], others: FieldFilter = .nothing) {
    (self.byClass, self.others) = (byClass, others)
  }

  package static let everything = ClassFilters(others: .everything)

  package subscript(_ name: String) -> FieldFilter { byClass[name] ?? others }

  /// The size of the conditions in bytes, about.
  var size: Int {
    byClass.reduce(others.size) { $0 + $1.key.utf8.count + $1.value.size }
  }
}

extension FieldFilter {
  fileprivate var size: Int { terms.joined().reduce(0) { $0 + $1.size } }
}

/// The rights of a user: which objects it may read, change, make and delete.
///
/// Each right is checked for the object as it is before a change and as it is after the change, if it exists then. A
/// user who may not read an object may not do anything to it.
package struct AccessRules: Sendable, Equatable {
  package var read: ClassFilters
  /// An object may be changed if it matches before and after the change.
  package var write: ClassFilters
  /// An object may be created if it matches.
  package var insert: ClassFilters
  /// An object may be deleted if it matched before.
  package var delete: ClassFilters

  /// - Parameters:
  ///   - insert: the filters for creations; the same as `write` unless given.
  ///   - delete: the filters for deletions; the same as `write` unless given.
  package init(
    read: ClassFilters, write: ClassFilters, insert: ClassFilters? = nil, delete: ClassFilters? = nil
  ) {
    (self.read, self.write, self.insert, self.delete) = (read, write, insert ?? write, delete ?? write)
  }

  package static let everything = AccessRules(read: .everything, write: .everything)
}
