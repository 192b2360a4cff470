import RealmStorage

extension Realm {
  /// All objects of a class, as a live result. The program does not need to have the class, and the realm may have been
  /// opened without classes, by `objectTypes = []`.
  ///
  /// - Parameter typeName: the name of the class in the schema. A class that the file does not have stops the program.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    Results(_CollectionContent(session.here.tableContext(typeName)))
  }

  /// The object of a class with a primary key; nil if there is none. O(log n).
  ///
  /// - Parameters:
  ///   - typeName: the name of the class in the schema. A class that the file does not have, or that has no primary key,
  ///     stops the program.
  ///   - key: the value of the primary key. A value of another type than the key's stops the program.
  public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
    session.here.tableContext(typeName).object(withPrimaryKey: key)?.asDynamic
  }

  /// Makes an object of a class and adds it to the realm, as `create(_:value:update:)` does. The realm must be in a write
  /// transaction; otherwise the program stops.
  ///
  /// - Parameters:
  ///   - typeName: the name of the class in the schema. A class that the file does not have, and an embedded class, stop the
  ///     program.
  ///   - value: the values by column names. A property that is not given is zero, empty or nil. A value that does not fit its
  ///     property stops the program.
  ///   - update: whether an object with the same primary key is updated. With an update, a class without a primary key stops
  ///     the program; without one, so does a primary key that another object has.
  /// - Returns: the object, which is managed.
  @discardableResult
  public func dynamicCreate(
    _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> DynamicObject {
    let session = session.here
    session.requireTransaction("create a \(typeName)")
    let model = session.tableContext(typeName).binding.model
    if model.isEmbedded {
      raise(
        "Embedded object without an owner",
        "objects of \(typeName) belong to another each; give the values to a property of the owner.")
    }
    session.checkPolicy(update, model)
    let object = DynamicObject(DynamicDraft(model))
    let reader = ValueReader(session)
    reader.fill(object, from: value)
    ObjectAdder(session, update, given: reader.given).add(object)
    return object
  }
}

extension ObjectBase {
  private final func dynamicCell(_ name: String, _ form: PropertyForm, _ what: String) -> _CollectionCell {
    let model = ownModel
    guard let managedRow else {
      raise(
        "Object of no realm",
        "a \(model.name) that is in no realm has its \(what) by the property itself: dynamic ones are of managed objects."
      )
    }
    guard let position = model.position(of: name), model.properties[position].type.form == form,
      model.properties[position].type.column == .link
    else {
      raise("Unknown property", "\(model.name).\(name) is no \(what) of objects.")
    }
    return _CollectionCell(managedRow, position: position)
  }

  /// A list of objects in a property, as a list of dynamic objects.
  ///
  /// - Parameter propertyName: the name of the property. The program stops if the object is unmanaged, or the property is not
  ///   a list of objects.
  public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
    List(dynamicCell(propertyName, .list, "List"))
  }

  /// A set of objects in a property, as a set of dynamic objects.
  ///
  /// - Parameter propertyName: the name of the property. The program stops if the object is unmanaged, or the property is not
  ///   a set of objects.
  public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
    MutableSet(dynamicCell(propertyName, .set, "MutableSet"))
  }

  /// A map of objects in a property, as a map of dynamic objects.
  ///
  /// - Parameter propertyName: the name of the property. The program stops if the object is unmanaged, or the property is not
  ///   a map of objects.
  public final func dynamicMap<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
    Map(dynamicCell(propertyName, .map, "Map"))
  }
}

extension AnyRealmValue {
  /// The object as a dynamic object, whatever its class. It is nil if the value is not an object, or the object is unmanaged.
  public var dynamicObject: DynamicObject? {
    guard case .object(let object) = self else { return nil }
    return object.asDynamic ?? object.dynamicHandle
  }
}

extension ObjectBase {
  /// A dynamic object of the same row; nil if this object is unmanaged.
  final var dynamicHandle: DynamicObject? {
    guard let context, let table = context.binding.table?.id,
      let shown = context.session.tableContext(table)
    else { return nil }
    return shown.object(row, birth: birth).asDynamic
  }
}
