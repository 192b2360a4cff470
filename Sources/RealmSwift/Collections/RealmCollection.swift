public import Foundation
import RealmStorage

/// What all collections of realms are: elements by their places, the closure forms of whose `map` and `filter` are lazy.
public protocol RealmCollectionBase: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible,
  ThreadConfined
where Element: RealmCollectionValue {}

extension RealmCollectionBase {
  /// The type of the elements, by another name.
  public typealias ElementType = Element
}

/// A collection in a realm: results, a list, or the objects that link to one.
///
/// Managed ones are live: they show what the realm holds now. The closure forms of `map` and `filter` are lazy.
public protocol RealmCollection: RealmCollectionBase, Equatable
where
  Index == Int, Iterator == RLMIterator<Element>, SubSequence == Slice<Self>
{
  /// The realm of a managed collection.
  var realm: Realm? { get }
  /// What it belongs to was deleted, or its realm invalidated.
  var isInvalidated: Bool { get }
  /// Where queries of it read; nil of an unmanaged collection.
  var _content: _CollectionContent? { get }
  /// The position of an element; nil when it is not there.
  func index(of element: Element) -> Int?
}

extension RealmCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  public func index(after index: Int) -> Int { index + 1 }
  public func index(before index: Int) -> Int { index - 1 }
  public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
  public func distance(from start: Int, to end: Int) -> Int { end - start }
  /// Whether there are no elements. Takes as long as `count`.
  public var isEmpty: Bool { count == 0 }
  /// The first element; nil of an empty collection.
  public var first: Element? { isEmpty ? nil : self[0] }
  /// The last element; nil of an empty collection. Of what is filtered or sorted, all is found for it.
  public var last: Element? { isEmpty ? nil : self[count - 1] }
  /// The realm that the elements are read from; nil of an unmanaged collection.
  public var realm: Realm? { _content.map { Realm($0.context.session) } }

  /// The position of an element; nil when it is not there. An object is looked for by its row.
  public func index(of element: Element) -> Int? {
    guard let content = _content, let object = element as? ObjectBase else { return place(of: element) }
    return content.context.row(of: object).flatMap { content.rows().firstIndex(of: $0) }
  }

  /// The elements at some places, in their order; a place that is none of the collection stops the program.
  public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }

  /// The elements, up to a hundred, to read by people.
  public var description: String {
    ObjectDescription.made { describe(in: &$0, depth: ObjectDescription.maximumDepth) }
  }

  func describe(in text: inout ObjectDescription, depth: Int) {
    let unknown = self as? any MayHoldUnknown
    text.add(elements: self, named: "\(Self.self)", depth) { unknown?.unknownElement(at: $0) }
  }

  /// What queries read, for what can't be done with an unmanaged collection.
  func managedContent(_ what: String) -> _CollectionContent {
    guard let content = _content else {
      if !(Element.self is ObjectBase.Type) {
        raise(
          "Collection of values",
          "a \(Self.self) holds values, and only objects can be \(what) so; query the objects that have the collection, or use an array of "
            + "its elements.")
      }
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm can't be \(what); add its object first.")
    }
    return content
  }
}

/// Walks the elements that a collection had when the walk began.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
  @usableFromInline var objects: ObjectWalk?
  @usableFromInline var elements: IndexingIterator<[Element]>
  /// Reads elements from a position on, as many as stand together; none behind the last.
  private var chunks: ((Int) -> [Element])?
  /// So many elements were read by that.
  private var chunkEnd = 0

  init(_ elements: [Element]) { self.elements = elements.makeIterator() }

  /// - Parameters:
  ///   - first: the first elements.
  ///   - chunks: answers elements from a position on, and none behind the last.
  init(first: [Element] = [], chunks: @escaping (Int) -> [Element]) {
    elements = first.makeIterator()
    chunkEnd = first.count
    self.chunks = chunks
  }

  /// Reads the elements one by one, where to read one may stop the program.
  init(count: Int, _ element: @escaping (Int) -> Element) {
    self.init(chunks: { $0 < count ? [element($0)] : [] })
  }

  /// - Precondition: `Element` is the class of the walk's objects.
  init(_ objects: ObjectWalk) {
    elements = [].makeIterator()
    self.objects = objects
  }

  @inlinable
  public mutating func next() -> Element? {
    // Inlined where the class is known.
    if let object = objects?.nextObject() { return InstanceMaker.handle(object, as: Element.self) }
    return elements.next() ?? nextElsewhere()
  }

  @usableFromInline
  mutating func nextElsewhere() -> Element? {
    guard let chunks else { return nil }
    let read = chunks(chunkEnd)
    chunkEnd += read.count
    elements = read.makeIterator()
    return elements.next()
  }
}

/// The object of a row, where the elements of a collection are objects of the context's class.
@inline(__always)
func element<Element: RealmCollectionValue>(of row: UInt64, _ context: ObjectContext) -> Element {
  InstanceMaker.handle(context.object(row), as: Element.self)
}
