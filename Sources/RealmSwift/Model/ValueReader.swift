import Foundation
import RealmStorage

/// Makes objects of values that are given as `Any`: dictionaries by property name, arrays in the order of the properties, and
/// objects.
///
/// Nothing is bridged to Foundation, so a number is what its type says on every system. Nothing recurses, so the depth of
/// nested values and the length of chains of linked objects are limited only by memory.
final class ValueReader {
  /// For each object, the positions of the properties that were given a value.
  private(set) var given: [ObjectIdentifier: Set<Int>] = [:]
  /// The realm to which the objects are to be added; nil if that is not known. Objects that this realm does not manage are
  /// copied.
  private let session: RealmSession?
  private var copies = ObjectCopies()

  /// The steps that are still to be done, the last one first.
  private enum Step {
    case fill(ObjectBase, from: Any)
    case set(ObjectBase, ObjectModel, position: Int, Any)
  }
  private var steps: [Step] = []

  init(_ session: RealmSession? = nil) { self.session = session }

  /// Sets the properties of an unmanaged object for which `value` gives values.
  func fill(_ object: ObjectBase, from value: Any) {
    if let original = instance(value, of: ObjectBase.self), mustCopy(original) {
      copies.note(object, of: original)
    }
    steps.append(.fill(object, from: value))
    finish()
  }

  /// A value in which objects stand in place of the values they are made of, for a property that links.
  func converted(_ any: Any, for property: ModelProperty, of owner: ObjectBase) -> Any {
    let value = linkable(any, by: property, of: owner)
    finish()
    return value
  }

  private func finish() {
    while let step = steps.popLast() {
      switch step {
      case .fill(let object, let value): set(object, from: value)
      case .set(let object, let model, let position, let any): set(object, model, position, any)
      }
    }
  }

  private func set(_ object: ObjectBase, from value: Any) {
    let model = object.ownModel
    given[ObjectIdentifier(object)] = []
    if let other = instance(value, of: ObjectBase.self) { return copy(other, to: object, model) }
    switch value {
    case let values as [String: Any]:
      for (position, property) in model.properties.enumerated() where !property.isComputed {
        if let any = values[property.name] { prepare(object, model, position, any) }
      }
    case let values as [Any]:
      let stored = model.properties.indices.filter { !model.properties[$0].isComputed }
      guard values.count <= stored.count else {
        raise(
          "Invalid value",
          "\(model.name) has \(stored.count) properties; an array of \(values.count) values gives more.")
      }
      for (position, any) in zip(stored, values) { prepare(object, model, position, any) }
    default:
      raise(
        "Invalid value",
        "\(model.name) can be made of a dictionary, an array or an object, not of \(ObjectDescription.quoted(value)) "
          + "of type \(type(of: value)).")
    }
  }

  private func copy(_ other: ObjectBase, to object: ObjectBase, _ model: ObjectModel) {
    let source = other.ownModel
    let isDynamic = model.isDynamic || source.isDynamic
    for (position, property) in model.properties.enumerated() where !property.isComputed {
      // A table knows only the stored names.
      guard
        let from = isDynamic
          ? source.position(ofColumn: property.columnName) : source.position(of: property.name)
      else { continue }
      let origin = source.properties[from]
      if let unknown = origin.field.unknown(other, at: origin.offset, position: from) {
        set(object, model, position, unknown: unknown, from: origin)
        continue
      }
      let value =
        model.isDynamic && !origin.type.canLink
        ? storedForm(of: other, origin, from)
        : origin.field.value(other, at: origin.offset, position: from)
      prepare(object, model, position, value)
    }
  }

  /// The stored value of a property in the form in which a table has it; for an enumeration it is the raw value.
  private func storedForm(of object: ObjectBase, _ property: ModelProperty, _ position: Int) -> Any {
    let stored =
      object.keptContext == nil
      ? property.access.stored(object, property.offset) { _ in nil } : object.stored(position)
    switch stored {
    case .list(let elements, _): return elements.map { $0.plain ?? NSNull() }
    case .map(let map, _):
      return Dictionary(uniqueKeysWithValues: zip(map.keys, map.values).map { ($0, $1.plain ?? NSNull()) })
        as [String: Any]
    default: return stored.plain ?? NSNull()
    }
  }

  /// Copies a stored value for which the program has none.
  private func set(
    _ object: ObjectBase, _ model: ObjectModel, _ position: Int, unknown value: Value,
    from origin: ModelProperty
  ) {
    let property = model.properties[position]
    guard property.type.column == origin.type.column, property.type.form == .value,
      property.field.isUnknown(value)
    else { return set(object, model, position, value.plain as Any) }
    property.field.set(unknown: value, object, at: property.offset, position: position)
    given[ObjectIdentifier(object)]?.insert(position)
  }

  /// Sets a property. If its value has objects that are still to be filled, the property is set after them.
  private func prepare(_ object: ObjectBase, _ model: ObjectModel, _ position: Int, _ any: Any) {
    let property = model.properties[position]
    guard property.type.canLink else { return set(object, model, position, any) }
    let place = steps.count
    let value = linkable(any, by: property, of: object)
    let step = Step.set(object, model, position: position, value)
    if steps.count == place { set(object, model, position, value) } else { steps.insert(step, at: place) }
  }

  private func set(_ object: ObjectBase, _ model: ObjectModel, _ position: Int, _ any: Any) {
    let property = model.properties[position]
    guard property.field.set(any, object, at: property.offset, position: position) else {
      // A migration goes on after such a value, and is rolled back at its end.
      if let migration = session?.migration { return migration.note(any, doesNotFit: property, of: model) }
      model.stopInvalid(any, for: property)
    }
    given[ObjectIdentifier(object)]?.insert(position)
  }

  /// A value in which objects stand in place of the values they are made of, if the property links; otherwise the same value.
  private func linkable(_ any: Any, by property: ModelProperty, of owner: ObjectBase) -> Any {
    if property.type.column == .mixed { return anyValue(any, property.type.form) }
    guard var target = property.target else { return any }
    // The table may have got further properties after the owner's class was made.
    if target.isDynamic, let session = session ?? owner.context?.session {
      target = session.tableContext(target.name).binding.model
    }
    // Without a realm nothing is copied, and the collection may be the property's own.
    if session == nil, Swift.type(of: any) == property.field.valueType { return any }
    if property.type.form == .value {
      return isGone(any) ? NSNull() : object(of: target, from: any, for: owner) ?? any
    }
    if isNull(any) { return any }
    if property.type.form == .map {
      guard let values = entries(of: any) else { return any }
      return AnyEntries(
        anyEntries: values.map {
          ($0, isGone($1) ? NSNull() : object(of: target, from: $1, for: owner) ?? $1)
        })
    }
    // A dictionary is excluded because it is also a sequence, of pairs.
    guard !(any is [String: Any]), let elements = any as? any Sequence else { return any }
    var objects: [Any] = []
    for element in elements as any Sequence where !isGone(element) {
      objects.append(object(of: target, from: element, for: owner) ?? element)
    }
    return objects
  }

  /// Whether the value is an old object of a migration whose new object was deleted.
  private func isGone(_ any: Any) -> Bool {
    guard let migration = session?.migration, let object = instance(any, of: ObjectBase.self) else {
      return false
    }
    if case .gone = migration.moved(object) { return true }
    return false
  }

  /// A value of any type with copies in place of collections, and of objects that the realm does not manage.
  private func anyValue(_ any: Any, _ form: _PropertyType.Form) -> Any {
    let any = (any as? any RecordingProperty)?.content ?? any
    if isNull(any) { return any }
    switch form {
    case .value: return nested(any) ?? any
    case .map:
      return entries(of: any).map { AnyEntries(anyEntries: $0.map { ($0, anyValue($1, .value)) }) } ?? any
    default:
      guard let elements = any as? any Sequence else { return any }
      var values: [Any] = []
      for element in elements as any Sequence { values.append(anyValue(element, .value)) }
      return values
    }
  }

  /// An array or a dictionary of which a list or a dictionary of values of any type is being made.
  private struct Level {
    let value: AnyRealmValue
    /// The elements that are still to be added, the last one first.
    var rest: [(key: String, value: Any)]

    /// Begins a level; nil if the value is neither an array nor a dictionary.
    init?(_ any: Any) {
      if let values = any as? [String: Any] {
        value = .dictionary(Map())
        rest = values.map { ($0, $1) }
      } else if let values = any as? [Any] {
        value = .list(List())
        rest = values.reversed().map { ("", $0) }
      } else {
        return nil
      }
    }

    func add(_ element: AnyRealmValue, _ key: String) {
      value.listValue?.append(element)
      value.dictionaryValue?.updateValue(element, forKey: key)
    }
  }

  /// A value of any type, made of arrays and dictionaries that contain each other; nil if an element can't be converted.
  private func nested(_ any: Any) -> AnyRealmValue? {
    var levels: [Level] = []
    var keys: [String] = []
    var next: (key: String, value: Any)? = ("", any)
    while true {
      var made: (key: String, value: AnyRealmValue)?
      if let (key, any) = next {
        if let level = Level(any) {
          if levels.count == Value.mostLevels { stopTooDeep() }
          levels.append(level)
          keys.append(key)
        } else {
          guard let value = AnyRealmValue._converted(any) else { return nil }
          made = (key, ownCopy(value))
        }
      } else if let level = levels.popLast(), let key = keys.popLast() {
        made = (key, level.value)
      }
      if let made {
        if levels.isEmpty { return made.value }
        levels[levels.count - 1].add(made.value, made.key)
      }
      next = levels[levels.count - 1].rest.popLast()
    }
  }

  private func stopTooDeep() -> Never {
    raise(
      "Invalid value",
      "an AnyRealmValue holds lists and dictionaries that stand in each other more than \(Value.mostLevels) deep; "
        + "store an object for the inner ones.")
  }

  private func ownCopy(_ value: AnyRealmValue, levels: Int = Value.mostLevels) -> AnyRealmValue {
    switch value {
    case .list, .dictionary: if levels == 0 { stopTooDeep() }
    default: break
    }
    switch value {
    case .object(let object):
      switch session?.migration?.moved(object) {
      case .object(let moved as Object): return .object(moved)
      case .gone: return AnyRealmValue.none
      case .object, .itself, nil: break
      }
      guard mustCopy(object), let copy = copy(object, as: ownModel(of: object), for: nil) as? Object else {
        return value
      }
      return .object(copy)
    case .list(let list):
      let copy = List<AnyRealmValue>()
      copy.append(objectsIn: Array(list).map { self.ownCopy($0, levels: levels - 1) })
      return .list(copy)
    case .dictionary(let map):
      let copy = Map<String, AnyRealmValue>()
      for (key, value) in map.asKeyValueSequence() {
        copy.updateValue(ownCopy(value, levels: levels - 1), forKey: key)
      }
      return .dictionary(copy)
    default: return value
    }
  }

  /// An object of a class. It is the given object, a copy of it if the realm does not manage it or it has another owner, or a
  /// new object that is made of the given values. It is nil for anything else.
  private func object(of model: ObjectModel, from any: Any, for owner: ObjectBase) -> ObjectBase? {
    if let object = instance(any, of: ObjectBase.self) {
      if model.isDynamic { return dynamicObject(of: model, from: object, for: owner) }
      if object.asDynamic != nil { return typedObject(of: model, from: object, for: owner) }
      guard Swift.type(of: object) == model.type else { return nil }
      return mustCopy(object) ? copy(object, as: model, for: owner) : object
    }
    guard any is [String: Any] || any is [Any] else { return nil }
    let object = model.unmanaged()
    steps.append(.fill(object, from: any))
    return object
  }

  /// A dynamic object of a class. The given object may be of the program's class for the same table.
  private func dynamicObject(
    of model: ObjectModel, from object: ObjectBase, for owner: ObjectBase
  ) -> ObjectBase? {
    guard object.ownModel.name == model.name else { return nil }
    if case .object(let moved) = session?.migration?.moved(object) { return moved }
    let isHere = object.context != nil && object.context?.session === (session ?? owner.context?.session)
    if isHere, session == nil || !object.isPart { return object.asDynamic ?? object.dynamicHandle }
    return copy(object, as: model, for: owner)
  }

  /// An object of the program's class. The given object may be a dynamic one of the same table.
  private func typedObject(
    of model: ObjectModel, from object: ObjectBase, for owner: ObjectBase
  ) -> ObjectBase? {
    guard object.ownModel.name == model.name, let context = object.context else { return nil }
    let isHere = session == nil || context.session === session
    guard isHere, !object.isPart, let binding = context.session.schema.find(model.type) else {
      return copy(object, as: model, for: owner)
    }
    return context.session.context(binding).object(object.row, birth: object.birth)
  }

  /// The entries of a dictionary, or of a map of objects; nil for anything else.
  private func entries(of any: Any) -> [(key: String, value: Any)]? {
    (any as? any EntriesOfMap)?.anyEntries ?? (any as? [String: Any])?.map { ($0, $1) }
  }

  /// The class of a copy. A dynamic object of another file becomes an object of the class with the same name in this file.
  private func ownModel(of object: ObjectBase) -> ObjectModel {
    let name = object.ownModel.name
    guard let session,
      object.asDynamic != nil || session.migration != nil || session.schema.find(type(of: object)) == nil
    else { return object.ownModel }
    return (session.schema.bindings.first { $0.model.name == name } ?? session.tableContext(name).binding)
      .model
  }

  private func mustCopy(_ object: ObjectBase) -> Bool {
    guard let session else { return false }
    return object.isPart || object.context?.session !== session
  }

  private func copy(_ object: ObjectBase, as model: ObjectModel, for owner: ObjectBase?) -> ObjectBase {
    if let copy = copies.copy(of: object, isDynamic: model.isDynamic, for: owner) { return copy }
    let copy = model.unmanaged()
    copies.note(copy, of: object, for: owner)
    steps.append(.fill(copy, from: object))
    return copy
  }
}

/// The copies that were made of objects. If an object is met again, also in a circle of links, its first copy is used. An
/// embedded object has one owner, so it gets a copy for each owner.
private struct ObjectCopies {
  private enum Original: Hashable {
    case row(session: ObjectIdentifier, slot: Int, UInt64)
    case unmanaged(ObjectIdentifier)

    init(_ object: ObjectBase) {
      self =
        object.context.map { .row(session: ObjectIdentifier($0.session), slot: $0.binding.slot, object.row) }
        ?? .unmanaged(ObjectIdentifier(object))
    }
  }
  /// Which copy is wanted. A value of any type may ask for an object of the program's class while a link asks for a dynamic
  /// object of the same row.
  private struct Wanted: Hashable {
    let original: Original
    let isDynamic: Bool
  }
  private var copies: [Wanted: ObjectBase] = [:]
  /// For each copy of an embedded object, the original and the owner of the copy.
  private var owners: [ObjectIdentifier: (original: Original, owner: ObjectBase)] = [:]
  /// Keeps alive the objects whose address is used as an identity.
  private var kept: [ObjectBase] = []

  mutating func note(_ copy: ObjectBase, of object: ObjectBase, for owner: ObjectBase? = nil) {
    let original = Original(object)
    if object.context == nil { kept.append(object) }
    copies[Wanted(original: original, isDynamic: copy.asDynamic != nil)] = copy
    if let owner, object.isPart { owners[ObjectIdentifier(copy)] = (original, owner) }
  }

  func copy(of object: ObjectBase, isDynamic: Bool, for owner: ObjectBase?) -> ObjectBase? {
    let original = Original(object)
    guard let copy = copies[Wanted(original: original, isDynamic: isDynamic)] else { return nil }
    guard object.isPart else { return copy }
    // An embedded object that is given again gets a further copy, unless that copy would be a part of itself.
    var next = owner
    while let part = next, let found = owners[ObjectIdentifier(part)] {
      if found.original == original { return part }
      next = found.owner
    }
    return nil
  }
}

extension ObjectModel {
  /// Stops the program because a value can't be converted to a property's type.
  func stopInvalid(_ any: Any, for property: ModelProperty) -> Never {
    raise(
      "Invalid value",
      "\(name).\(property.name) is of type \(property.field.valueType) and can't be made of "
        + "\(ObjectDescription.quoted(any)) of type \(Swift.type(of: any)); give \(property.field.accepted).")
  }
}
