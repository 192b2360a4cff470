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
enum QueryNode {
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

/// Property names joined by dots, found in the classes of a realm.
enum PropertyPath {
  /// - Precondition: all but the last are properties that link: otherwise the program stops.
  static func find(_ names: [String], of context: ObjectContext) -> (
    path: ColumnPath, property: ModelProperty
  ) {
    guard names.count <= ColumnPath.maximumLinks else {
      raise(
        "Unsupported query",
        "a path of \(names.count) properties from \(context.binding.model.name) is too long: "
          + "\(ColumnPath.maximumLinks) are allowed.")
    }
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
      return Query<Bool>(.condition(flag == (comparison == .equal) ? condition : condition.negated))
    }
    return Query<Bool>(.condition(.compare([], comparison, operand)))
  }

  /// A number of elements, which is compared as no property is.
  var isCount: Bool {
    if case .count = node { true } else { false }
  }
}
