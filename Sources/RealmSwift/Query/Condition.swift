import RealmStorage

/// A value that a property is compared with: of objects, their rows, which the realm tells that is queried.
typealias Operand = (_RowOfObject) -> Value

/// A condition on objects, by the names of their properties.
enum Condition {
  case compare([String], Comparison, Operand)
  case text([String], TextMatch, Value, TextOptions)
  case isIn([String], [Operand])
  case between([String], Value, Value)
  case count([String], Comparison, Int)
  case never
  /// Both hold, or one of them, or the only one does not.
  case joined(JoinedConditions)

  func and(_ other: Condition) -> Condition { .joined(JoinedConditions(.and, [self, other])) }
  func or(_ other: Condition) -> Condition { .joined(JoinedConditions(.or, [self, other])) }
  var negated: Condition { .joined(JoinedConditions(.not, [self])) }
}

/// Conditions that are joined, as a program wrote them: each `&&` and `||` makes one of these, so that it takes no longer with
/// many conditions before it.
///
/// Nothing of it recurses, however many conditions a program joins: on a small stack some hundred calls are too many.
final class JoinedConditions {
  enum Operation { case and, or, not }

  let operation: Operation
  private(set) var parts: [Condition]

  init(_ operation: Operation, _ parts: [Condition]) {
    self.operation = operation
    self.parts = parts
  }

  deinit {
    var rest = takeParts()
    while var next = rest.popLast() {
      if isKnownUniquelyReferenced(&next) { rest += next.takeParts() }
    }
  }

  /// Those of its parts that have parts. It has none any more.
  private func takeParts() -> [JoinedConditions] {
    defer { parts = [] }
    return parts.compactMap { if case .joined(let joined) = $0 { joined } else { nil } }
  }
}

// MARK: - Binding

extension Condition {
  private enum Step {
    /// - Parameter parent: how the condition it is a part of joins.
    case visit(Condition, in: JoinedConditions.Operation?)
    /// Joins all that was made since.
    case join(JoinedConditions.Operation, from: Int)
  }

  /// The same by the columns of a realm. Conditions that are joined alike become parts of one predicate.
  ///
  /// - Precondition: the class has the properties: otherwise the program stops.
  func bound(to context: ObjectContext) -> RealmStorage.Predicate {
    guard case .joined = self else { return predicate(context) }
    var made: [RealmStorage.Predicate] = []
    var steps = [Step.visit(self, in: nil)]
    while let step = steps.popLast() {
      switch step {
      case .visit(.joined(let joined), let parent):
        if joined.operation == .not || joined.operation != parent {
          steps.append(.join(joined.operation, from: made.count))
        }
        for part in joined.parts.reversed() { steps.append(.visit(part, in: joined.operation)) }
      case .visit(let condition, _): made.append(condition.predicate(context))
      case .join(let operation, let start):
        let parts = Array(made[start...])
        made.removeSubrange(start...)
        switch operation {
        case .and: made.append(.and(parts))
        case .or: made.append(.or(parts))
        case .not: made.append(.not(parts[0]))
        }
      }
    }
    return made[0]
  }

  /// Of one that is not joined.
  private func predicate(_ context: ObjectContext) -> RealmStorage.Predicate {
    func path(_ names: [String]) -> ColumnPath { PropertyPath.find(names, of: context).path }
    func value(_ operand: Operand, _ names: [String]) -> Value {
      operand { object in
        let sought = PropertyPath.find(names, of: context).property.type
        guard let target = sought.column == .mixed ? type(of: object) : sought.target else { return nil }
        return context.session.rowToFind(object, of: target)
      }
    }
    return switch self {
    case .compare(let names, let comparison, let operand):
      .compare(path(names), comparison, value(operand, names))
    case .text(let names, let match, let text, let options):
      .text(path(names), match, text, options: options)
    case .isIn(let names, let operands): .isIn(path(names), operands.map { value($0, names) })
    case .between(let names, let least, let greatest): .between(path(names), least, greatest)
    case .count(let names, let comparison, let number): .count(path(names), comparison, number)
    case .never, .joined: .never
    }
  }
}

extension RealmSession {
  /// The row of an object that a query compares with. An object that is in no realm, or in none any more, is no row.
  fileprivate func rowToFind(_ object: ObjectBase, of type: ObjectBase.Type) -> UInt64 {
    if let other = object.context, other.session !== self {
      raise(
        "Object of another realm",
        "a \(other.binding.model.name) of another realm, or of another thread's, can't be searched for; "
          + "find it in this one first.")
    }
    return context(type).row(of: object) ?? .max
  }
}
