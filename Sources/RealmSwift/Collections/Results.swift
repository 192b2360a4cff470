import RealmStorage

/// Objects found in a realm: all of a class, or those a query picks, in an order. Or the values of a collection, in an order.
///
/// Live: it shows what the realm holds now, and within a write transaction what was written so far. Nothing is read
/// before it is asked for. A `for` loop walks the objects there were when it began.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  private enum Source {
    /// `Element` is the class of the objects.
    case objects(_CollectionContent)
    case values(ValueContent)
  }
  private let source: Source

  /// - Precondition: `Element` is the class of the content's objects.
  init(_ content: _CollectionContent) { source = .objects(content) }

  /// - Precondition: `Element` is the type of the content's values.
  init(_ content: ValueContent) { source = .values(content) }

  /// - Precondition: they are objects.
  var content: _CollectionContent {
    guard case .objects(let content) = source else {
      raise("Results of values", "there are no objects in \(Self.self).")
    }
    return content
  }

  public func _moved(to session: _RealmSession) -> Results? {
    switch source {
    case .objects(let content): content.moved(to: session.session).map { Results($0) }
    case .values(let content): content.moved(to: session.session).map { Results($0) }
    }
  }

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
  /// The realm was invalidated, or what the results belong to was deleted.
  public var isInvalidated: Bool {
    switch source {
    case .objects(let content): content.isInvalidated
    case .values(let content): content.isInvalidated
    }
  }
  /// O(1) for all objects of a class; else the query is run.
  public var count: Int {
    switch source {
    case .objects(let content): content.count
    case .values(let content): content.places().count
    }
  }
  /// Whether there is none. Objects are looked at until one is found that the query picks.
  public var isEmpty: Bool {
    switch source {
    case .objects(let content): content.isEmpty
    case .values(let content): content.places().isEmpty
    }
  }
  /// Of what a query picks without an order, objects are looked at until one is found. Of results that are sorted, O(n): all are read, and objects not put in order for the sake of one.
  public var first: Element? {
    switch source {
    case .objects(let content): content.firstRow().map { element(of: $0, content.context) }
    case .values: isEmpty ? nil : self[0]
    }
  }
  /// The element at a place, from 0; a place that there is not stops the program. O(log n) for all objects of a class, else O(1) after the
  /// query was run. Of many that are sorted, the first thousand are found without putting all in order.
  public subscript(position: Int) -> Element {
    switch source {
    case .objects(let content): element(of: content.row(at: position), content.context)
    case .values(let content): content.element(at: position)
    }
  }
  public func makeIterator() -> RLMIterator<Element> {
    switch source {
    case .objects(let content): content.iterator()
    case .values(let content): content.iterator()
    }
  }

  /// Whether both show the same elements by the same handle.
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
