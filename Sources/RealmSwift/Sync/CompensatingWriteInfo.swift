import RealmStorage

/// An object whose changes the server has refused, so that they were undone on this device.
public final class CompensatingWriteInfo: Sendable {
  /// The name of the object's class.
  public let objectType: String
  /// Why the server has refused the changes.
  public let reason: String
  // As it is stored: what an app sees may hold an object, which belongs to a thread.
  private let key: Value

  /// - Parameter key: a null, a number, a text, an id or a UUID.
  init(objectType: String, key: Value, reason: String) {
    (self.objectType, self.key, self.reason) = (objectType, key, reason)
  }

  /// The primary key of the object, which may be gone; none where a class or a property was refused.
  public var primaryKey: AnyRealmValue { AnyRealmValue.scalar(key) ?? AnyRealmValue.none }
}
