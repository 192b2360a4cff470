import RealmStorage

/// An object of a table of a file, with the properties that the table has: no class of the program is needed for it.
///
///     for person in realm.dynamicObjects("Person") {
///       print(person["name"] as? String ?? "", person.age ?? "")
///     }
///
/// Properties are read and set by the names of their columns. Whole numbers are `Int`; links are `DynamicObject`; lists, sets and maps are `List`,
/// `MutableSet` and `Map` of such. A value of another type than the column's stops the program, as does a name that the table has no column for.
///
/// It comes from a realm, by `dynamicObjects(_:)`, `dynamicObject(ofType:forPrimaryKey:)`, `dynamicCreate(_:value:update:)`, from a
/// `Migration`, or by another dynamic object: one that is made by `DynamicObject()` is of no table and has no properties.
@dynamicMemberLookup
public final class DynamicObject: Object {
  /// Of an object that is about to become a row: its table, and what it was given.
  var draft: DynamicDraft?

  /// An object of no table, which has no properties.
  public override init() { super.init() }

  init(_ draft: DynamicDraft) {
    self.draft = draft
    super.init()
  }

  /// The value of a property by its name, as `object["name"]`. The name is compared with those of the properties before it.
  public subscript(dynamicMember member: String) -> Any? {
    get { self[member] }
    set { self[member] = newValue }
  }

  /// False: it stands for the classes that a realm has no class of the program for.
  public override class func shouldIncludeInDefaultSchema() -> Bool { false }

  /// Nil: its objects have each the schema of their table.
  public override class func sharedSchema() -> RLMObjectSchema? { nil }
}

/// What a dynamic object was given before it is a row.
final class DynamicDraft {
  let model: ObjectModel
  /// By the position of the property; nil where none was given.
  var values: [Any?]

  init(_ model: ObjectModel) {
    self.model = model
    values = Array(repeating: nil, count: model.properties.count)
  }
}

extension ObjectBase {
  /// The class it is of: of a dynamic object, its table as a class.
  final var ownModel: ObjectModel {
    if let keptContext { return keptContext.use { $0.binding.model } }
    if let draft = asDynamic?.draft { return draft.model }
    return ObjectModel.of(type(of: self))
  }

  /// The same object, where it has no class of the program.
  final var asDynamic: DynamicObject? {
    type(of: self).isDynamic ? unsafeDowncast(self, to: DynamicObject.self) : nil
  }

  /// Its objects are of tables.
  static var isDynamic: Bool { self == DynamicObject.self }

  /// It belongs to another object.
  final var isPart: Bool { self is EmbeddedObject || asDynamic?.ownModel.isEmbedded == true }
}
