import Synchronization

/// Notes which properties a key path reads. A key path does not tell the names of properties, but an object can note which of
/// its properties are read.
final class PropertyRecorder: @unchecked Sendable {
  // Sendable because one thread uses it, for as long as a key path is read.
  @TaskLocal static var current: PropertyRecorder?

  private(set) var names: [String] = []
  /// The operations of the last property.
  private var field: (any PersistedField.Type)?

  func note(_ object: ObjectBase, _ position: Int) {
    let property = object.ownModel.properties[position]
    names.append(property.name)
    field = property.field
  }

  /// Notes a property without `@Persisted`. Such a property can't note by itself that it is read, so it is found by its
  /// value.
  private func note(_ object: ObjectBase, propertyThatIs value: AnyObject) {
    for (position, property) in object.ownModel.properties.enumerated() {
      let own = property.field.value(object, at: property.offset, position: position)
      if own as AnyObject === value { return note(object, position) }
    }
  }

  /// Whether the key path answers the value of the last property, and not something made of it.
  private func answers(_ type: Any.Type) -> Bool {
    field.map { [$0.valueType, $0.optionalType, $0.contentType].contains { $0 == type } } ?? false
  }

  private struct Path: Hashable {
    let keyPath: AnyKeyPath
    let root: ObjectIdentifier
  }
  // Sendable because key paths are immutable, and those of properties capture only immutable values.
  private struct Known: @unchecked Sendable {
    var names: [Path: [String]] = [:]
  }
  private static let known = Mutex(Known())

  /// The names of the properties that a key path from a class goes through.
  static func names<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> [String] {
    // The root is asked of the key path because a constraint on a dynamic member's root does not keep out members of other
    // types.
    guard let root = Swift.type(of: keyPath as AnyKeyPath).rootType as? ObjectBase.Type else {
      stopNoProperty(keyPath)
    }
    let path = Path(keyPath: keyPath, root: ObjectIdentifier(root))
    nonisolated(unsafe) let looked = path
    if let found = known.withLock({ $0.names[looked] }) { return found }
    let recorder = PropertyRecorder()
    $current.withValue(recorder) {
      let object = ObjectModel.of(root).recorder()
      let value = (object as Any)[keyPath: keyPath as AnyKeyPath]
      if recorder.names.isEmpty, let value, type(of: value) is AnyClass {
        recorder.note(object, propertyThatIs: value as AnyObject)
      }
    }
    guard recorder.answers(Swift.type(of: keyPath as AnyKeyPath).valueType) else { stopNoProperty(keyPath) }
    let names = recorder.names
    known.withLock { $0.names[looked] = names }
    return names
  }

  /// While a key path is read, every index of a collection leads to an object of the element's class, whose properties are
  /// noted too. The answer is nil otherwise.
  static func element<Element>(of type: Element.Type) -> Element? {
    guard current != nil, let type = type as? ObjectBase.Type else { return nil }
    return ObjectModel.of(type).recorder() as? Element
  }

  private static func stopNoProperty(_ keyPath: AnyKeyPath) -> Never {
    raise(
      "Invalid key path",
      "\(keyPath) is no property that is stored; mark it by @Persisted, or name what it is made of.")
  }
}
