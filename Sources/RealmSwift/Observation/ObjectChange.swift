import Foundation
import RealmStorage

/// A change of an object, as an observer of it is told.
public enum ObjectChange<T> {
  /// The file can't be read any more. Nothing more is told.
  case error(any Error)
  /// Properties of the object have changed since the call before.
  case change(T, [PropertyChange])
  /// The object was deleted. Nothing more is told.
  case deleted
}

/// How a property of an object changed.
public struct PropertyChange {
  /// The name of the property.
  public let name: String
  /// The value at the call before; nil where it was null, and of a collection. Of a link, the object as it is now.
  public let oldValue: Any?
  /// The value now; nil where it is null, and of a collection.
  public let newValue: Any?
}
