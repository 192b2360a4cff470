import RealmStorage

/// What tells an element of a collection that is in no realm from others, as a realm would: numbers by their values, texts by
/// their bytes, objects by the row that they show, or by themselves.
struct ElementIdentity: Hashable {
  private enum Identity: Hashable {
    case object(ObjectIdentifier)
    case row(context: ObjectIdentifier, row: UInt64)
    case value(SetElement)
    /// A collection in an `AnyRealmValue`, or a value that is stored as an object.
    case other(AnyHashable)
  }

  private let identity: Identity

  init<Element: RealmCollectionValue>(_ element: Element) {
    if let object = Self.object(of: element) {
      identity =
        object.contextOfHandles.map { .row(context: ObjectIdentifier($0), row: object.row) }
        ?? .object(ObjectIdentifier(object))
    } else if Element._elementType.column == .link || Self.isCollection(element) {
      identity = .other(AnyHashable(element))
    } else {
      identity = .value(SetElement(element._elementValue { _ in nil }))
    }
  }

  /// The object that an element is or holds; nil of what is none.
  static func object<Element: RealmCollectionValue>(of element: Element) -> ObjectBase? {
    if let any = element as? AnyRealmValue {
      if case .object(let object) = any { return object }
      return nil
    }
    return instance(element, of: ObjectBase.self)
  }

  private static func isCollection<Element>(_ element: Element) -> Bool {
    switch element as? AnyRealmValue {
    case .list, .dictionary: true
    default: false
    }
  }

  /// Whether two elements are one to a realm; of objects, whether they are equal.
  static func areEqual<Element: RealmCollectionValue>(_ left: Element, _ right: Element) -> Bool {
    if Element._elementType.column == .link { return left == right }
    return ElementIdentity(left) == ElementIdentity(right)
  }

  /// The same of elements that are equal.
  static func hash<Element: RealmCollectionValue>(_ element: Element, into hasher: inout Hasher) {
    if Element._elementType.column == .link {
      hasher.combine(element)
    } else {
      hasher.combine(ElementIdentity(element))
    }
  }
}

extension RealmCollection {
  /// The place of an element, among those of a collection that is not searched by its rows.
  func place(of element: Element) -> Int? {
    // A stored value may be no value of the elements' type.
    if Element._mayBeUnknown, Element._elementType.column != .link,
      let values = (self as? any ValueCollection)?.storedValues
    {
      let sought = SetElement(element._elementValue { _ in nil })
      return values.firstIndex { SetElement($0) == sought }
    }
    let sought = ElementIdentity(element)
    var place = 0
    for element in self {
      if ElementIdentity(element) == sought { return place }
      place += 1
    }
    return nil
  }

  // What `contains(_:)` and `firstIndex(of:)` of the standard library ask first. Values are searched as `index(of:)` searches
  // them; objects as `==` has it.
  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    Element._elementType.column == .link ? nil : .some(index(of: element))
  }

  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    Element._elementType.column == .link ? nil : index(of: element) != nil
  }
}
