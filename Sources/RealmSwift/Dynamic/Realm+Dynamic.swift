import RealmStorage

extension Realm {
  /// All objects of a class, by the name it is stored under, as they are at any time. The program needs no class for it, and the realm may have
  /// been opened with none: `objectTypes = []`.
  ///
  /// - Precondition: the file has the class: otherwise the program stops.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    Results(_CollectionContent(session.here.tableContext(typeName)))
  }

  /// The object with a primary key, of a class by the name it is stored under; nil where there is none. O(log n).
  ///
  /// - Precondition: the file has the class, which has a primary key of that type: otherwise the program stops.
  public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
    session.here.tableContext(typeName).object(withPrimaryKey: key)?.asDynamic
  }

  /// Makes an object of a class, by the name it is stored under, as `create(_:value:update:)` does.
  ///
  /// Values are given by the names that are stored; what is not given is zero, empty or nil.
  ///
  /// - Precondition: in a write transaction; the file has the class, which is not embedded; each value fits its property; with an
  ///   update the class has a primary key, and without one the key is new.
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

  /// A list of objects by the name of its property, with dynamic objects in place of those of a class.
  ///
  /// - Precondition: the object is managed, and the property is a list of objects: otherwise the program stops.
  public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
    List(dynamicCell(propertyName, .list, "List"))
  }

  /// A set of objects by the name of its property, with dynamic objects in place of those of a class.
  ///
  /// - Precondition: the object is managed, and the property is a set of objects: otherwise the program stops.
  public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
    MutableSet(dynamicCell(propertyName, .set, "MutableSet"))
  }

  /// A map of objects by the name of its property, with dynamic objects in place of those of a class.
  ///
  /// - Precondition: the object is managed, and the property is a map of objects: otherwise the program stops.
  public final func dynamicMap<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
    Map(dynamicCell(propertyName, .map, "Map"))
  }
}

extension AnyRealmValue {
  /// The object as a dynamic one: of whatever class, also one that the program does not have. Nil of what is no object, and of an
  /// object that is in no realm.
  public var dynamicObject: DynamicObject? {
    guard case .object(let object) = self else { return nil }
    return object.asDynamic ?? object.dynamicHandle
  }
}

extension ObjectBase {
  /// A dynamic object of the same row; nil of an unmanaged one.
  final var dynamicHandle: DynamicObject? {
    guard let context, let table = context.binding.table?.id,
      let shown = context.session.tableContext(table)
    else { return nil }
    return shown.object(row, birth: birth).asDynamic
  }
}
