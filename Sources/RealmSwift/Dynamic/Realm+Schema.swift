import RealmStorage

extension Realm {
  /// The classes that this realm was opened with: those its configuration names. Of a realm that was opened with none, by `objectTypes = []`, it
  /// is what the file has: each table, as a class of `DynamicObject`s.
  public var schema: Schema {
    if view.configuration.keepsSchema { return Schema(objectSchema: session.here.schemasOfTables()) }
    return Schema(objectSchema: classes.bindings.map { $0.model.objectSchema })
  }
}

extension ObjectBase {
  /// The object's class, as realms store it; of a dynamic object, the table that it is of.
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
