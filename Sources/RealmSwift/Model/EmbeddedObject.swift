/// An object that belongs to one other: inherit from it in place of `Object` where a part has no life of its own.
///
///     class Address: EmbeddedObject {
///       @Persisted var street: String
///     }
///     class Person: Object {
///       @Persisted var home: Address?
///       @Persisted var others: List<Address>
///     }
///
/// It is added with its owner, by a property, a list or a map of it, and deleted when that lets go of it, or is deleted. It
/// can't be given to a second owner, and has no primary key.
open class EmbeddedObject: ObjectBase {
  /// An unmanaged object with the values its properties declare.
  public override init() { super.init() }

  /// An unmanaged object with values of a dictionary by property name, of an array in the order of the properties, or of
  /// another object; properties that it does not give have the values they declare.
  public convenience init(value: Any) {
    self.init()
    ValueReader().fill(self, from: value)
  }

  /// The names of properties that are not stored, in a class without `@Persisted`. None unless overridden.
  open class func ignoredProperties() -> [String] { [] }

  /// Whether both show the same row of the same realm; an unmanaged object is the same as itself only.
  public final func isSameObject(as other: EmbeddedObject?) -> Bool {
    guard let other else { return false }
    return self === other || isRow(of: other)
  }
}

extension EmbeddedObject: _PersistableInsideOptional {
  public typealias PersistedType = EmbeddedObject
}

extension EmbeddedObject: _RealmCollectionValueInsideOptional {}
