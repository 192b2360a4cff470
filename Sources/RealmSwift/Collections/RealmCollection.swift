import RealmStorage

/// A collection in a realm: results, a list, or the objects that link to one.
///
/// Managed ones are live: they show what the realm holds now. The closure forms of `map` and `filter` are lazy.
public protocol RealmCollection: RandomAccessCollection, LazyCollectionProtocol, Equatable,
  CustomStringConvertible
where
  Element: RealmCollectionValue, Index == Int, Iterator == RLMIterator<Element>, SubSequence == Slice<Self>
{
  /// The realm of a managed collection.
  var realm: Realm? { get }
  /// What it belongs to was deleted, or its realm invalidated.
  var isInvalidated: Bool { get }
  /// Where queries of it read; nil of an unmanaged collection.
  var _content: _CollectionContent? { get }
}

extension RealmCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  public func index(after index: Int) -> Int { index + 1 }
  public func index(before index: Int) -> Int { index - 1 }
  public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
  public func distance(from start: Int, to end: Int) -> Int { end - start }
  public var isEmpty: Bool { count == 0 }
  public var first: Element? { isEmpty ? nil : self[0] }
  public var last: Element? { isEmpty ? nil : self[count - 1] }
  public var realm: Realm? { _content.map { Realm($0.context.session) } }

  /// The elements, up to a hundred, to read by people.
  public var description: String { describedElements(depth: ObjectDescription.maximumDepth) }

  func describedElements(depth: Int) -> String {
    ObjectDescription.text(ofElements: self, named: "\(Self.self)", depth: depth)
  }

  /// What queries read, for what can't be done with an unmanaged collection.
  func managedContent(_ what: String) -> _CollectionContent {
    guard let content = _content else {
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm can't be \(what); add its object first.")
    }
    return content
  }
}

/// Walks the elements that a collection had when the walk began.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
  private enum Source {
    case elements([Element])
    /// Objects of these rows.
    case rows(ObjectContext)
    /// All objects of a version's table, group by group.
    case table(ObjectContext, Table, next: UInt64?)
  }
  private var source: Source
  private var rows: [UInt64] = []
  private var index = 0
  /// Of a table's rows, how many were in groups so far.
  private var seen = 0
  /// When the walk began: what was deleted since is no damage.
  private let birth: UInt32
  private var handle = WalkingHandle()

  init(_ elements: [Element]) {
    source = .elements(elements)
    birth = 0
  }

  init(_ rows: [UInt64], _ context: ObjectContext) {
    source = .rows(context)
    self.rows = rows
    birth = context.session.birth
  }

  init(_ table: Table, _ context: ObjectContext) {
    source = .table(context, table, next: 0)
    birth = context.session.birth
  }

  public mutating func next() -> Element? {
    switch source {
    case .elements(let elements):
      guard index < elements.count else { return nil }
      defer { index += 1 }
      return elements[index]
    case .rows(let context):
      return nextRow(context)
    case .table(let context, let table, var next):
      // No group of a sound table is empty.
      while index == rows.count, let first = next {
        let group = reading { () throws(StorageError) in
          let group = try table.keys(from: first)
          seen += group.keys.count
          if group.next == nil || seen > table.count { try table.expect(seen, of: table.count) }
          return group
        }
        (rows, index, next) = (group.keys, 0, group.next)
        source = .table(context, table, next: next)
      }
      return nextRow(context)
    }
  }

  @inline(__always)
  private mutating func nextRow(_ context: ObjectContext) -> Element? {
    guard index < rows.count else { return nil }
    defer { index += 1 }
    return InstanceMaker.handle(handle.move(to: rows[index], context, birth: birth), as: Element.self)
  }
}

/// The object of a row, where the elements of a collection are objects of the context's class.
@inline(__always)
func element<Element: RealmCollectionValue>(of row: UInt64, _ context: ObjectContext) -> Element {
  InstanceMaker.handle(context.object(row), as: Element.self)
}
