import RealmStorage
import Synchronization

/// A property of a model class.
final class ModelProperty {
  let name: String
  /// Of its column; the name of the property unless the class maps it to another.
  let columnName: String
  let type: _PropertyType
  let role: PropertyRole
  let offset: Int
  let field: any PersistedField.Type
  let access: FieldAccess

  init(
    name: String, columnName: String, type: _PropertyType, role: PropertyRole, offset: Int,
    field: any PersistedField.Type
  ) {
    self.name = name
    self.columnName = columnName
    self.type = type
    self.role = role
    self.offset = offset
    self.field = field
    access = FieldAccess(field)
  }

  /// Told by the links of others, and stored nowhere.
  var isComputed: Bool {
    if case .linkingObjects = type.form { true } else { false }
  }
}

/// What there is to know of a model class: its stored properties, and how an instance is made.
final class ObjectModel: @unchecked Sendable {
  // Sendable: nothing of it changes.
  let type: ObjectBase.Type
  let name: String
  /// Each object of it belongs to another.
  let isEmbedded: Bool
  /// The superclass's first.
  let properties: [ModelProperty]
  /// Position of the primary key.
  let primaryKey: Int?
  private let managed: InstanceMaker
  /// A handle has nothing of its row but the key.
  let canMoveHandles: Bool
  private let recording: InstanceMaker

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
    isEmbedded = type is EmbeddedObject.Type
    name = type.className()
    let own = Set(StoredField.all(of: ObjectBase.self).map(\.offset))
    let fields = StoredField.all(of: type).filter { !own.contains($0.offset) }
    let persisted = fields.compactMap { field in
      (field.type as? any PersistedField.Type).map { (field, $0) }
    }
    let sample = persisted.isEmpty ? nil : InstanceMaker(type, fields: nil).initialized()
    let mapping = type.propertiesMapping()
    properties = persisted.map { field, access in
      // A property wrapper's storage has the property's name after an underscore.
      let name = String(field.name.dropFirst())
      return ModelProperty(
        name: name, columnName: mapping[name] ?? name,
        type: sample.map { access.declaredType(in: $0, at: field.offset) } ?? access.propertyType,
        role: sample.map { access.role(in: $0, at: field.offset) } ?? .plain, offset: field.offset,
        field: access)
    }
    let keys = properties.indices.filter { [properties] in properties[$0].role == .primaryKey }
    primaryKey = keys.first
    let isPlain = fields.count == persisted.count
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
    check(keys: keys.count)
    check(mapping)
  }

  private func check(_ mapping: [String: String]) {
    for name in mapping.keys.sorted() where position(of: name) == nil {
      raise(
        "Invalid schema",
        "\(self.name).propertiesMapping() names \(name), which is no property marked by @Persisted; give the property's name "
          + "first, and the stored one second.")
    }
    var columns: [String: String] = [:]
    for property in properties where !property.isComputed {
      if let other = columns.updateValue(property.name, forKey: property.columnName) {
        raise(
          "Invalid schema",
          "\(name).\(other) and \(name).\(property.name) are both stored as \(property.columnName); map one to another name."
        )
      }
    }
  }

  private func check(keys: Int) {
    if keys > 1 { raise("Invalid schema", "\(name) has \(keys) primary keys; keep one.") }
    var names = Set<String>()
    for property in properties {
      if !names.insert(property.name).inserted {
        raise("Invalid schema", "\(name).\(property.name) is declared twice in its classes; rename one.")
      }
      if property.role == .primaryKey, isEmbedded {
        raise(
          "Invalid schema",
          "\(name).\(property.name) can't be a primary key: objects of \(name) are found through their owner only."
        )
      }
      check(property)
      if property.role == .primaryKey, property.type.column == .bool {
        raise("Invalid schema", "\(name).\(property.name) can't be a primary key: Bool has two values only.")
      }
    }
  }

  /// Stops the program where a collection can't hold what the property says.
  private func check(_ property: ModelProperty) {
    guard let target = property.type.target else { return }
    let targetName = Self.unqualifiedName(of: target)
    switch property.type.form {
    case .list where property.type.isOptional, .set where property.type.isOptional:
      raise(
        "Invalid schema",
        "\(name).\(property.name) can't hold nil; let it hold \(targetName), not \(targetName)?.")
    case .set where target is EmbeddedObject.Type:
      raise(
        "Invalid schema",
        "\(name).\(property.name) is a set of embedded objects, which are never equal; let it be a List of \(targetName)."
      )
    case .map where !property.type.isOptional:
      raise(
        "Invalid schema",
        "\(name).\(property.name) loses values when objects are deleted; let it be a Map of \(targetName)?.")
    default: break
    }
  }

  /// Stops the program where a property can't link to an object.
  func check(_ object: ObjectBase, fits position: Int) {
    guard let target = properties[position].type.target, target != Swift.type(of: object) else { return }
    raise(
      "Invalid link",
      "\(name).\(properties[position].name) links to objects of \(Self.unqualifiedName(of: target)), and can't to a "
        + "\(Self.unqualifiedName(of: Swift.type(of: object))): a class that inherits from it has rows of its own."
    )
  }

  func position(of name: String) -> Int? { properties.firstIndex { $0.name == name } }

  /// An unmanaged object.
  func unmanaged() -> ObjectBase { InstanceMaker(type, fields: nil).initialized() }

  /// A handle of a row.
  @inline(__always)
  func handle(_ context: ObjectContext, _ row: UInt64, birth: UInt64) -> ObjectBase {
    let object = managed.copied() ?? initializedHandle()
    object.show(row, of: context, birth: birth)
    return object
  }

  private func initializedHandle() -> ObjectBase {
    let object = managed.initialized()
    for (position, property) in properties.enumerated() {
      property.field.makeManaged(object, at: property.offset, position: position)
    }
    return object
  }

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
