public import Dispatch
public import RealmStorage

/// A view of an object with some of its properties.
@available(
  *, unavailable,
  message: "Projection is not there yet. Copy the properties into a struct, and observe the object."
)
open class Projection<Root: ObjectBase & RealmCollectionValue & ThreadConfined>: ProjectionObservable,
  RealmFetchable, ThreadConfined, CustomStringConvertible
{
  public typealias PersistedType = Root

  public var rootObject: Root { unavailable() }
  public required init(projecting object: Root) { unavailable() }

  public var id: UInt64 { unavailable() }
  public var description: String { unavailable() }
  public static func == (lhs: Projection, rhs: Projection) -> Bool { unavailable() }
  public func hash(into hasher: inout Hasher) { unavailable() }
  public static func className() -> String { unavailable() }

  public var realm: Realm? { unavailable() }
  public var isInvalidated: Bool { unavailable() }
  public func _moved(to session: _RealmSession) -> Self? { unavailable() }

  public static var _mayBeUnknown: Bool { unavailable() }
  public static func _isUnknown(_ value: Value) -> Bool { unavailable() }
  public static func _unknown(of any: Any) -> Value? { unavailable() }
  public static var _accepted: String { unavailable() }
  public static var _elementType: _PropertyType { unavailable() }
  public static func _element(
    _ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step
  ) -> Self { unavailable() }
  public func _elementValue(_ row: _RowOfObject) -> Value { unavailable() }
  public static func _convertedElement(_ any: Any) -> Self? { unavailable() }
}

/// A type that is made of an object and can be observed.
@available(
  *, unavailable,
  message: "ProjectionObservable is not there yet. Copy the properties into a struct, and observe the object."
)
public protocol ProjectionObservable: AnyObject, ThreadConfined {
  associatedtype Root: ObjectBase
  var rootObject: Root { get }
  init(projecting object: Root)
}

@available(
  *, unavailable,
  message: "Projection is not there yet. Copy the properties into a struct, and observe the object."
)
extension ProjectionObservable {
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken { unavailable() }
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken { unavailable() }
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken { unavailable() }
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
    _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken { unavailable() }
}

/// Marks a property of a projection.
@available(
  *, unavailable,
  message: "@Projected is not there yet. Copy the properties into a struct, and observe the object."
)
@propertyWrapper
public struct Projected<T: ObjectBase, Value> {
  public init(_ projectedKeyPath: KeyPath<T, Value>) { unavailable() }

  public var wrappedValue: Value {
    get { unavailable() }
    nonmutating set { unavailable() }
  }
}

/// A change of one property of a projection.
@available(
  *, unavailable,
  message: "ProjectedPropertyChange is not there yet. Observe the object, which tells a PropertyChange."
)
public struct ProjectedPropertyChange {
  public var name: String { unavailable() }
  public var oldValue: Any? { unavailable() }
  public var newValue: Any? { unavailable() }
}
