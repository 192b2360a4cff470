import RealmQuery
import RealmStorage

/// What a condition is made of, in the closure of `where`: the object being tested, one of its properties, or a condition.
///
///     realm.objects(Person.self).where { $0.age > 30 && $0.name.contains("a") }
@dynamicMemberLookup
public struct Query<T> {
  enum Content {
    /// A way from the object being tested.
    case path(QueryPath)
    /// A condition, or a number that a condition was counted as: a node of the draft.
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

  /// The same by another type.
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
  /// A property of the object. A member that is no property that is stored stops the program.
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
  /// Of an object linked to: null where there is no link.
  public subscript<V>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
    path { $0.adding(PropertyRecorder.names(member)) }
  }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// Of any of the objects.
  public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> {
    path { $0.elements.adding(PropertyRecorder.names(member)) }
  }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: ObjectBase {
  /// Of any of the objects.
  public subscript<V>(dynamicMember member: KeyPath<T.Element.Wrapped, V>) -> Query<V> {
    path { $0.elements.adding(PropertyRecorder.names(member)) }
  }
}

/// Marks optionals.
public protocol OptionalProtocol {
  /// What it holds where it is not nil.
  associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

// MARK: - Nodes

extension Query {
  /// A value that is compared, as a node of its draft that stands in no other yet.
  ///
  /// - Parameter isQuantified: where several values may be at the end of the path, one of them is to pass.
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

  /// A test against another property.
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
      // A condition compared with a truth value.
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
  /// A condition as a node of a draft: a truth value by itself is one.
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

  /// How many elements of the collection that the condition names meet it: all that it says is said of one element. `$0.dogs.age > 3 && $0.dogs.name == "Rex"` asks for two dogs that
  /// may differ; counted, it asks for dogs of which both holds.
  ///
  ///     realm.objects(Person.self).where { ($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 0 }
  public var count: Query<Int> { Query<Int>(.node(draft.subquery(node(in: draft))), draft) }

  /// The condition by the columns of a realm.
  ///
  /// - Precondition: the classes have the properties, and these can be tested so: otherwise the program stops.
  func bound(to context: ObjectContext) -> RealmStorage.Predicate {
    // The node is added before the builder is read.
    let root = node(in: draft)
    let syntax = draft.builder.syntax(root: root)
    // What the condition does not name is not looked at: it may be of another realm.
    let named = syntax.arguments
    let arguments = draft.values.enumerated().map {
      named.contains($0) ? $1.argument(in: context.session) : .value(.null)
    }
    return context.predicate(syntax, .predicateFormat, arguments, text: nil)
  }
}

extension Query {
  /// The condition in the format of `NSPredicate`, and the values for its `%@`, in their order: as the program wrote them, and `NSNull` for nil.
  public func _constructPredicate() -> (String, [Any]) {
    let condition: Query<Bool> = retyped()
    // The node is added before the builder is read.
    let root = condition.node(in: draft)
    let (text, arguments) = FormatWriter.format(root, in: draft.builder, as: draft.printed)
    return (text, arguments.map { $0.map { draft.values[$0].written } ?? "#any" })
  }

  /// A query of its own, to look at what it says.
  public static func _constructForTesting() -> Query<T> { object() }
}
