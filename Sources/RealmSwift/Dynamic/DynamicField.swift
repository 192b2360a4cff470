import Foundation
import RealmStorage

/// A property of dynamic objects, whose column decides the type of its values. A managed object reads them from its
/// row. An object that is about to become a row has them in its draft.
///
/// Other kinds of fields find a property in an instance by an offset. Here the offset is the position in the draft.
enum DynamicField<Value: _Persistable>: PersistedField {
  private static func draft(_ object: ObjectBase) -> DynamicDraft {
    guard let draft = object.asDynamic?.draft else {
      preconditionFailure("a dynamic object without a row has a draft")
    }
    return draft
  }

  /// The value in the draft. If none was given, this stores the default in the draft.
  private static func current(_ object: ObjectBase, _ position: Int) -> Value {
    let draft = draft(object)
    if let value = draft.values[position] as? Value { return value }
    let value = zero ?? Value._initial()
    draft.values[position] = value
    return value
  }

  /// The zero of the type. It is used for ids and dates too, whose default would otherwise be a new id or the current moment.
  private static var zero: Value? {
    guard let scalar = Value.self as? any _Scalar.Type else { return nil }
    return scalar._load(scalar._column.zero) as? Value
  }

  static var propertyType: _PropertyType { Value._type }
  static var valueType: Any.Type { Value.self }
  static var optionalType: Any.Type { Value?.self }
  static var keepsInstance: Bool { false }

  static func role(in object: ObjectBase, at offset: Int) -> PropertyRole { .plain }
  static func declaredType(in object: ObjectBase, at offset: Int) -> _PropertyType { propertyType }

  // An instance stores nothing for the property.
  static func initializeManaged(_ instance: FreshInstance, at offset: Int, position: Int) {}
  static func initializeRecording(_ instance: FreshInstance, at offset: Int, position: Int) {}
  static func makeManaged(_ object: ObjectBase, at offset: Int, position: Int) {}
  static func makeEncodable(_ object: ObjectBase, at offset: Int) {}
  static func makeRecording(_ object: ObjectBase, at offset: Int, position: Int) {}

  static func adopter(position: Int) -> (ObjectBase, _ offset: Int) -> Void {
    { object, offset in
      let draft = object.asDynamic?.draft
      if Value._keepsInstance, let kept = draft?.values[offset] as? Value {
        kept._becomeManaged(object, position)
      }
      draft?.values[offset] = nil
    }
  }

  static func stored(_ object: ObjectBase, at offset: Int, _ row: _RowOfObject) -> RealmStorage.Value {
    current(object, offset)._stored(row)
  }

  static func linked(_ object: ObjectBase, at offset: Int) -> [ObjectBase] {
    guard object.keptContext == nil else { return [] }
    return (draft(object).values[offset] as? Value)?._linked ?? []
  }

  static func set(_ any: Any, _ object: ObjectBase, at offset: Int, position: Int) -> Bool {
    guard let value = Value._converted(any) else { return false }
    if object.keptContext == nil {
      if Value._keepsObjects { object.noteKeepsObjects() }
      draft(object).values[offset] = value
    } else if Value._keepsInstance {
      Value._read(object, position)._assign(value)
    } else {
      Value._write(value, object, position)
    }
    return true
  }

  static func stored(of any: Any) -> RealmStorage.Value? { Value._converted(any)?._stored { _ in nil } }

  static func value(_ object: ObjectBase, at offset: Int, position: Int) -> Any {
    object.keptContext == nil ? current(object, offset) : Value._read(object, position)
  }

  static func keyed(_ object: ObjectBase, at offset: Int, position: Int) -> Any? {
    (object.keptContext == nil ? current(object, offset) : Value._read(object, position))._plainValue
  }

  // The columns decide the types, so every stored value has a value in the program.
  static func unknown(_ object: ObjectBase, at offset: Int, position: Int) -> RealmStorage.Value? { nil }
  static func set(unknown value: RealmStorage.Value, _ object: ObjectBase, at offset: Int, position: Int) {
    object.store(value, position)
  }
  static func isUnknown(_ value: RealmStorage.Value) -> Bool { false }
  static var accepted: String { Value._accepted }
}

extension PropertySchema {
  /// The operations that read and set the property in dynamic objects.
  var dynamicField: any PersistedField.Type {
    switch type {
    case .bool: field(of: Bool.self)
    case .int64: field(of: Int.self)
    case .float: field(of: Float.self)
    case .double: field(of: Double.self)
    case .string: field(of: String.self)
    case .data: field(of: Data.self)
    case .date: field(of: Date.self)
    case .objectID: field(of: ObjectId.self)
    case .uuid: field(of: UUID.self)
    case .decimal128: field(of: Decimal128.self)
    case .link: fieldOfLinks
    case .mixed: fieldOfAnyValues
    }
  }

  private func field<Scalar: _Scalar & _PersistableInsideOptional>(
    of type: Scalar.Type
  ) -> any PersistedField.Type {
    switch (form, isOptional) {
    case (.list, false): DynamicField<List<Scalar>>.self
    case (.list, true): DynamicField<List<Scalar?>>.self
    case (.set, false): DynamicField<MutableSet<Scalar>>.self
    case (.set, true): DynamicField<MutableSet<Scalar?>>.self
    case (.map, false): DynamicField<Map<String, Scalar>>.self
    case (.map, true): DynamicField<Map<String, Scalar?>>.self
    case (.value, false), (.linkingObjects, false): DynamicField<Scalar>.self
    case (.value, true), (.linkingObjects, true): DynamicField<Scalar?>.self
    }
  }

  private var fieldOfLinks: any PersistedField.Type {
    switch form {
    case .list: DynamicField<List<DynamicObject>>.self
    case .set: DynamicField<MutableSet<DynamicObject>>.self
    case .map: DynamicField<Map<String, DynamicObject?>>.self
    case .value, .linkingObjects: DynamicField<DynamicObject?>.self
    }
  }

  private var fieldOfAnyValues: any PersistedField.Type {
    switch form {
    case .list: DynamicField<List<AnyRealmValue>>.self
    case .set: DynamicField<MutableSet<AnyRealmValue>>.self
    case .map: DynamicField<Map<String, AnyRealmValue>>.self
    case .value, .linkingObjects: DynamicField<AnyRealmValue>.self
    }
  }
}
