/// Objects that generic code can make from their type. All objects are.
public protocol _MadeOfType: ObjectBase {}

extension Object: _MadeOfType {}
extension EmbeddedObject: _MadeOfType {}
extension AsymmetricObject: _MadeOfType {}

// The classes need not declare `init()` if they have other initializers, since `init()` is not required. But then Swift does not
// call it for a type that is only known at run time. The initializers here are found instead where generic code says `T()` or
// `type.init()`. They have another name, so that no initializer of a class overrides them. They are disfavored, so that code that
// names a class calls the initializer of the class itself.

extension _MadeOfType {
  /// Makes an unmanaged object of a type that is known at run time, by calling `init()` of its class.
  ///
  /// Generic code calls it as `T()`. A class that has other initializers and no `init()` stops the program.
  //
  // It is implemented by `made()` below, which has the same symbol: an initializer of a protocol does not know the type that it
  // is called for.
  @_disfavoredOverload
  @_silgen_name("realm_swift_made_of_type")
  public init(_ofType: Void = ())

  /// Makes an unmanaged object of a type that is known at run time, with values as the class's `init(value:)` takes them.
  @_disfavoredOverload
  public init(value: Any, _ofType: Void = ()) {
    self.init(_ofType: ())
    ValueReader().fill(self, from: value)
  }
}

extension _MadeOfType {
  @_silgen_name("realm_swift_made_of_type")
  @usableFromInline
  static func made() -> Self { unsafeDowncast(ObjectModel.of(self).unmanaged(), to: self) }
}
