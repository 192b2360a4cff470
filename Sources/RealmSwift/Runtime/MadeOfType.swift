/// Objects that generic code makes of their type. All are.
public protocol _MadeOfType: ObjectBase {}

extension Object: _MadeOfType {}
extension EmbeddedObject: _MadeOfType {}
extension AsymmetricObject: _MadeOfType {}

// `init()` of the classes is not required, so that classes with initializers of their own need not declare it; then Swift does
// not let a type that is only known when the program runs be made by it. These initializers are found instead where `T()` and
// `type.init()` are written in generic code. They have another name, so that none is overridden by a class's own, and are
// disfavored, so that code that names a class calls the class's own.

extension _MadeOfType {
  /// An unmanaged object of a type that is known when the program runs, as its class's `init()` makes it.
  ///
  /// Generic code calls it as `T()`. A class that has other initializers and no `init()` stops the program.
  //
  // It is `made()` below, which is called alike: an initializer of a protocol is not told of which type it is called.
  @_disfavoredOverload
  @_silgen_name("realm_swift_made_of_type")
  public init(_ofType: Void = ())

  /// The same with values as the class's `init(value:)` takes them.
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
