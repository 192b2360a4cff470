/// An object that can be stored: inherit from it, and mark what is to be stored by `@Persisted`.
///
///     class Person: Object {
///       @Persisted(primaryKey: true) var id: Int
///       @Persisted var name = ""
///       @Persisted var dogs: List<Dog>
///     }
open class Object: ObjectBase {
  /// An unmanaged object with the values its properties declare.
  public override init() { super.init() }

  /// An unmanaged object with values of a dictionary by property name, of an array in the order of the properties, or of
  /// another object; properties that it does not give have the values they declare.
  public convenience init(value: Any) {
    self.init()
    ValueReader().fill(self, from: value)
  }

  /// The name of the property whose value no two objects share, in a class without `@Persisted(primaryKey: true)`. Nil unless
  /// overridden.
  open class func primaryKey() -> String? { nil }

  /// The names of properties by whose values objects are found in O(log n), beside those that `@Persisted` tells. None unless
  /// overridden.
  open class func indexedProperties() -> [String] { [] }

  /// The names of properties that are not stored, in a class without `@Persisted`. None unless overridden.
  open class func ignoredProperties() -> [String] { [] }

  /// Whether both show the same row of the same realm; an unmanaged object is the same as itself only.
  public final func isSameObject(as other: Object?) -> Bool {
    guard let other else { return false }
    return self === other || isRow(of: other)
  }
}
