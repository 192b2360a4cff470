public import Foundation
import RealmStorage

/// The base of all collections of a realm. Elements are found by their index. `map` and `filter` with closures are lazy.
public protocol RealmCollectionBase: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible,
  ThreadConfined
where Element: RealmCollectionValue {}

extension RealmCollectionBase {
  /// The type of the elements.
  public typealias ElementType = Element
}

/// A collection of a realm: results, a list, a set, or the objects that link to one object.
///
/// A managed collection is live: it shows what the realm holds now. `map` and `filter` with closures are lazy.
public protocol RealmCollection: RealmCollectionBase, Equatable
where
  Index == Int, Iterator == RLMIterator<Element>, SubSequence == Slice<Self>
{
  /// The realm of a managed collection; nil if the collection is unmanaged.
  var realm: Realm? { get }
  /// Whether the object that has the collection was deleted, or its realm was invalidated.
  var isInvalidated: Bool { get }
  /// The content that queries of the collection read; nil if the collection is unmanaged.
  var _content: _CollectionContent? { get }
  /// The index of the first element that equals `element`; nil if there is none.
  func index(of element: Element) -> Int?
}

extension RealmCollection {
  /// The index of the first element: 0.
  public var startIndex: Int { 0 }
  /// The index after the last element: `count`.
  public var endIndex: Int { count }
  /// The index plus one.
  public func index(after index: Int) -> Int { index + 1 }
  /// The index minus one.
  public func index(before index: Int) -> Int { index - 1 }
  /// The index plus `distance`.
  public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
  /// The number of indexes from `start` to `end`; it is negative if `end` is less.
  public func distance(from start: Int, to end: Int) -> Int { end - start }
  /// Whether there are no elements. It takes as long as `count`.
  public var isEmpty: Bool { count == 0 }
  /// The first element; nil if the collection is empty.
  public var first: Element? { isEmpty ? nil : self[0] }
  /// The last element; nil if the collection is empty. Filtered or sorted results are read completely.
  public var last: Element? { isEmpty ? nil : self[count - 1] }
  /// The realm that the elements are read from; nil if the collection is unmanaged.
  public var realm: Realm? { _content.map { Realm($0.context.session) } }

  /// The index of the first element that equals `element`; nil if there is none. Objects are equal if they show the same row.
  /// O(n).
  public func index(of element: Element) -> Int? {
    guard let content = _content, let object = element as? ObjectBase else { return place(of: element) }
    return content.context.row(of: object).flatMap { content.rows().firstIndex(of: $0) }
  }

  /// The elements at several indexes, in ascending order of the indexes. An index that is not less than `count` stops the
  /// program.
  public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }

  /// A text for people that shows the elements, 100 at most.
  public var description: String {
    ObjectDescription.made { describe(in: &$0, depth: ObjectDescription.maximumDepth) }
  }

  func describe(in text: inout ObjectDescription, depth: Int) {
    let unknown = self as? any MayHoldUnknown
    text.add(elements: self, named: "\(Self.self)", depth) { unknown?.unknownElement(at: $0) }
  }

  /// The content that queries read. It stops the program if the collection is unmanaged or holds values.
  ///
  /// - Parameter what: what can't be done with such a collection, for the message.
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

/// An iterator over the elements that a collection had when the iteration began.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
  @usableFromInline var objects: ObjectWalk?
  @usableFromInline var elements: IndexingIterator<[Element]>
  /// Reads a chunk of elements that begins at an index. The chunk is empty behind the last element.
  private var chunks: ((Int) -> [Element])?
  /// The number of elements that were read so far.
  private var chunkEnd = 0

  init(_ elements: [Element]) { self.elements = elements.makeIterator() }

  /// Makes an iterator that reads elements in chunks.
  ///
  /// - Parameters:
  ///   - first: the first elements.
  ///   - chunks: reads the elements that begin at an index. It answers an empty array behind the last element.
  init(first: [Element] = [], chunks: @escaping (Int) -> [Element]) {
    elements = first.makeIterator()
    chunkEnd = first.count
    self.chunks = chunks
  }

  /// Makes an iterator that reads one element at a time, for elements whose reading may stop the program.
  init(count: Int, _ element: @escaping (Int) -> Element) {
    self.init(chunks: { $0 < count ? [element($0)] : [] })
  }

  /// Makes an iterator over objects.
  ///
  /// - Precondition: `Element` is the class of the walk's objects.
  init(_ objects: ObjectWalk) {
    elements = [].makeIterator()
    self.objects = objects
  }

  /// The next element; nil behind the last one.
  @inlinable
  public mutating func next() -> Element? {
    // The code is inlined if the class is known.
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

/// The object of a row.
///
/// - Precondition: `Element` is the class of the context's objects.
@inline(__always)
func element<Element: RealmCollectionValue>(of row: UInt64, _ context: ObjectContext) -> Element {
  InstanceMaker.handle(context.object(row), as: Element.self)
}
