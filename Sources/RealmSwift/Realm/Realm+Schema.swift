extension Realm {
  /// The classes that this realm was opened with: those its configuration names.
  public var schema: Schema { Schema(objectSchema: classes.bindings.map { $0.model.objectSchema }) }
}

extension ObjectBase {
  /// The object's class, as realms store it.
  public final var objectSchema: ObjectSchema { ObjectModel.of(type(of: self)).objectSchema }
}

extension ObjectModel {
  fileprivate var objectSchema: ObjectSchema { ObjectSchema(schema, type) }
}
