/// Marks a property of a model class as stored.
///
/// If the object is unmanaged, the property is a variable. If the object is managed, reading the property reads the realm,
/// and setting it writes the realm, which requires a write transaction. See `ObjectBase` for what stops the program.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
  @usableFromInline
  enum Storage {
    /// The property was never given a value. The type's default is made at the first access.
    case unset
    /// The value of an unmanaged object, or the collection by which a managed object shows its cell.
    case value(Value)
    /// The property of a managed object; its value is read from the row. The position is that in the class.
    case managed(position: UInt16)
    /// A property of a managed object whose class can be encoded. The place leads to the object.
    case encodable(ObjectPlace)
    /// The property of an unmanaged object that copies a stored value which the type can't hold. The object keeps that value.
    case unknown(ObjectPlace)
    /// The property of an object by which key paths are read. It notes that it was asked for.
    case recording(position: UInt16)
  }

  @usableFromInline var storage: Storage
  @usableFromInline let role: PropertyRole

  /// Declares a property that has the default of its type until it is set: zero, false, nil, an empty text, data or
  /// collection, the first case of an enumeration, the current moment for a `Date`, or a new `UUID` or `ObjectId`.
  @inlinable
  public init() { self.init(Self.first, .plain) }

  /// The storage of a property that was given no value.
  @inlinable
  static var first: Storage { Value._isNewEachTime ? .value(Value._initial()) : .unset }

  /// Declares a property with a default value.
  @inlinable
  public init(wrappedValue: Value) { self.init(.value(wrappedValue), .plain) }

  @inlinable
  init(_ storage: Storage, _ role: PropertyRole) {
    self.storage = storage
    self.role = role
  }

  init(managedAt position: UInt16) {
    self.init(.managed(position: position), .plain)
  }

  /// The position of the property in its class if the row has the value; nil if the property itself has it.
  @inlinable
  var managedPosition: Int? {
    switch storage {
    case .managed(let position): Int(position)
    case .encodable(let place): place.position
    case .unset, .value, .unknown, .recording: nil
    }
  }

  init(recordingAt position: UInt16) {
    self.init(.recording(position: position), .plain)
  }

  /// Unavailable: `@Persisted` works only in classes that inherit from `ObjectBase`.
  @available(*, unavailable, message: "@Persisted is for properties of classes that inherit from Object")
  public var wrappedValue: Value {
    get { fatalError("unavailable") }
    set { fatalError("unavailable") }
  }

  /// Gets or sets the property of an object. The compiler calls it for each access to a property that is marked by
  /// `@Persisted`.
  @inlinable
  public static subscript<Owner: ObjectBase>(
    _enclosingInstance object: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    // When this is inlined into the property's accessor, the key path becomes an offset. Nothing is called while the storage
    // is accessed, so the compiler sees in a program's own class that no two accesses overlap, and it leaves out the checks
    // at run time.
    @inline(__always) get {
      if !Value._keepsInstance, case .managed(let position) = object[keyPath: storage].storage {
        return Value._read(object, Int(position))
      }
      return instance(of: object, storage)
    }
    @inline(__always) set {
      if Value._keepsInstance {
        instance(of: object, storage)._assign(newValue)
      } else if let position = object[keyPath: storage].managedPosition {
        Value._write(newValue, object, position)
      } else {
        if Value._keepsObjects { object.noteKeepsObjects() }
        object[keyPath: storage].storage = .value(newValue)
      }
    }
  }

  /// The value that the storage holds. If the storage holds none, the value is made, and is kept if it is to stay.
  @inlinable
  @inline(__always)
  static func instance<Owner: ObjectBase>(
    of object: Owner, _ storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    if case .value(let value) = object[keyPath: storage].storage { return value }
    let first = Self.firstRead(object[keyPath: storage].storage, by: object)
    if first.isKept { object[keyPath: storage].storage = .value(first.value) }
    return first.value
  }

  /// The value of a property that holds none yet or shows its row, and whether the property keeps the value from now on.
  @usableFromInline
  static func firstRead(_ storage: Storage, by object: ObjectBase) -> (value: Value, isKept: Bool) {
    switch storage {
    case .value(let found): return (found, false)
    case .recording(let position):
      PropertyRecorder.current?.note(object, Int(position))
      return (Value._placeholder(of: object, Int(position)), false)
    case .unset: return (Value._initial(), true)
    // The value is not kept in a frozen handle, which never changes, because other threads may read it.
    case .managed(let position): return (Value._read(object, Int(position)), !object.isFrozenHandle)
    case .encodable(let place):
      return (Value._read(object, place.position), Value._keepsInstance && !object.isFrozenHandle)
    case .unknown(let place): return (Value._readUnknown(object, place.position), false)
    }
  }

  /// Reads the first value of a copy of the property. The caller puts the copy back.
  mutating func firstRead(by object: ObjectBase) -> Value {
    let first = Self.firstRead(storage, by: object)
    if first.isKept { storage = .value(first.value) }
    return first.value
  }
}

extension Persisted where Value.PersistedType: _Indexable {
  /// Declares a property that has an index if `indexed` is true. An index finds objects by the value of the property in O(log
  /// n).
  @inlinable
  public init(indexed: Bool) { self.init(Self.first, indexed ? .indexed : .plain) }
  /// Declares a property with a default value that has an index if `indexed` is true. An index finds objects by the value of
  /// the property in O(log n).
  @inlinable
  public init(wrappedValue: Value, indexed: Bool) {
    self.init(.value(wrappedValue), indexed ? .indexed : .plain)
  }
}

extension Persisted where Value.PersistedType: _PrimaryKey {
  /// Declares the primary key of the class if `primaryKey` is true. No two objects of the class have the same value of it.
  /// The default of the type stands until the property is set.
  @inlinable
  public init(primaryKey: Bool) { self.init(Self.first, primaryKey ? .primaryKey : .plain) }
  /// Declares the primary key of the class, with a default value, if `primaryKey` is true. No two objects of the class have
  /// the same value of it.
  @inlinable
  public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(.value(wrappedValue), primaryKey ? .primaryKey : .plain)
  }
}

extension Persisted where Value: LinkingObjectsProtocol {
  /// Declares a property that shows the objects which link to this one.
  ///
  /// - Parameter originProperty: the name of the property, in the class `Value.Element`, that links to this class.
  public init(originProperty: String) {
    self.init(.value(Value(_ofProperty: originProperty)), .plain)
  }
}
