import RealmStorage

/// An object of a table of a file, with the properties of that table. The program needs no class for it.
///
///     for person in realm.dynamicObjects("Person") {
///       print(person["name"] as? String ?? "", person.age ?? "")
///     }
///
/// Properties are read and set by the names of their columns. Whole numbers are `Int`, and links are `DynamicObject`. Lists,
/// sets and maps are `List`, `MutableSet` and `Map` of such values. A value of another type than the column's stops the
/// program, and so does a name that is not a column of the table.
///
/// Dynamic objects come from `Realm.dynamicObjects(_:)`, `Realm.dynamicObject(ofType:forPrimaryKey:)`,
/// `Realm.dynamicCreate(_:value:update:)`, a `Migration`, or another dynamic object. An object that `DynamicObject()` makes
/// belongs to no table and has no properties.
@dynamicMemberLookup
public final class DynamicObject: Object {
  /// The table and the given values of an object that is about to become a row.
  var draft: DynamicDraft?

  /// Makes an object of no table, which has no properties.
  public override init() { super.init() }

  init(_ draft: DynamicDraft) {
    self.draft = draft
    super.init()
  }

  /// The value of a property, as `object["name"]` gives it. A property of this class, such as `realm`, takes precedence over
  /// a column of the same name.
  public subscript(dynamicMember member: String) -> Any? {
    get { self[member] }
    set { self[member] = newValue }
  }

  /// Returns false: a realm never stores this class itself.
  public override class func shouldIncludeInDefaultSchema() -> Bool { false }

  /// Returns nil: the objects each have the schema of their table.
  public override class func sharedSchema() -> RLMObjectSchema? { nil }
}

/// The values that a dynamic object was given before it becomes a row.
final class DynamicDraft {
  let model: ObjectModel
  /// The given values, by the positions of their properties; nil for a property without one.
  var values: [Any?]

  init(_ model: ObjectModel) {
    self.model = model
    values = Array(repeating: nil, count: model.properties.count)
  }
}

extension ObjectBase {
  /// The model of the object's class; for a dynamic object, the model that was made of its table.
  final var ownModel: ObjectModel {
    if let keptContext { return keptContext.use { $0.binding.model } }
    if let draft = asDynamic?.draft { return draft.model }
    return ObjectModel.of(type(of: self))
  }

  /// This object as a dynamic object; nil if it has a class of the program.
  final var asDynamic: DynamicObject? {
    type(of: self).isDynamic ? unsafeDowncast(self, to: DynamicObject.self) : nil
  }

  /// Whether this is the class of dynamic objects.
  static var isDynamic: Bool { self == DynamicObject.self }

  /// Whether the object is embedded and so belongs to another object.
  final var isPart: Bool { self is EmbeddedObject || asDynamic?.ownModel.isEmbedded == true }
}
