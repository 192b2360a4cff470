import RealmStorage

/// A wrapper of any collection of a realm that hides its type: a list, a set, results, or linking objects.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
  private let base: Base<Element>

  /// Makes a wrapper that shows another collection.
  public init<C: RealmCollection>(_ collection: C) where C.Element == Element {
    base = (collection as? AnyRealmCollection<Element>)?.base ?? Holder(collection)
  }

  private init(base: Base<Element>) { self.base = base }

  /// The same collection in another session; nil if what it belongs to is not there.
  public func _moved(to session: _RealmSession) -> AnyRealmCollection? {
    base.moved(to: session).map { AnyRealmCollection(base: $0) }
  }

  /// The content that queries of the collection read; nil if it is unmanaged.
  public var _content: _CollectionContent? { base.content }
  /// The realm of the wrapped collection; nil if that is unmanaged.
  public var realm: Realm? { base.realm }
  /// Whether the object that has the wrapped collection was deleted, or its realm was invalidated.
  public var isInvalidated: Bool { base.isInvalidated }
  /// The number of elements. It takes as long as `count` of the wrapped collection.
  public var count: Int { base.count }
  /// The element at an index, from 0 to `count - 1`. Another index stops the program.
  public subscript(position: Int) -> Element { base.element(position) }
  /// Makes an iterator over the elements that there are now.
  public func makeIterator() -> RLMIterator<Element> { base.iterator() }
  /// The index of the first element that equals `element`; nil if there is none.
  public func index(of element: Element) -> Int? { base.index(of: element) }

  /// Whether both wrap collections of the same type that are equal.
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
  /// A text for people that shows the elements, 100 at most.
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
