public import Dispatch

/// A view of one property of the objects of a list or a set.
@available(
  *, unavailable,
  message:
    "ProjectedCollection is not there yet. Use `map`, as in `Array(person.dogs.map(\\.name))`, and observe the list."
)
public struct ProjectedCollection<Element: RealmCollectionValue>: RandomAccessCollection, ThreadConfined,
  CustomStringConvertible
{
  public typealias Index = Int

  public var startIndex: Int { unavailable() }
  public var endIndex: Int { unavailable() }
  public subscript(position: Int) -> Element {
    get { unavailable() }
    nonmutating set { unavailable() }
  }
  public func index(of element: Element) -> Int? { unavailable() }
  public var description: String { unavailable() }

  public var realm: Realm? { unavailable() }
  public var isInvalidated: Bool { unavailable() }
  public func _moved(to session: _RealmSession) -> Self? { unavailable() }

  public func observe(
    on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken { unavailable() }
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken { unavailable() }
}

/// The objects of a list or a set, for choosing one of their properties.
@available(
  *, unavailable,
  message: "CollectionElementMapper is not there yet. Use `map`, as in `Array(person.dogs.map(\\.name))`."
)
@dynamicMemberLookup
public struct CollectionElementMapper<Element: ObjectBase & RealmCollectionValue> {
  public subscript<V: RealmCollectionValue>(dynamicMember member: KeyPath<Element, V>) -> ProjectedCollection<
    V
  > {
    unavailable()
  }
}

extension List where Element: ObjectBase & RealmCollectionValue {
  @available(
    *, unavailable,
    message: "projectTo is not there yet. Use `map`, as in `Array(person.dogs.map(\\.name))`."
  )
  public var projectTo: CollectionElementMapper<Element> { unavailable() }
}

extension MutableSet where Element: ObjectBase & RealmCollectionValue {
  @available(
    *, unavailable,
    message: "projectTo is not there yet. Use `map`, as in `Array(person.dogs.map(\\.name))`."
  )
  public var projectTo: CollectionElementMapper<Element> { unavailable() }
}
