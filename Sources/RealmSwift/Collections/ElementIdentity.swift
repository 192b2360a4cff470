import RealmStorage

/// The identity of an element of an unmanaged collection, by the rules of a realm. Numbers are compared by their
/// values, texts by their bytes, and objects by the row that they show. Unmanaged objects are compared by their
/// identity.
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

  /// The object that an element is or holds; nil if there is none.
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

  /// Whether a realm takes two elements as one. Objects are compared by `==`.
  static func areEqual<Element: RealmCollectionValue>(_ left: Element, _ right: Element) -> Bool {
    if Element._elementType.column == .link { return left == right }
    return ElementIdentity(left) == ElementIdentity(right)
  }

  /// Adds the element to a hasher. Elements that `areEqual` takes as one have the same hash.
  static func hash<Element: RealmCollectionValue>(_ element: Element, into hasher: inout Hasher) {
    if Element._elementType.column == .link {
      hasher.combine(element)
    } else {
      hasher.combine(ElementIdentity(element))
    }
  }
}

extension RealmCollection {
  /// The index of an element that is found by comparing elements, not by searching rows; nil if there is none. O(n).
  func place(of element: Element) -> Int? {
    // In a collection that stores values for which the program has none, the stored values are compared.
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

  // The index of an element, for `firstIndex(of:)` of the standard library, which asks this method first. Values are compared
  // as `index(of:)` compares them, objects by `==`.
  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    Element._elementType.column == .link ? nil : .some(index(of: element))
  }

  /// Whether the collection has an element, for `contains(_:)` of the standard library, which asks this method first.
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    Element._elementType.column == .link ? nil : index(of: element) != nil
  }
}
