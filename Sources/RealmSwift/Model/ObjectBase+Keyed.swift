import Foundation

extension ObjectBase {
  /// The value of a property by its name: nil where it is null, of an `AnyRealmValue` what it holds, and what is stored where the
  /// program has no value for that, as of an enumeration without such a case.
  ///
  /// What is set is converted as `init(value:)` converts it: of dictionaries and arrays objects are made, which a managed object adds
  /// to its realm. A name that no property has, and a value of another type, stop the program.
  public final subscript(key: String) -> Any? {
    get {
      let (property, position) = property(named: key)
      if let unknown = property.field.unknown(self, at: property.offset, position: position) {
        return unknown.plain
      }
      let own = property.field.value(self, at: property.offset, position: position)
      let value = (own as? any RecordingProperty)?.content ?? own
      if let any = value as? AnyRealmValue { return any.content }
      return isNull(value) ? nil : value
    }
    set {
      let model = ObjectModel.of(type(of: self))
      let (property, position) = property(named: key)
      guard !property.isComputed else {
        raise(
          "Computed property",
          "\(model.name).\(key) shows who links here and can't be set; change their links.")
      }
      // Unwrapped, so that a text that is no value is quoted as it is.
      let any = newValue ?? NSNull()
      let value = property.type.canLink ? ValueReader().converted(any, for: property, of: self) : any
      guard property.field.set(value, self, at: property.offset, position: position) else {
        model.stopInvalid(any, for: property)
      }
    }
  }

  private final func property(named name: String) -> (ModelProperty, Int) {
    let model = ObjectModel.of(type(of: self))
    guard let position = model.position(of: name) else {
      let names = model.properties.map(\.name).joined(separator: ", ")
      raise("Unknown property", "\(model.name) has no property \(name); it has \(names).")
    }
    return (model.properties[position], position)
  }
}
