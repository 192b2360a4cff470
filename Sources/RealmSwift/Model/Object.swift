/// The superclass of classes whose objects a realm stores by themselves. A subclass marks the properties to store by
/// `@Persisted`.
///
///     class Person: Object {
///       @Persisted(primaryKey: true) var id: Int
///       @Persisted var name = ""
///       @Persisted var dogs: List<Dog>
///     }
///
/// An object is unmanaged until `Realm.add(_:update:)` or `Realm.create(_:value:update:)` puts it into a realm; see
/// `ObjectBase`.
open class Object: ObjectBase {
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

  /// The name of the primary key, for a class that declares no `@Persisted(primaryKey: true)`. No two objects of the class
  /// have the same value of that property. The default is nil: no primary key.
  open class func primaryKey() -> String? { nil }

  /// The names of properties that get an index, in addition to those declared with `@Persisted(indexed: true)`. An index
  /// finds objects by the value of the property in O(log n). The default is an empty array.
  open class func indexedProperties() -> [String] { [] }

  /// The names of properties that are not stored, for a class that uses no `@Persisted`. The default is an empty array.
  open class func ignoredProperties() -> [String] { [] }

  /// Whether both objects show the same row of the same realm. An unmanaged object is the same only as itself. The answer is
  /// false if `other` is nil.
  public final func isSameObject(as other: Object?) -> Bool {
    guard let other else { return false }
    return self === other || isRow(of: other)
  }
}
