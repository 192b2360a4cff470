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
      return property.field.keyed(self, at: property.offset, position: position)
    }
    set {
      let model = ownModel
      let (property, position) = property(named: key)
      guard !property.isComputed else {
        raise(
          "Computed property",
          "\(model.name).\(key) shows who links here and can't be set; change their links.")
      }
      // Unwrapped, so that a text that is no value is quoted as it is.
      let any = newValue ?? NSNull()
      let migrating = context?.session.migration == nil ? nil : context?.session
      let value =
        property.type.canLink ? ValueReader(migrating).converted(any, for: property, of: self) : any
      guard property.field.set(value, self, at: property.offset, position: position) else {
        // A migration goes on, and is taken back at its end.
        if let migration = context?.session.migration {
          return migration.note(any, doesNotFit: property, of: model)
        }
        model.stopInvalid(any, for: property)
      }
    }
  }

  private final func property(named name: String) -> (ModelProperty, Int) {
    let model = ownModel
    guard let position = model.position(of: name) else {
      if asDynamic != nil, !model.isDynamic {
        raise(
          "Object of no table",
          "a dynamic object that is in no realm has no properties: realm.dynamicCreate(_:value:) makes one that has."
        )
      }
      let names = model.properties.map(\.name).joined(separator: ", ")
      raise("Unknown property", "\(model.name) has no property \(name); it has \(names).")
    }
    return (model.properties[position], position)
  }
}
