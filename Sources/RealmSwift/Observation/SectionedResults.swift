public import Foundation

/// The elements of a collection in sections: those with the same key stand in one. Live.
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

  private init(_ content: SectionContent<Key, SectionElement>) { self.content = content }

  public func _moved(to session: _RealmSession) -> SectionedResults? {
    content.moved(to: session).map { SectionedResults($0) }
  }

  /// The realm that the elements are read from.
  public var realm: Realm? { content.results.realm }
  /// The realm was invalidated, or what the results belong to was deleted.
  public var isInvalidated: Bool { content.results.isInvalidated }
  /// The keys of all sections, in their order.
  public var allKeys: [Key] { content.layout.keys }
  public var startIndex: Int { 0 }
  public var endIndex: Int { content.layout.keys.count }
  /// The number of sections. All elements are read when it is first asked for, and again when the realm has changed.
  public var count: Int { endIndex }
  /// The section at a place; a place that there is not stops the program.
  public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
    let keys = allKeys
    guard keys.indices.contains(index) else {
      raise("Index out of range", "there is no section \(index) of \(keys.count).")
    }
    return ResultsSection(content, keys[index])
  }
  /// The element at the place in a section that the path names; a place that there is not stops the program.
  public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }
  public func makeIterator() -> SectionedResultsIterator<Key, SectionElement> {
    SectionedResultsIterator(content, content.layout.keys)
  }

  /// Whether both show the same sections by the same handle.
  public static func == (left: SectionedResults, right: SectionedResults) -> Bool {
    left.content === right.content
  }
}

/// The elements of a collection that have one key. Live: it is empty where there are none any more.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>: RealmSectionedResult,
  Identifiable
{
  public typealias Element = T
  public typealias Index = Int
  public typealias Iterator = SectionIterator<T>

  let content: SectionContent<Key, T>
  /// The value that all elements of the section have in common.
  public let key: Key
  /// The key.
  public var id: Key { key }

  init(_ content: SectionContent<Key, T>, _ key: Key) { (self.content, self.key) = (content, key) }

  public func _moved(to session: _RealmSession) -> ResultsSection? {
    content.moved(to: session).map { ResultsSection($0, key) }
  }

  private var members: [Int] {
    let layout = content.layout
    return layout.sections[key].map { layout.members[$0] } ?? []
  }

  /// The realm that the elements are read from.
  public var realm: Realm? { content.results.realm }
  /// The realm was invalidated, or what the results belong to was deleted.
  public var isInvalidated: Bool { content.results.isInvalidated }
  public var startIndex: Int { 0 }
  public var endIndex: Int { members.count }
  /// The number of elements.
  public var count: Int { endIndex }
  /// The element at a place; a place that there is not stops the program.
  public subscript(index: Int) -> T {
    let members = members
    guard members.indices.contains(index) else {
      raise("Index out of range", "there is no element \(index) in a section of \(members.count).")
    }
    return content.results[members[index]]
  }
  public func makeIterator() -> SectionIterator<Element> {
    let (results, members) = (content.results, members)
    return SectionIterator(members.map { results[$0] })
  }

  /// Whether both show the same section by the same handle.
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

  public mutating func next() -> ResultsSection<Key, Element>? {
    keys.next().map { ResultsSection(content, $0) }
  }
}

/// Walks the elements that a section had when the walk began.
public struct SectionIterator<Element: RealmCollectionValue>: IteratorProtocol {
  private var elements: IndexingIterator<[Element]>

  init(_ elements: [Element]) { self.elements = elements.makeIterator() }

  public mutating func next() -> Element? { elements.next() }
}

extension RealmCollection {
  /// The elements in sections by a key that a closure makes of each. Sections are in the order in which their first elements stand when the collection is sorted.
  ///
  /// - Parameter sortDescriptors: by what the elements are sorted; without any they stay in their order.
  public func sectioned<Key: _Persistable & Hashable>(
    sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key
  ) -> SectionedResults<Key, Element> {
    SectionedResults(sortDescriptors.isEmpty ? allResults : sorted(by: sortDescriptors), keyBlock)
  }

  /// The same, of values sorted by themselves; objects stay in their order.
  public func sectioned<Key: _Persistable & Hashable>(
    by block: @escaping (Element) -> Key, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    if let values = (self as? any ValueCollection)?.valueContent {
      return SectionedResults(Results(values.adding(.sorted(ascending: ascending))), block)
    }
    return SectionedResults(allResults, block)
  }

  /// The elements in sections by a key that a closure makes of each, sorted; sections are in the order in which their first elements stand.
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
  /// The objects in sections by the value of a property, sorted by that.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, ascending: Bool = true
  ) -> SectionedResults<Key, Element> {
    sectioned(
      by: keyPath,
      sortDescriptors: [SortDescriptor(keyPath: PropertyRecorder.joinedNames(keyPath), ascending: ascending)])
  }

  /// The objects in sections by the value of a property, sorted otherwise: sections are in the order in which their first objects stand.
  public func sectioned<Key: _Persistable & Hashable>(
    by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
  ) -> SectionedResults<Key, Element> {
    sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
  }
}
