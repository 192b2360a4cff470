import RealmStorage
import Synchronization

/// A property of a model class: what realms store of it, and where an instance keeps it.
final class ModelProperty {
  let schema: PropertySchema
  /// The type as the class declares it, with the class that links lead to.
  let type: _PropertyType
  let offset: Int
  let field: any PersistedField.Type
  let access: FieldAccess
  /// `declaredValue`, once it was asked for.
  private let declared = Mutex<Value??>(nil)
  /// Of a property of dynamic objects: the tables that it may lead to. They keep the property's class.
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

  /// The class that links lead to; nil of a property that does not link to objects of one class.
  var target: ObjectModel? {
    guard let target = type.target else { return nil }
    guard let family else { return ObjectModel.of(target) }
    return schema.target.flatMap { family.binding(named: $0)?.model }
  }

  /// What it links to belongs to its object.
  var holdsParts: Bool {
    if family != nil { return target?.isEmbedded ?? false }
    return type.target is EmbeddedObject.Type
  }

  /// What the class declares for the property, as it is stored; nil where it declares none and the type has none of its own. The first time an initializer of the program is called for it.
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
  /// The name of its column: that of the property, unless the class maps it to another.
  var columnName: String { schema.columnName }
  var role: PropertyRole { schema.role }
  /// Told by the links of others, and stored nowhere.
  var isComputed: Bool { schema.isComputed }
}

/// A class of the program, or a table as a class of dynamic objects: what realms store of it, where its instances keep that, and how they are made.
final class ObjectModel: @unchecked Sendable {
  // Sendable: nothing of it changes.
  let type: ObjectBase.Type
  let schema: ClassSchema
  /// The superclass's first.
  let properties: [ModelProperty]
  /// Position of the primary key.
  let primaryKey: Int?
  /// Of each property, how it lets go of what it holds when its object shows a row.
  private let adoptions: [UncountedReference<Adoption>]
  /// Keeps them.
  private let keptAdoptions: [Adoption]
  private let managed: InstanceMaker
  /// Handles know their address in each property.
  private let isEncodable: Bool
  /// A handle has nothing of its row but the key.
  let canMoveHandles: Bool
  private let recording: InstanceMaker
  /// Of a class of dynamic objects: the tables of its file, which keep it.
  private(set) unowned var family: TableModels?

  private static let known = Mutex<[ObjectIdentifier: ObjectModel]>([:])
  /// The classes whose initializers are being called to learn of them.
  @TaskLocal private static var beingLearned: Set<ObjectIdentifier> = []

  /// The model of a class, made once in a process.
  static func of(_ type: ObjectBase.Type) -> ObjectModel {
    if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
    // Not under the lock: an initializer of the class is called.
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

  /// A table as a class of dynamic objects.
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
  /// Each object of it belongs to another.
  var isEmbedded: Bool { schema.isEmbedded }
  /// Its objects are dynamic: it is no class of the program.
  var isDynamic: Bool { family != nil }

  /// Stops the program where a property can't link to an object.
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

  /// An unmanaged object.
  func unmanaged() -> ObjectBase {
    isDynamic ? DynamicObject(DynamicDraft(self)) : InstanceMaker(type, fields: nil).initialized()
  }

  /// A handle of a row.
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

  /// Lets the properties of a managed object of a class that can be encoded know it.
  private func makeEncodable(_ object: ObjectBase) {
    for property in properties { property.field.makeEncodable(object, at: property.offset) }
  }

  /// Makes an unmanaged object show a row that was made of it.
  ///
  /// - Parameter open: the positions of properties that hold what is still to be stored.
  func manage(_ object: ObjectBase, _ row: UInt64, of context: ObjectContext, keeping open: [Int] = []) {
    object.show(row, of: context, birth: context.sessionOfHandles.use { $0.generation })
    for position in adoptions.indices where open.isEmpty || !open.contains(position) {
      adoptions[position].use { $0.adopt(object, $0.offset) }
    }
    didManage(object)
  }

  /// The object has become managed.
  func didManage(_ object: ObjectBase) { if isEncodable { makeEncodable(object) } }

  /// An object that notes which of its properties are read.
  func recorder() -> ObjectBase {
    if let object = recording.copied() { return object }
    let object = recording.initialized()
    for (position, property) in properties.enumerated() {
      property.field.makeRecording(object, at: property.offset, position: position)
    }
    return object
  }
}

/// How a property lets go of what it holds. A class, since to take a closure out of a list counts a reference.
private final class Adoption {
  let adopt: (ObjectBase, _ offset: Int) -> Void
  let offset: Int

  init(_ adopt: @escaping (ObjectBase, Int) -> Void, offset: Int) {
    self.adopt = adopt
    self.offset = offset
  }
}
