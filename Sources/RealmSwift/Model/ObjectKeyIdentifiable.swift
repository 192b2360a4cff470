/// For models in lists of views: an object is the same for as long as it shows the same row.
///
/// A class with an `id` property of its own is identified by that.
public protocol ObjectKeyIdentifiable: Identifiable {}

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// Of the row that the object shows, in its class; of an unmanaged object, of itself.
  public var id: UInt64 {
    // A row's number is far below any address.
    context == nil ? UInt64(UInt(bitPattern: ObjectIdentifier(self))) : row
  }
}
