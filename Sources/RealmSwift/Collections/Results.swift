import RealmStorage

/// Objects found in a realm: all of a class, or those a query picks, in an order.
///
/// Live: it shows what the realm holds now, and within a write transaction what was written so far. Nothing is read
/// before it is asked for. A `for` loop walks the objects there were when it began.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
  let content: _CollectionContent

  /// - Precondition: `Element` is the class of the content's objects.
  init(_ content: _CollectionContent) { self.content = content }

  public var _content: _CollectionContent? { content }
  /// The realm was invalidated, or what the results belong to was deleted.
  public var isInvalidated: Bool { content.isInvalidated }
  /// O(1) for all objects of a class; else the query is run.
  public var count: Int { content.count }
  /// Of results that are sorted, O(n): all are read, and not put in order for the sake of one.
  public var first: Element? { content.firstRow().map { element(of: $0, content.context) } }
  /// The object at a place, from 0; a place that there is not stops the program. O(log n) for all objects of a class, else O(1) after the
  /// query was run. Of many that are sorted, the first thousand are found without putting all in order.
  public subscript(position: Int) -> Element { element(of: content.row(at: position), content.context) }
  public func makeIterator() -> RLMIterator<Element> { content.iterator() }

  /// Whether both show the same objects by the same handle.
  public static func == (left: Results, right: Results) -> Bool { left.content === right.content }
}

extension Results: DescribedCollection {}
