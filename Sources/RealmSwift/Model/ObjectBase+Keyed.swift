import Foundation

extension ObjectBase {
  /// The value of a property by its name.
  ///
  /// The getter answers nil for null. For an `AnyRealmValue` it answers what the value holds. If the program has no value for
  /// what is stored, such as an enumeration without a case for it, the getter answers the stored value itself.
  ///
  /// The setter converts a value as `init(value:)` does. If the property links to objects, the setter makes objects of
  /// dictionaries and arrays, and a managed object adds them to its realm. A name that no property has, a value of the wrong
  /// type and a new value for a `LinkingObjects` property stop the program. During a migration, a value of the wrong type
  /// makes the migration fail at its end instead.
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
      // The optional is unwrapped so that the error message quotes a text as it is.
      let any = newValue ?? NSNull()
      let migrating = context?.session.migration == nil ? nil : context?.session
      let value =
        property.type.canLink ? ValueReader(migrating).converted(any, for: property, of: self) : any
      guard property.field.set(value, self, at: property.offset, position: position) else {
        // A migration goes on after such a value, and is rolled back at its end.
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
