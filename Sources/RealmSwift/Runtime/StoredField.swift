@_spi(Reflection) import Swift

/// A stored property of a class, as the runtime's field records tell it.
struct StoredField {
  let name: String
  /// Bytes from an instance's start.
  let offset: Int
  let type: Any.Type

  /// Those of a class, its superclass's first.
  static func all(of type: AnyClass) -> [StoredField] {
    var fields: [StoredField] = []
    let withClasses = _EachFieldOptions(rawValue: 1)
    _forEachField(of: type, options: withClasses) { name, offset, type, _ in
      fields.append(StoredField(name: String(cString: name), offset: offset, type: type))
      return true
    }
    return fields
  }
}

/// A stored property of an instance.
struct FieldPointer<Content> {
  private let object: AnyObject
  private let offset: Int

  /// - Precondition: the object's class has a stored property of this type at the offset.
  init(_ object: AnyObject, offset: Int) {
    self.object = object
    self.offset = offset
  }

  var content: Content {
    get { withExtendedLifetime(object) { address.pointee } }
    nonmutating set { withExtendedLifetime(object) { address.pointee = newValue } }
  }

  private var address: UnsafeMutablePointer<Content> {
    (Unmanaged.passUnretained(object).toOpaque() + offset).assumingMemoryBound(to: Content.self)
  }
}
