import RealmStorage

/// The result of a query: objects of one class that are in a realm, or the values of a collection, with filters, sorts and
/// distinct values applied.
///
/// Results are live: they show what the realm holds now, and within a write transaction what was written so far. Nothing is
/// read before it is asked for. A `for` loop visits the elements that there were when the loop began.
///
/// An error while reading the file stops the program.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  private enum Source {
    /// Objects. `Element` is their class.
    case objects(_CollectionContent)
    /// Values. `Element` is the type of the values.
    case values(ValueContent)
  }
  private let source: Source

  /// Makes results that show objects.
  ///
  /// - Precondition: `Element` is the class of the content's objects.
  init(_ content: _CollectionContent) { source = .objects(content) }

  /// Makes results that show values.
  ///
  /// - Precondition: `Element` is the type of the content's values.
  init(_ content: ValueContent) { source = .values(content) }

  /// The content that finds the objects.
  ///
  /// - Precondition: the elements are objects.
  var content: _CollectionContent {
    guard case .objects(let content) = source else {
      raise("Results of values", "there are no objects in \(Self.self).")
    }
    return content
  }

  /// The same results in another session; nil if what the results belong to is not there.
  public func _moved(to session: _RealmSession) -> Results? {
    switch source {
    case .objects(let content): content.moved(to: session.session).map { Results($0) }
    case .values(let content): content.moved(to: session.session).map { Results($0) }
    }
  }

  /// The content that queries of the results read; nil if the elements are values.
  public var _content: _CollectionContent? {
    if case .objects(let content) = source { content } else { nil }
  }
  /// The realm that the elements are read from.
  public var realm: Realm? {
    switch source {
    case .objects(let content): Realm(content.context.session)
    case .values(let content): content.realm
    }
  }
  /// Whether the realm was invalidated, or the object to which the results belong was deleted.
  public var isInvalidated: Bool {
    switch source {
    case .objects(let content): content.isInvalidated
    case .values(let content): content.isInvalidated
    }
  }
  /// The number of elements. O(1) for all objects of a class; otherwise the query runs. The number is kept until the realm
  /// changes.
  public var count: Int {
    switch source {
    case .objects(let content): content.count
    case .values(let content): content.places().count
    }
  }
  /// Whether there are no elements. A query for objects stops at the first object that it finds.
  public var isEmpty: Bool {
    switch source {
    case .objects(let content): content.isEmpty
    case .values(let content): content.places().isEmpty
    }
  }
  /// The first element; nil if there is none. A query without a sort stops at the first object that it finds. Sorted results
  /// read all objects that the query finds, in O(n), and do not sort them all.
  public var first: Element? {
    switch source {
    case .objects(let content): content.firstRow().map { element(of: $0, content.context) }
    case .values: isEmpty ? nil : self[0]
    }
  }
  /// The element at an index, from 0 to `count - 1`. Another index stops the program.
  ///
  /// It takes O(log n) for all objects of a class, and O(1) after a query has run. If many objects are sorted, the first
  /// 1,024 are found without sorting all of them.
  public subscript(position: Int) -> Element {
    switch source {
    case .objects(let content): element(of: content.row(at: position), content.context)
    case .values(let content): content.element(at: position)
    }
  }
  /// Makes an iterator over the elements that there are now.
  public func makeIterator() -> RLMIterator<Element> {
    switch source {
    case .objects(let content): content.iterator()
    case .values(let content): content.iterator()
    }
  }

  /// Whether both are copies of the same results. Two queries with the same condition are not equal.
  public static func == (left: Results, right: Results) -> Bool {
    switch (left.source, right.source) {
    case (.objects(let left), .objects(let right)): left === right
    case (.values(let left), .values(let right)): left === right
    default: false
    }
  }
}

extension Results: ValueCollection {
  var storedValues: [Value] { valueContent?.values ?? [] }
  var valueContent: ValueContent? {
    if case .values(let content) = source { content } else { nil }
  }
}

extension Results: MayHoldUnknown {
  func unknownElement(at index: Int) -> Value? {
    guard Element._mayBeUnknown, let value = valueContent?.places()[index].value else { return nil }
    return Element._isUnknown(value) ? value : nil
  }
  var storedUnknown: [Value]? {
    guard Element._mayBeUnknown, let values = valueContent?.values,
      values.contains(where: { Element._isUnknown($0) })
    else { return nil }
    return values
  }
}

extension Results: DescribedCollection {}
