import RealmStorage

/// Describes an object, class or property whose changes the server has refused. The changes were undone on this device.
public final class CompensatingWriteInfo: Sendable {
  /// The name of the object's class.
  public let objectType: String
  /// Why the server has refused the changes, in English.
  public let reason: String
  // The stored form of the primary key. The form that apps see may hold an object, which belongs to a thread.
  private let key: Value

  /// - Parameter key: the primary key: null, a whole number, a text, an object id or a UUID.
  init(objectType: String, key: Value, reason: String) {
    (self.objectType, self.key, self.reason) = (objectType, key, reason)
  }

  /// The primary key of the object, which may not exist any more. If the server has refused a class or a property, it is
  /// `AnyRealmValue.none`.
  public var primaryKey: AnyRealmValue { AnyRealmValue.scalar(key) ?? AnyRealmValue.none }
}
