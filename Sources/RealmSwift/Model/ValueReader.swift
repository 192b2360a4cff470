import Foundation

/// Makes objects of values given as `Any`: dictionaries by property name, arrays in the order of the properties, objects.
///
/// Nothing is bridged: a number is what its type says, on every system.
enum ValueReader {
  /// Gives an unmanaged object's properties the values there are; answers which it gave.
  @discardableResult
  static func fill(_ object: ObjectBase, from value: Any) -> Set<Int> {
    let model = ObjectModel.of(type(of: object))
    var given = Set<Int>()
    func set(_ position: Int, _ any: Any) {
      let property = model.properties[position]
      if case .linkingObjects = property.type.form { return }
      guard property.field.set(any, object, at: property.offset) else {
        raise(
          "Invalid value",
          "\(model.name).\(property.name) is of type \(property.field.valueType) and can't be made of \(any) "
            + "of type \(type(of: any)).")
      }
      given.insert(position)
    }
    switch value {
    case let other as ObjectBase:
      let source = ObjectModel.of(type(of: other))
      for (position, property) in model.properties.enumerated() {
        guard let from = source.position(of: property.name) else { continue }
        let origin = source.properties[from]
        set(position, origin.field.value(other, at: origin.offset, position: from))
      }
    case let values as [String: Any]:
      for (position, property) in model.properties.enumerated() {
        if let any = values[property.name] { set(position, any) }
      }
    case let values as [Any]:
      guard values.count <= model.properties.count else {
        raise(
          "Invalid value",
          "\(model.name) has \(model.properties.count) properties; an array of \(values.count) values gives more."
        )
      }
      for (position, any) in values.enumerated() { set(position, any) }
    default:
      raise(
        "Invalid value",
        "\(model.name) can be made of a dictionary, an array or an object, not of \(value) of type \(type(of: value))."
      )
    }
    return given
  }

  /// An object of a class: the one given, or a new one made of what was; nil where it is neither.
  static func object(of type: ObjectBase.Type, from any: Any) -> ObjectBase? {
    if let object = any as? ObjectBase, Swift.type(of: object) == type { return object }
    guard any is [String: Any] || any is [Any] else { return nil }
    let object = ObjectModel.of(type).unmanaged()
    fill(object, from: any)
    return object
  }
}
