import RealmStorage

extension Realm {
  /// The classes that this realm was opened with. If it was opened without classes, by `objectTypes = []`, they are the
  /// tables of the file, each as a class of `DynamicObject`s.
  public var schema: Schema {
    if view.configuration.keepsSchema { return Schema(objectSchema: session.here.schemasOfTables()) }
    return Schema(objectSchema: classes.bindings.map { $0.model.objectSchema })
  }
}

extension ObjectBase {
  /// The class of the object, as realms store it. For a dynamic object it is the schema of its table.
  public final var objectSchema: ObjectSchema { ownModel.objectSchema }
}

extension RealmSession {
  /// The tables of the file, as classes of dynamic objects.
  fileprivate func schemasOfTables() -> [ObjectSchema] {
    check()
    let tables = reading { () throws(StorageError) in try currentTables() }
    return tables.map { ObjectSchema(ClassSchema($0, among: tables), DynamicObject.self) }
  }
}

extension ObjectModel {
  var objectSchema: ObjectSchema { ObjectSchema(schema, type) }
}
