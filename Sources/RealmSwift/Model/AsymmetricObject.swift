/// The superclass of classes whose objects a program writes for a server and never reads again. Inherit from it instead of
/// `Object` for such data.
///
/// Device sync does not send such objects yet: they stay in the file.
open class AsymmetricObject: ObjectBase {
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
}
