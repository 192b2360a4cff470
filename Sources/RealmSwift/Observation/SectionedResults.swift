public import Foundation

/// The elements of a collection in sections, each of which has the elements with one key. They are live: they always show the
/// version that the realm reads.
///
///     let books = realm.objects(Book.self).sectioned(by: \.genre)
///     for section in books { print(section.key, section.count) }
public struct SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>:
  RealmSectionedResult
{
  public typealias Element = ResultsSection<Key, SectionElement>
  public typealias Index = Int
  public typealias Iterator = SectionedResultsIterator<Key, SectionElement>

  let content: SectionContent<Key, SectionElement>

  init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
    content = SectionContent(results, key)
  }

  /// Makes a handle of sections that another handle has.
  private init(_ content: SectionContent<Key, SectionElement>) { self.content = content }

  /// For the library only.
  public func _moved(to session: _RealmSession) -> SectionedResults? {
    content.moved(to: session).map { SectionedResults($0) }
  }

  /// The realm that the elements are read from.
  public var realm: Realm? { content.results.realm }
  /// Whether the realm was invalidated, or the object that the results belong to was deleted.
  public var isInvalidated: Bool { content.results.isInvalidated }
  /// The keys of all sections, in their order.
  public var allKeys: [Key] { content.layout.keys }
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of sections; see `count`.
  public var endIndex: Int { content.layout.keys.count }
  /// The number of sections. The first call reads all elements, and so does the first call after each change of the realm.
  public var count: Int { endIndex }
  /// The section at an index. An index out of range stops the program.
  public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
    let keys = allKeys
    guard keys.indices.contains(index) else {
      raise("Index out of range", "there is no section \(index) of \(keys.count).")
    }
    return ResultsSection(content, keys[index])
  }
  /// The element that an index path names: its first index is that of the section, its second that of the element in the section.
  /// An index out of range stops the program.
  public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }
  /// Walks the sections that there are now.
  public func makeIterator() -> SectionedResultsIterator<Key, SectionElement> {
    SectionedResultsIterator(content, content.layout.keys)
  }

  /// Whether both values are copies of one, and so show the same sections.
  public static func == (left: SectionedResults, right: SectionedResults) -> Bool {
    left.content === right.content
  }
}

/// The elements of a collection that have one key. The section is live: it is empty if no element has the key any more.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>: RealmSectionedResult,
  Identifiable
{
  public typealias Element = T
  public typealias Index = Int
  public typealias Iterator = SectionIterator<T>

  let content: SectionContent<Key, T>
  /// The value that all elements of the section have in common.
  public let key: Key
  /// The same as `key`.
  public var id: Key { key }

  init(_ content: SectionContent<Key, T>, _ key: Key) { (self.content, self.key) = (content, key) }

  /// For the library only.
  public func _moved(to session: _RealmSession) -> ResultsSection? {
    content.moved(to: session).map { ResultsSection($0, key) }
  }

  private var members: [Int] {
    let layout = content.layout
    return layout.sections[key].map { layout.members[$0] } ?? []
  }

  /// The realm that the elements are read from.
  public var realm: Realm? { content.results.realm }
  /// Whether the realm was invalidated, or the object that the results belong to was deleted.
  public var isInvalidated: Bool { content.results.isInvalidated }
  /// Zero.
  public var startIndex: Int { 0 }
  /// The number of elements; see `count`.
  public var endIndex: Int { members.count }
  /// The number of elements.
  public var count: Int { endIndex }
  /// The element at an index. An index out of range stops the program.
  public subscript(index: Int) -> T {
    let members = members
    guard members.indices.contains(index) else {
      raise("Index out of range", "there is no element \(index) in a section of \(members.count).")
    }
    return content.results[members[index]]
  }
  /// Walks the elements that the section has now. It reads all of them first.
  public func makeIterator() -> SectionIterator<Element> {
    let (results, members) = (content.results, members)
    return SectionIterator(members.map { results[$0] })
  }

  /// Whether both values are copies of one section.
  public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
    left.content === right.content && left.key == right.key
  }
}

/// Walks the sections that there were when the walk began.
public struct SectionedResultsIterator<Key: _Persistable & Hashable, Element: RealmCollectionValue>:
  IteratorProtocol
{
  private let content: SectionContent<Key, Element>
  private var keys: IndexingIterator<[Key]>

  init(_ content: SectionContent<Key, Element>, _ keys: [Key]) {
    self.content = content
    self.keys = keys.makeIterator()
  }

  /// The next section; nil after the last one.
  public mutating func next() -> ResultsSection<Key, Element>? {
    keys.next().map { ResultsSection(content, $0) }
  }
}

/// Walks the elements that the section had when the walk began.
public struct SectionIterator<Element: RealmCollectionValue>: IteratorProtocol {
  private var elements: IndexingIterator<[Element]>

  init(_ elements: [Element]) { self.elements = elements.makeIterator() }

  /// The next element; nil after the last one.
  public mutating func next() -> Element? { elements.next() }
}

extension RealmCollection {
  /// The elements in sections, by a key that a closure returns for each element. The sections are in the order of their first
  /// elements in the sorted collection.
  ///
  /// - Parameters:
  ///   - sortDescriptors: the order of the elements. Without a descriptor they stay in the order of the collection.
  ///   - keyBlock: returns the key of an element.
  public func sectioned<Key: _Persistable & Hashable>(
    sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key
  ) -> SectionedResults<Key, Element> {
    SectionedResults(sortDescriptors.isEmpty ? allResults : sorted(by: sortDescriptors), keyBlock)
  }

  /// The elements in sections, by a key that a closure returns for each element. Values that are no objects are sorted; objects
  /// stay in the order of the collection.
  ///
  /// - Parameters:
  ///   - block: returns the key of an element.
  ///   - ascending: whether the least value comes first.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping (Element) -> Key, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    if let values = (self as? any ValueCollection)?.valueContent {
      return SectionedResults(Results(values.adding(.sorted(ascending: ascending))), block)
    }
    return SectionedResults(allResults, block)
  }

  /// The elements in sections, by a key that a closure returns for each element. The elements are sorted, and the sections are in
  /// the order of their first elements.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(sortDescriptors: sortDescriptors, block)
  }

  private var allResults: Results<Element> {
    if let values = (self as? any ValueCollection)?.valueContent { return Results(values) }
    return Results(managedContent("put into sections"))
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The objects in sections, by the value of a property. Objects and sections are sorted by that property.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    sectioned(
      by: keyPath,
      sortDescriptors: [SortDescriptor(keyPath: PropertyRecorder.joinedNames(keyPath), ascending: ascending)])
  }

  /// The objects in sections, by the value of a property. The objects are sorted by the descriptors, and the sections are in the
  /// order of their first objects.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
  }
}
