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
    case .path(let names), .count(let names): names
    case .condition: []
    }
  }

  /// A truth value by itself is a condition.
  var condition: Condition {
    switch self {
    case .condition(let condition): condition
    case .path(let names): .compare(names, .equal, .bool(true))
    case .count(let names): .count(names, .notEqual, 0)
    }
  }
}

/// A condition on objects, by the names of their properties.
indirect enum Condition {
  case compare([String], Comparison, Value)
  case text([String], TextMatch, Value, ignoringCase: Bool)
  case isIn([String], [Value])
  case between([String], Value, Value)
  case count([String], Comparison, Int)
  case and(Condition, Condition)
  case or(Condition, Condition)
  case not(Condition)

  /// The same by the columns of a realm.
  ///
  /// - Precondition: the class has the properties: otherwise the program stops.
  func bound(to context: ObjectContext) -> RealmStorage.Predicate {
    func path(_ names: [String]) -> ColumnPath { PropertyPath.column(names, of: context) }
    return switch self {
    case .compare(let names, let comparison, let value): .compare(path(names), comparison, value)
    case .text(let names, let match, let value, let ignoringCase):
      .text(path(names), match, value, ignoringCase: ignoringCase)
    case .isIn(let names, let values): .isIn(path(names), values)
    case .between(let names, let least, let greatest): .between(path(names), least, greatest)
    case .count(let names, let comparison, let number): .count(path(names), comparison, number)
    case .and(let left, let right): .and([left.bound(to: context), right.bound(to: context)])
    case .or(let left, let right): .or([left.bound(to: context), right.bound(to: context)])
    case .not(let condition): .not(condition.bound(to: context))
    }
  }
}

/// Property names joined by dots, found in the classes of a realm.
enum PropertyPath {
  /// - Precondition: all but the last are properties that link: otherwise the program stops.
  static func column(_ names: [String], of context: ObjectContext) -> ColumnPath {
    var binding = context.binding
    var columns: [Int] = []
    for (index, name) in names.enumerated() {
      guard let position = binding.model.position(of: name) else {
        raise("Unknown property", "\(binding.model.name) has no property \(name) that is stored.")
      }
      let property = binding.model.properties[position]
      if case .linkingObjects = property.type.form {
        raise(
          "Unsupported query",
          "\(binding.model.name).\(name) is computed from links, and can't be queried yet; "
            + "ask from the side that links.")
      }
      columns.append(binding.columns[position])
      guard index + 1 < names.count else { break }
      guard let target = property.type.target else {
        raise(
          "Unknown property", "\(binding.model.name).\(name) does not link; it has no \(names[index + 1]).")
      }
      binding = context.session.binding(target)
    }
    return ColumnPath(links: Array(columns.dropLast()), column: columns.last ?? 0)
  }
}

// MARK: - Properties

extension Query where T: ObjectBase {
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
    Query<Bool>(.condition(.compare(node.names, .equal, element._elementValue(rowForQuery))))
  }
}

/// Marks optionals.
public protocol OptionalProtocol {
  associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

/// The row of an object a query compares with; one that is not in a realm is no row.
func rowForQuery(_ object: ObjectBase) -> UInt64? { object.context == nil ? .max : object.row }

extension Query {
  func compared(_ comparison: Comparison, _ value: Value) -> Query<Bool> {
    if case .count(let names) = node, case .int(let number) = value {
      return Query<Bool>(.condition(.count(names, comparison, Int(number))))
    }
    if case .condition(let condition) = node, case .bool(let flag) = value {
      // A condition compared with a truth value.
      return Query<Bool>(.condition(flag == (comparison == .equal) ? condition : .not(condition)))
    }
    return Query<Bool>(.condition(.compare(node.names, comparison, value)))
  }
}
