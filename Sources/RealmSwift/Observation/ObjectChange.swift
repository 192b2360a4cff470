import Foundation
import RealmStorage

/// A change of an object, with which its observers are called.
public enum ObjectChange<T> {
  /// The file can't be read any more. This is the last call.
  case error(any Error)
  /// Properties of the object have changed since the previous call.
  case change(T, [PropertyChange])
  /// The object was deleted. This is the last call.
  case deleted
}

/// Tells how a property of an object changed.
public struct PropertyChange {
  /// The name of the property.
  public let name: String
  /// The value at the previous call; nil if it was nil, and for a collection. If the property is a link, this is the object that
  /// it led to, as that object is now.
  public let oldValue: Any?
  /// The value now; nil if it is nil, and for a collection.
  public let newValue: Any?
}
