import RealmStorage

/// What a condition is made of, in the closure of `where`: the object being tested, one of its properties, or a condition.
///
///     realm.objects(Person.self).where { $0.age > 30 && $0.name.contains("a") }
@dynamicMemberLookup
public struct Query<T> {
  let node: QueryNode

  init(_ node: QueryNode) { self.node = node }
}

/// A path of property names from the object being tested, or a condition on it.
indirect enum QueryNode {
  case path([String])
  case count([String])
  case condition(Condition)

  var names: [String] {
    switch self {
    case .path(let names): names
    case .count, .condition: []
    }
  }

  /// A truth value by itself is a condition.
  var condition: Condition {
    switch self {
    case .condition(let condition): condition
    case .path(let names): .compare(names, .equal) { _ in .bool(true) }
    case .count(let names): .count(names, .notEqual, 0)
    }
  }
}

/// A value that a property is compared with: of objects, their rows, which the realm tells that is queried.
typealias Operand = (_RowOfObject) -> Value

/// A condition on objects, by the names of their properties.
indirect enum Condition {
  case compare([String], Comparison, Operand)
  case text([String], TextMatch, Value, ignoringCase: Bool)
  case isIn([String], [Operand])
  case between([String], Value, Value)
  case count([String], Comparison, Int)
  case never
  case and(Condition, Condition)
  case or(Condition, Condition)
  case not(Condition)

  /// The same by the columns of a realm.
  ///
  /// - Precondition: the class has the properties: otherwise the program stops.
  func bound(to context: ObjectContext) -> RealmStorage.Predicate {
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
    case .text(let names, let match, let text, let ignoringCase):
      .text(path(names), match, text, ignoringCase: ignoringCase)
    case .isIn(let names, let operands): .isIn(path(names), operands.map { value($0, names) })
    case .between(let names, let least, let greatest): .between(path(names), least, greatest)
    case .count(let names, let comparison, let number): .count(path(names), comparison, number)
    case .never: .not(.always)
    case .and(let left, let right): .and([left.bound(to: context), right.bound(to: context)])
    case .or(let left, let right): .or([left.bound(to: context), right.bound(to: context)])
    case .not(let condition): .not(condition.bound(to: context))
    }
  }
}

/// Property names joined by dots, found in the classes of a realm.
enum PropertyPath {
  /// - Precondition: all but the last are properties that link: otherwise the program stops.
  static func find(_ names: [String], of context: ObjectContext) -> (
    path: ColumnPath, property: ModelProperty
  ) {
    var binding = context.binding
    var columns: [Int] = []
    for (index, name) in names.enumerated() {
      guard let position = binding.model.position(of: name) else {
        raise("Unknown property", "\(binding.model.name) has no property \(name) that is stored.")
      }
      let property = binding.model.properties[position]
      if property.isComputed {
        raise(
          "Unsupported query",
          "\(binding.model.name).\(name) is computed from links, and can't be queried yet; "
            + "ask from the side that links.")
      }
      columns.append(binding.columns[position])
      guard index + 1 < names.count else {
        return (ColumnPath(links: Array(columns.dropLast()), column: columns[index]), property)
      }
      guard let target = property.type.target else {
        raise(
          "Unknown property", "\(binding.model.name).\(name) does not link; it has no \(names[index + 1]).")
      }
      binding = context.session.binding(target)
    }
    raise(
      "Unsupported query",
      "a condition on \(binding.model.name) is no property, and can be compared with true and false only.")
  }
}

// MARK: - Properties

extension Query where T: ObjectBase {
  /// A property of the object. A member that is no property that is stored stops the program.
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    Query<V>(.path(node.names + PropertyRecorder.names(member)))
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
  /// Of an object linked to: null where there is no link.
  public subscript<V>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
    Query<V>(.path(node.names + PropertyRecorder.names(member)))
  }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// Of any of the objects.
  public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> {
    Query<V>(.path(node.names + PropertyRecorder.names(member)))
  }
}

extension Query where T: RealmCollection {
  /// The number of elements.
  public var count: Query<Int> { Query<Int>(.count(node.names)) }

  /// An element equals a value.
  public func contains(_ element: T.Element) -> Query<Bool> {
    Query<Bool>(.condition(.compare(node.names, .equal) { element._elementValue($0) }))
  }
}

/// Marks optionals.
public protocol OptionalProtocol {
  /// What it holds where it is not nil.
  associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

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

extension Query {
  func compared<Other: _Persistable>(_ comparison: Comparison, _ other: Other) -> Query<Bool> {
    let operand: Operand = { other._stored($0) }
    switch node {
    case .path(let names): return Query<Bool>(.condition(.compare(names, comparison, operand)))
    case .count(let names):
      guard case .int(let number) = operand({ _ in nil }) else { break }
      return Query<Bool>(.condition(.count(names, comparison, Int(number))))
    case .condition(let condition):
      guard case .bool(let flag) = operand({ _ in nil }) else { break }
      // A condition compared with a truth value.
      return Query<Bool>(.condition(flag == (comparison == .equal) ? condition : .not(condition)))
    }
    return Query<Bool>(.condition(.compare([], comparison, operand)))
  }

  /// A number of elements, which is compared as no property is.
  var isCount: Bool {
    if case .count = node { true } else { false }
  }
}
