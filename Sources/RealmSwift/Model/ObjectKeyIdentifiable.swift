/// Makes the objects of a model class `Identifiable`, for example for lists of views. All objects that show one row have the
/// same identity.
///
/// A class that declares an `id` property of its own is identified by that property.
public protocol ObjectKeyIdentifiable: Identifiable {}

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// The identity of the object among the objects of its class. It is the key of the row that a managed object shows, and is
  /// made from the address of an unmanaged object.
  public var id: UInt64 {
    // A row key is far below any address, so the two kinds of identity never meet.
    context == nil ? UInt64(UInt(bitPattern: ObjectIdentifier(self))) : row
  }
}
