/// An object that is only sent: a program writes it and never reads it. Inherit from it in place of `Object` for what goes to a server
/// and nowhere else.
///
/// Device sync has no such objects yet: objects of it stay in the file.
open class AsymmetricObject: ObjectBase {
  /// An unmanaged object with the values its properties declare.
  public override init() { super.init() }

  /// An unmanaged object with values of a dictionary by property name, of an array in the order of the properties, or of
  /// another object; properties that it does not give have the values they declare.
  public convenience init(value: Any) {
    self.init()
    ValueReader().fill(self, from: value)
  }
}
