@_spi(Reflection) import Swift

/// A stored property of a class, as the field records of the runtime describe it.
struct StoredField {
  let name: String
  /// The offset from the start of an instance, in bytes.
  let offset: Int
  let type: Any.Type

  /// The stored properties of a class, with those of its superclass first.
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

/// Access to the stored properties of instances.
///
/// - Precondition: for all functions, the object's class has a stored property of this type at the offset.
enum FieldMemory {
  @inline(__always)
  static func load<Content>(_ type: Content.Type, _ object: AnyObject, _ offset: Int) -> Content {
    defer { _fixLifetime(object) }
    return address(type, object, offset).pointee
  }

  @inline(__always)
  static func store<Content>(_ content: Content, _ object: AnyObject, _ offset: Int) {
    defer { _fixLifetime(object) }
    address(Content.self, object, offset).pointee = content
  }

  /// Returns a function that stores the same content in many objects.
  ///
  /// This is not inlined, because in code that is generic over a part of `Content`, each call would look up metadata.
  @inline(never)
  static func storing<Content>(_ content: Content) -> (AnyObject, _ offset: Int) -> Void {
    { object, offset in store(content, object, offset) }
  }

  @inline(__always)
  private static func address<Content>(
    _ type: Content.Type, _ object: AnyObject, _ offset: Int
  ) -> UnsafeMutablePointer<Content> {
    (Unmanaged.passUnretained(object).toOpaque() + offset).assumingMemoryBound(to: Content.self)
  }
}
