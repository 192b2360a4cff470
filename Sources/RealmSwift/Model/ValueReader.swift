import RealmStorage

/// Makes objects of values given as `Any`: dictionaries by property name, arrays in the order of the properties, objects.
///
/// Nothing is bridged: a number is what its type says, on every system.
final class ValueReader {
  /// The positions of the properties that each object was given a value of.
  private(set) var given: [ObjectIdentifier: Set<Int>] = [:]
  /// The realm the objects are to be added to; nil where that is not known.
  private let session: RealmSession?

  /// An object of another realm.
  private struct Foreign: Hashable {
    let binding: ObjectIdentifier
    let row: UInt64
  }
  private var copies: [Foreign: ObjectBase] = [:]
  /// Copies without values yet: a chain of objects may be too long to be followed by calls.
  private var unfilled: [(copy: ObjectBase, original: ObjectBase)] = []

  init(_ session: RealmSession? = nil) { self.session = session }

  /// Gives an unmanaged object's properties the values there are.
  func fill(_ object: ObjectBase, from value: Any) {
    if let original = instance(value, of: ObjectBase.self), let foreign = foreign(original) {
      copies[foreign] = object
    }
    set(object, from: value)
    while let next = unfilled.popLast() { set(next.copy, from: next.original) }
  }

  private func set(_ object: ObjectBase, from value: Any) {
    let model = ObjectModel.of(type(of: object))
    given[ObjectIdentifier(object)] = []
    if let other = instance(value, of: ObjectBase.self) {
      let source = ObjectModel.of(type(of: other))
      for (position, property) in model.properties.enumerated() where !property.isComputed {
        guard let from = source.position(of: property.name) else { continue }
        let origin = source.properties[from]
        set(object, model, position, origin.field.value(other, at: origin.offset, position: from))
      }
      return
    }
    switch value {
    case let values as [String: Any]:
      for (position, property) in model.properties.enumerated() where !property.isComputed {
        if let any = values[property.name] { set(object, model, position, any) }
      }
    case let values as [Any]:
      let stored = model.properties.indices.filter { !model.properties[$0].isComputed }
      guard values.count <= stored.count else {
        raise(
          "Invalid value",
          "\(model.name) has \(stored.count) properties; an array of \(values.count) values gives more.")
      }
      for (position, any) in zip(stored, values) { set(object, model, position, any) }
    default:
      raise(
        "Invalid value",
        "\(model.name) can be made of a dictionary, an array or an object, not of \(value) of type \(type(of: value))."
      )
    }
  }

  private func set(_ object: ObjectBase, _ model: ObjectModel, _ position: Int, _ any: Any) {
    let property = model.properties[position]
    guard property.field.set(linkable(any, by: property), object, at: property.offset, position: position)
    else { model.stopInvalid(any, for: property) }
    given[ObjectIdentifier(object)]?.insert(position)
  }

  /// The same with objects in place of what they are made of, where a property links.
  private func linkable(_ any: Any, by property: ModelProperty) -> Any {
    if property.type.column == .mixed { return anyValue(any, property.type.form) }
    guard let target = property.type.target else { return any }
    if property.type.form == .value { return self.object(of: target, from: any) ?? any }
    if isNull(any) { return any }
    if property.type.form == .map {
      guard let values = entries(of: any) else { return any }
      return AnyEntries(anyEntries: values.map { ($0, object(of: target, from: $1) ?? $1) })
    }
    guard let elements = any as? any Sequence else { return any }
    var objects: [Any] = []
    for element in elements as any Sequence { objects.append(object(of: target, from: element) ?? element) }
    return objects
  }

  /// The same with copies in place of collections, and of objects of other realms.
  private func anyValue(_ any: Any, _ form: _PropertyType.Form) -> Any {
    let any = (any as? any RecordingProperty)?.content ?? any
    if isNull(any) { return any }
    switch form {
    case .value: return AnyRealmValue._converted(any).map { ownCopy($0) } ?? any
    case .map:
      return entries(of: any).map { AnyEntries(anyEntries: $0.map { ($0, anyValue($1, .value)) }) } ?? any
    default:
      guard let elements = any as? any Sequence else { return any }
      var values: [Any] = []
      for element in elements as any Sequence { values.append(anyValue(element, .value)) }
      return values
    }
  }

  private func ownCopy(_ value: AnyRealmValue) -> AnyRealmValue {
    switch value {
    case .object(let object):
      guard let foreign = foreign(object), let copy = copy(object, foreign) as? Object else { return value }
      return .object(copy)
    case .list(let list): return .fromArray(list.map { ownCopy($0) })
    case .dictionary(let map):
      // Not by a dictionary of the standard library, to which equivalent texts are one key.
      let copy = Map<String, AnyRealmValue>()
      for (key, value) in map.asKeyValueSequence() { copy.updateValue(ownCopy(value), forKey: key) }
      return .dictionary(copy)
    default: return value
    }
  }

  /// An object of a class: the one given, a copy of one of another realm, or a new one made of what was given; nil
  /// where it is none of these.
  private func object(of type: ObjectBase.Type, from any: Any) -> ObjectBase? {
    if let object = instance(any, of: ObjectBase.self) {
      guard Swift.type(of: object) == type else { return nil }
      return foreign(object).map { copy(object, $0) } ?? object
    }
    guard any is [String: Any] || any is [Any] else { return nil }
    let object = ObjectModel.of(type).unmanaged()
    set(object, from: any)
    return object
  }

  /// Of a dictionary, or of a map of objects.
  private func entries(of any: Any) -> [(key: String, value: Any)]? {
    (any as? any EntriesOfMap)?.anyEntries ?? (any as? [String: Any])?.map { ($0, $1) }
  }

  private func foreign(_ object: ObjectBase) -> Foreign? {
    guard let session, let context = object.context, context.session !== session else { return nil }
    return Foreign(binding: ObjectIdentifier(context.binding), row: object.row)
  }

  private func copy(_ object: ObjectBase, _ foreign: Foreign) -> ObjectBase {
    if let copy = copies[foreign] { return copy }
    let copy = ObjectModel.of(type(of: object)).unmanaged()
    copies[foreign] = copy
    unfilled.append((copy, object))
    return copy
  }
}

extension ObjectModel {
  /// Stops the program, which gave a value that is none of a property's type.
  func stopInvalid(_ any: Any, for property: ModelProperty) -> Never {
    raise(
      "Invalid value",
      "\(name).\(property.name) is of type \(property.field.valueType) and can't be made of \(any) "
        + "of type \(Swift.type(of: any)).")
  }
}
