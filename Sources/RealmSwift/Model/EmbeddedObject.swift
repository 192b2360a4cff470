/// The superclass of classes whose objects belong to exactly one other object, their owner. Inherit from it instead of
/// `Object` for a part that does not exist without its owner.
///
///     class Address: EmbeddedObject {
///       @Persisted var street: String
///     }
///     class Person: Object {
///       @Persisted var home: Address?
///       @Persisted var others: List<Address>
///     }
///
/// An embedded object is added to a realm together with its owner, which holds it in a property, a list or a map. It is
/// deleted when the owner no longer holds it, or when the owner is deleted. It has no primary key. Giving it to a second
/// owner stops the program.
open class EmbeddedObject: ObjectBase {
  /// Makes an unmanaged object. Each property has the value that its declaration gives.
  public override init() { super.init() }

  /// Makes an unmanaged object and sets its properties from `value`.
  ///
  /// - Parameter value: a dictionary by property name, an array with the values in the order of the properties, or another
  ///   object. A property that `value` does not give keeps the value that its declaration gives. A value of the wrong type
  ///   stops the program.
  public convenience init(value: Any) {
    self.init()
    ValueReader().fill(self, from: value)
  }

  /// The names of properties that are not stored, for a class that uses no `@Persisted`. The default is an empty array.
  open class func ignoredProperties() -> [String] { [] }

  /// Whether both objects show the same row of the same realm. An unmanaged object is the same only as itself. The answer is
  /// false if `other` is nil.
  public final func isSameObject(as other: EmbeddedObject?) -> Bool {
    guard let other else { return false }
    return self === other || isRow(of: other)
  }
}

extension EmbeddedObject: _PersistableInsideOptional {
  public typealias PersistedType = EmbeddedObject
}

extension EmbeddedObject: _RealmCollectionValueInsideOptional {}
