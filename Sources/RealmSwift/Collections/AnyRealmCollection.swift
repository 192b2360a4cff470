import RealmStorage

/// Any collection of a realm, whatever its type: a list, results, linking objects.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
  private let base: Base<Element>

  /// Shows what another shows.
  public init<C: RealmCollection>(_ collection: C) where C.Element == Element {
    base = (collection as? AnyRealmCollection<Element>)?.base ?? Holder(collection)
  }

  private init(base: Base<Element>) { self.base = base }

  public func _moved(to session: _RealmSession) -> AnyRealmCollection? {
    base.moved(to: session).map { AnyRealmCollection(base: $0) }
  }

  public var _content: _CollectionContent? { base.content }
  /// The realm of the collection it shows; nil of an unmanaged one.
  public var realm: Realm? { base.realm }
  /// What the collection it shows belongs to was deleted, or its realm invalidated.
  public var isInvalidated: Bool { base.isInvalidated }
  /// The number of elements. Takes as long as that of the collection it shows.
  public var count: Int { base.count }
  /// The element at a place; one that is not there stops the program.
  public subscript(position: Int) -> Element { base.element(position) }
  public func makeIterator() -> RLMIterator<Element> { base.iterator() }
  /// The position of an element; nil when it is not there.
  public func index(of element: Element) -> Int? { base.index(of: element) }

  /// Whether both show collections of one type that are equal.
  public static func == (left: AnyRealmCollection, right: AnyRealmCollection) -> Bool {
    left.base.equals(right.base)
  }
}

extension AnyRealmCollection: ValueCollection {
  var storedValues: [Value] { base.values?.storedValues ?? [] }
  var valueContent: ValueContent? { base.values?.valueContent }
}

extension AnyRealmCollection: MayHoldUnknown {
  func unknownElement(at index: Int) -> Value? { base.unknown?.unknownElement(at: index) }
  var storedUnknown: [Value]? { base.unknown?.storedUnknown }
}

extension AnyRealmCollection: DescribedCollection {
  public var description: String { base.description }
  func describe(in text: inout ObjectDescription, depth: Int) { base.describe(in: &text, depth) }
}

extension AnyRealmCollection: Encodable where Element: Encodable {}

private class Base<Element: RealmCollectionValue> {
  var content: _CollectionContent? { nil }
  var values: (any ValueCollection)? { nil }
  var unknown: (any MayHoldUnknown)? { nil }
  var realm: Realm? { nil }
  var isInvalidated: Bool { false }
  var count: Int { 0 }
  var description: String { "" }
  func element(_ position: Int) -> Element { raise("Index out of range", "there is no place \(position).") }
  func iterator() -> RLMIterator<Element> { RLMIterator([]) }
  func index(of element: Element) -> Int? { nil }
  func equals(_ other: Base) -> Bool { self === other }
  func moved(to session: _RealmSession) -> Base? { nil }
  func describe(in text: inout ObjectDescription, _ depth: Int) {}
}

private final class Holder<C: RealmCollection>: Base<C.Element> {
  private let collection: C

  init(_ collection: C) { self.collection = collection }

  override var content: _CollectionContent? { collection._content }
  override var values: (any ValueCollection)? { collection as? any ValueCollection }
  override var unknown: (any MayHoldUnknown)? { collection as? any MayHoldUnknown }
  override var realm: Realm? { collection.realm }
  override var isInvalidated: Bool { collection.isInvalidated }
  override var count: Int { collection.count }
  override var description: String { collection.description }
  override func element(_ position: Int) -> C.Element { collection[position] }
  override func iterator() -> RLMIterator<C.Element> { collection.makeIterator() }
  override func index(of element: C.Element) -> Int? { collection.index(of: element) }
  override func equals(_ other: Base<C.Element>) -> Bool { (other as? Holder)?.collection == collection }
  override func moved(to session: _RealmSession) -> Base<C.Element>? {
    collection._moved(to: session).map { Holder($0) }
  }
  override func describe(in text: inout ObjectDescription, _ depth: Int) {
    collection.describe(in: &text, depth: depth)
  }
}
