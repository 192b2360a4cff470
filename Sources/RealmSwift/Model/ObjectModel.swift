import RealmStorage
import Synchronization

/// A property of a model class: what realms store for it, and where an instance keeps it.
final class ModelProperty {
  let schema: PropertySchema
  /// The type as the class declares it, with the class to which links lead.
  let type: _PropertyType
  let offset: Int
  let field: any PersistedField.Type
  let access: FieldAccess
  /// The result of `declaredValue`, once it was asked for.
  private let declared = Mutex<Value??>(nil)
  /// The tables to which a property of dynamic objects may link. They keep the property's class alive.
  private unowned let family: TableModels?

  init(
    name: String, columnName: String, type: _PropertyType, role: PropertyRole, offset: Int,
    field: any PersistedField.Type, position: Int
  ) {
    schema = PropertySchema(
      name, columnName: columnName, type.column, type.form, isOptional: type.isOptional,
      target: type.target?.className(), role)
    self.type = type
    self.offset = offset
    self.field = field
    access = FieldAccess(field, position: position)
    family = nil
  }

  /// A property of dynamic objects.
  init(_ schema: PropertySchema, position: Int, in family: TableModels) {
    self.schema = schema
    field = schema.dynamicField
    type = field.propertyType
    offset = position
    access = FieldAccess(any: field, position)
    self.family = family
  }

  /// The class to which links lead; nil if the property does not link to objects of one class.
  var target: ObjectModel? {
    guard let target = type.target else { return nil }
    guard let family else { return ObjectModel.of(target) }
    return schema.target.flatMap { family.binding(named: $0)?.model }
  }

  /// Whether the linked objects are embedded, and so belong to this property's object.
  var holdsParts: Bool {
    if family != nil { return target?.isEmbedded ?? false }
    return type.target is EmbeddedObject.Type
  }

  /// The value that the class declares for the property, in stored form. It is nil if the class declares none and the type
  /// has no default. The first call makes an object, which runs an initializer of the program.
  func declaredValue(of model: ObjectModel) -> Value? {
    if let known = declared.withLock({ $0 }) { return known }
    let object = model.unmanaged()
    var value: Value?
    if !field.lacksValue(object, at: offset) {
      let found = field.stored(object, at: offset) { _ in nil }
      if found != .null { value = found }
    }
    declared.withLock { [value] in $0 = .some(value) }
    return value
  }

  var name: String { schema.name }
  /// The name of the column. It is the name of the property unless the class maps it to another.
  var columnName: String { schema.columnName }
  var role: PropertyRole { schema.role }
  /// Whether the property shows the links of other objects, so that nothing is stored for it.
  var isComputed: Bool { schema.isComputed }
}

/// A class of the program, or a table as a class of dynamic objects. The model has what realms store of the class,
/// where its instances keep that, and how instances are made.
final class ObjectModel: @unchecked Sendable {
  // Sendable because nothing of it changes.
  let type: ObjectBase.Type
  let schema: ClassSchema
  /// The properties, those of the superclass first.
  let properties: [ModelProperty]
  /// The position of the primary key; nil if there is none.
  let primaryKey: Int?
  /// The operations that give up each property's own value when its object begins to show a row.
  private let adoptions: [UncountedReference<Adoption>]
  /// Keeps the operations alive.
  private let keptAdoptions: [Adoption]
  private let managed: InstanceMaker
  /// Whether each property of a handle must know the handle, so that it can be encoded.
  private let isEncodable: Bool
  /// Whether a handle keeps nothing of its row but the key, so that it can be moved to another row.
  let canMoveHandles: Bool
  private let recording: InstanceMaker
  /// The tables of the file, for a class of dynamic objects. They keep this model alive.
  private(set) unowned var family: TableModels?

  private static let known = Mutex<[ObjectIdentifier: ObjectModel]>([:])
  /// The classes whose initializers are running because their models are being made.
  @TaskLocal private static var beingLearned: Set<ObjectIdentifier> = []

  /// The model of a class. It is made once in a process.
  static func of(_ type: ObjectBase.Type) -> ObjectModel {
    if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
    // The model is not made under the lock because an initializer of the class is called.
    guard !beingLearned.contains(ObjectIdentifier(type)) else {
      raise(
        "Initializer",
        "\(unqualifiedName(of: type)).init() asks a realm for its class, or for its description, before the class is "
          + "known; give its properties their values where objects are made.")
    }
    let made = $beingLearned.withValue(beingLearned.union([ObjectIdentifier(type)])) { ObjectModel(type) }
    return known.withLock { models in
      if let found = models[ObjectIdentifier(type)] { return found }
      models[ObjectIdentifier(type)] = made
      return made
    }
  }

  static func unqualifiedName(of type: ObjectBase.Type) -> String { String(describing: type) }

  private init(_ type: ObjectBase.Type) {
    self.type = type
    isEncodable = type is any Encodable.Type
    let fields = PropertyField.all(of: type)
    let sample = fields.stored.isEmpty ? nil : InstanceMaker(type, fields: nil).initialized()
    let mapping = type.propertiesMapping()
    let named = NamedRoles(type)
    properties = fields.stored.enumerated().map { position, field in
      let declared = sample.map { field.access.role(in: $0, at: field.offset) } ?? .plain
      return ModelProperty(
        name: field.name, columnName: mapping[field.name] ?? field.name,
        type: sample.map { field.access.declaredType(in: $0, at: field.offset) } ?? field.access.propertyType,
        role: named.role(of: field.name) ?? declared, offset: field.offset, field: field.access,
        position: position)
    }
    let kind: ClassSchema.Kind =
      type is EmbeddedObject.Type ? .embedded : type is AsymmetricObject.Type ? .asymmetric : .object
    schema = ClassSchema(type.className(), kind, properties.map(\.schema))
    let keys = properties.indices.filter { [properties] in properties[$0].role == .primaryKey }
    primaryKey = keys.first
    keptAdoptions = properties.map { Adoption($0.access.adopt, offset: $0.offset) }
    adoptions = keptAdoptions.map { UncountedReference($0) }
    let isPlain = fields.arePlain
    let properties = properties
    func maker(_ initialize: @escaping (ModelProperty, FreshInstance, Int) -> Void) -> InstanceMaker {
      let fields: (FreshInstance) -> Void = { instance in
        for (position, property) in properties.enumerated() { initialize(property, instance, position) }
      }
      return InstanceMaker(type, fields: isPlain ? fields : nil)
    }
    canMoveHandles = isPlain && !properties.contains { $0.field.keepsInstance }
    managed = maker { $0.field.initializeManaged($1, at: $0.offset, position: $2) }
    recording = maker { $0.field.initializeRecording($1, at: $0.offset, position: $2) }
    family = nil
    check(keys: keys.count)
    check(mapping)
    check(named, unstored: fields.unstored)
  }

  /// Makes the model of a table, as a class of dynamic objects.
  init(_ schema: ClassSchema, in family: TableModels) {
    type = DynamicObject.self
    self.schema = schema
    properties = schema.properties.enumerated().map { ModelProperty($1, position: $0, in: family) }
    primaryKey = properties.firstIndex { $0.role == .primaryKey }
    keptAdoptions = properties.map { Adoption($0.access.adopt, offset: $0.offset) }
    adoptions = keptAdoptions.map { UncountedReference($0) }
    (managed, recording) = (Self.dynamicMaker, Self.dynamicMaker)
    (isEncodable, canMoveHandles) = (false, true)
    self.family = family
  }

  private static let dynamicMaker = InstanceMaker(DynamicObject.self) { instance in
    for field in StoredField.all(of: DynamicObject.self) where field.type == DynamicDraft?.self {
      instance.initialize(DynamicDraft?.none, at: field.offset)
    }
  }

  var name: String { schema.name }
  /// Whether each object of the class belongs to another object.
  var isEmbedded: Bool { schema.isEmbedded }
  /// Whether the objects of the class are dynamic, so that the program has no class for them.
  var isDynamic: Bool { family != nil }

  /// Stops the program if a property can't link to an object.
  func check(_ object: ObjectBase, fits position: Int) {
    let property = properties[position]
    if property.type.column == .mixed, object.isPart { stopPart(object, at: property) }
    guard let target = property.type.target else { return }
    let isDynamic = isDynamic || object.asDynamic != nil
    if isDynamic ? property.schema.target == object.ownModel.name : target == Swift.type(of: object) {
      return
    }
    let reason = isDynamic ? "give one of that class." : "a class that inherits from it has rows of its own."
    raise(
      "Invalid link",
      "\(name).\(property.name) links to objects of \(property.schema.target ?? "no class"), and can't to a "
        + "\(object.ownModel.name): \(reason)")
  }

  private func stopPart(_ object: ObjectBase, at property: ModelProperty) -> Never {
    raise(
      "Invalid link",
      "\(name).\(property.name) can't hold a \(object.ownModel.name), which belongs to one object: only objects of classes "
        + "that are not embedded are values of any type.")
  }

  func position(of name: String) -> Int? { properties.firstIndex { $0.name == name } }

  func position(ofColumn name: String) -> Int? {
    properties.firstIndex { !$0.isComputed && $0.columnName == name }
  }

  /// Makes an unmanaged object.
  func unmanaged() -> ObjectBase {
    isDynamic ? DynamicObject(DynamicDraft(self)) : InstanceMaker(type, fields: nil).initialized()
  }

  /// Makes a handle of a row.
  @inline(__always)
  func handle(_ context: ObjectContext, _ row: UInt64, birth: UInt64) -> ObjectBase {
    guard let object = managed.copied() else { return initializedHandle(context, row, birth: birth) }
    object.show(row, of: context, birth: birth)
    if isEncodable { makeEncodable(object) }
    return object
  }

  private func initializedHandle(_ context: ObjectContext, _ row: UInt64, birth: UInt64) -> ObjectBase {
    let object = managed.initialized()
    object.show(row, of: context, birth: birth)
    for (position, property) in properties.enumerated() {
      property.field.makeManaged(object, at: property.offset, position: position)
    }
    if isEncodable { makeEncodable(object) }
    return object
  }

  /// Tells the properties of a managed object which object has them, so that they can be encoded.
  private func makeEncodable(_ object: ObjectBase) {
    for property in properties { property.field.makeEncodable(object, at: property.offset) }
  }

  /// Makes an unmanaged object show a row that was made of it.
  ///
  /// - Parameter open: the positions of properties whose values are still to be stored.
  func manage(_ object: ObjectBase, _ row: UInt64, of context: ObjectContext, keeping open: [Int] = []) {
    object.show(row, of: context, birth: context.sessionOfHandles.use { $0.generation })
    for position in adoptions.indices where open.isEmpty || !open.contains(position) {
      adoptions[position].use { $0.adopt(object, $0.offset) }
    }
    didManage(object)
  }

  /// Finishes an object that has become managed.
  func didManage(_ object: ObjectBase) { if isEncodable { makeEncodable(object) } }

  /// Makes an object that notes which of its properties are read.
  func recorder() -> ObjectBase {
    if let object = recording.copied() { return object }
    let object = recording.initialized()
    for (position, property) in properties.enumerated() {
      property.field.makeRecording(object, at: property.offset, position: position)
    }
    return object
  }
}

/// The operation that gives up a property's own value. It is a class because taking a closure out of an array would count a
/// reference.
private final class Adoption {
  let adopt: (ObjectBase, _ offset: Int) -> Void
  let offset: Int

  init(_ adopt: @escaping (ObjectBase, Int) -> Void, offset: Int) {
    self.adopt = adopt
    self.offset = offset
  }
}
