import RealmQuery
import RealmStorage

/// A part of a query in the closure of `where`: the object that is tested, one of its properties, or a condition.
///
///     realm.objects(Person.self).where { $0.age > 30 && $0.name.contains("a") }
@dynamicMemberLookup
public struct Query<T> {
  enum Content {
    /// A path from the object that is tested.
    case path(QueryPath)
    /// A node of the draft. It is a condition, or the number of objects that meet a condition.
    case node(Int)
  }

  let draft: QueryDraft
  let content: Content

  init(_ content: Content, _ draft: QueryDraft) {
    self.content = content
    self.draft = draft
  }

  /// The object that a new query tests.
  static func object() -> Query { Query(.path(QueryPath()), QueryDraft()) }

  /// The same content with another type.
  func retyped<Other>() -> Query<Other> {
    switch content {
    case .path(let path): Query<Other>(.path(path), draft)
    case .node(let node): Query<Other>(.node(node), draft)
    }
  }

  func path<Other>(_ change: (QueryPath) -> QueryPath) -> Query<Other> {
    guard case .path(let path) = content else {
      raise(
        "Unsupported query",
        "a condition is no property: it has no \(Other.self), and is compared with true and false only.")
    }
    return Query<Other>(.path(change(path)), draft)
  }
}

// MARK: - Properties

extension Query where T: ObjectBase {
  /// A property of the object. A member that is no stored property stops the program.
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    path { $0.adding(PropertyRecorder.names(member)) }
  }
  /// A collection of the object.
  public subscript<V: RealmCollectionBase>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    path { $0.adding(PropertyRecorder.names(member)) }
  }
  /// A map of the object.
  public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    path { $0.adding(PropertyRecorder.names(member)) }
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
  /// A property of the object that is linked to. It is null if there is no link.
  public subscript<V>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
    path { $0.adding(PropertyRecorder.names(member)) }
  }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// A property of the objects in the collection. A condition on it holds if it holds for one of the objects.
  public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> {
    path { $0.elements.adding(PropertyRecorder.names(member)) }
  }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: ObjectBase {
  /// A property of the objects in the collection. A condition on it holds if it holds for one of the objects.
  public subscript<V>(dynamicMember member: KeyPath<T.Element.Wrapped, V>) -> Query<V> {
    path { $0.elements.adding(PropertyRecorder.names(member)) }
  }
}

/// The type of optional values.
public protocol OptionalProtocol {
  /// The type of the value inside.
  associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

// MARK: - Nodes

extension Query {
  /// The node of a value that is compared. It is part of no other node yet.
  ///
  /// - Parameter isQuantified: whether it is enough that a condition holds for one of the values, if the path may lead
  ///   to several.
  func value(isQuantified: Bool = true) -> Int {
    switch content {
    case .path(let path): draft.add(path, isQuantified: isQuantified)
    case .node(let node): draft.own(node, of: draft)
    }
  }

  func test(
    _ testOperator: QuerySyntax.TestOperator, _ value: QueryValue, _ options: QuerySyntax.TestOptions = []
  ) -> Query<Bool> {
    let left = self.value()
    let right = draft.add(value)
    return condition(.test(left: left, operator: testOperator, options: options, right: right))
  }

  /// A test that compares the value with another part of the query.
  func test<Other>(
    _ testOperator: QuerySyntax.TestOperator, _ other: Query<Other>, _ options: QuerySyntax.TestOptions = []
  ) -> Query<Bool> {
    let left = value()
    let right = draft.own(other.value(), of: other.draft)
    return condition(.test(left: left, operator: testOperator, options: options, right: right))
  }

  func condition(_ kind: QuerySyntax.Kind) -> Query<Bool> { Query<Bool>(.node(draft.add(kind)), draft) }

  func compared<Other: _Persistable>(_ comparison: Comparison, _ other: Other) -> Query<Bool> {
    if case .node(let node) = content, draft.builder[node].kind.isCondition, let flag = other as? Bool {
      // A condition is compared with true or false here.
      let condition = Query<Bool>(.node(node), draft)
      return flag == (comparison == .equal) ? condition : !condition
    }
    if comparison == .equal || comparison == .notEqual, let equal = equal(toParts: other) {
      return comparison == .equal ? equal : !equal
    }
    return test(.compare(comparison), PropertyValue(other))
  }
}

extension Query where T == Bool {
  /// The node of a condition in a draft. A property with a truth value is a condition by itself.
  func node(in draft: QueryDraft) -> Int {
    switch content {
    case .node(let node): return draft.own(node, of: self.draft)
    case .path:
      let left = value()
      let right = self.draft.add(.constant(.value(.bool(true))))
      let test = self.draft.add(.test(left: left, operator: .compare(.equal), options: [], right: right))
      return draft.own(test, of: self.draft)
    }
  }

  var negated: Query<Bool> {
    switch content {
    case .path:
      let left = value()
      let right = draft.add(.constant(.value(.bool(false))))
      return condition(.test(left: left, operator: .compare(.equal), options: [], right: right))
    case .node(let node): return condition(.not(draft.own(node, of: draft)))
    }
  }

  /// The number of elements of a collection that meet the condition, which names the collection. Here one element must meet the
  /// whole condition. `$0.dogs.age > 3 && $0.dogs.name == "Rex"` also holds if two dogs meet one part each; the count of that
  /// condition is the number of dogs that meet both parts.
  ///
  ///     realm.objects(Person.self).where { ($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 0 }
  ///
  /// A condition that names no collection stops the program.
  public var count: Query<Int> { Query<Int>(.node(draft.subquery(node(in: draft))), draft) }

  /// Translates the condition to the columns of a realm.
  ///
  /// - Precondition: the classes have the properties, and the properties can be tested in this way. Otherwise the program stops.
  func bound(to context: ObjectContext) -> RealmStorage.Predicate {
    // This adds the node, so it comes before the builder is read.
    let root = node(in: draft)
    let syntax = draft.builder.syntax(root: root)
    // Values that the condition does not use are left out, because they may belong to another realm.
    let named = syntax.arguments
    let arguments = draft.values.enumerated().map {
      named.contains($0) ? $1.argument(in: context.session) : .value(.null)
    }
    return context.predicate(syntax, .predicateFormat, arguments, text: nil)
  }
}

extension Query {
  /// The condition in the format of `NSPredicate`, and the values for its `%@` in their order, as the program wrote them, with
  /// `NSNull` for nil.
  public func _constructPredicate() -> (String, [Any]) {
    let condition: Query<Bool> = retyped()
    // This adds the node, so it comes before the builder is read.
    let root = condition.node(in: draft)
    let (text, arguments) = FormatWriter.format(root, in: draft.builder, as: draft.printed)
    return (text, arguments.map { $0.map { draft.values[$0].written } ?? "#any" })
  }

  /// Makes a query to inspect what conditions say.
  public static func _constructForTesting() -> Query<T> { object() }
}
