/// Marks a property of an `Object` as stored.
///
/// Reading and writing an unmanaged object's property is reading and writing a variable; of a managed one, a cell of its
/// realm.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
  @usableFromInline
  enum Storage {
    /// Never given a value: the type's default is made at the first access.
    case unset
    /// Of an unmanaged object; of a managed one, a collection that stands for its cell.
    case value(Value)
    /// What the object's row holds, in the property at a position of its class.
    case managed(position: UInt16)
    /// The same of an object of a class that can be encoded.
    case encodable(ObjectPlace)
    /// Of an unmanaged object: it is a copy of one that stores what the program has no value for, and the object keeps that.
    case unknown(ObjectPlace)
    /// Notes that it was asked for.
    case recording(position: UInt16)
  }

  @usableFromInline var storage: Storage
  @usableFromInline let role: PropertyRole

  /// A property that has its type's zero, empty or new value until it is set.
  @inlinable
  public init() { self.init(Self.first, .plain) }

  @inlinable
  static var first: Storage { Value._isNewEachTime ? .value(Value._initial()) : .unset }

  /// A property with a value of its own.
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

  /// Where the row has the value; nil of a property that has it itself.
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

  @available(*, unavailable, message: "@Persisted is for properties of classes that inherit from Object")
  public var wrappedValue: Value {
    get { fatalError("unavailable") }
    set { fatalError("unavailable") }
  }

  @inlinable
  public static subscript<Owner: ObjectBase>(
    _enclosingInstance object: Owner,
    wrapped wrapped: ReferenceWritableKeyPath<Owner, Value>,
    storage storage: ReferenceWritableKeyPath<Owner, Self>
  ) -> Value {
    // Inlined where the property is read, the key path becomes an offset. Nothing is called while the storage is accessed:
    // then the compiler sees in a program's own class that no two accesses overlap, and none is checked at run time.
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

  /// The value that is kept, or becomes that.
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

  /// The value of a property that holds none yet, or shows its row; and whether the property holds it from now on.
  @usableFromInline
  static func firstRead(_ storage: Storage, by object: ObjectBase) -> (value: Value, isKept: Bool) {
    switch storage {
    case .value(let found): return (found, false)
    case .recording(let position):
      PropertyRecorder.current?.note(object, Int(position))
      return (Value._placeholder(of: object, Int(position)), false)
    case .unset: return (Value._initial(), true)
    // A frozen handle never changes, as other threads may read it.
    case .managed(let position): return (Value._read(object, Int(position)), !object.isFrozenHandle)
    case .encodable(let place):
      return (Value._read(object, place.position), Value._keepsInstance && !object.isFrozenHandle)
    case .unknown(let place): return (Value._readUnknown(object, place.position), false)
    }
  }

  /// The same of a copy of the property, to be put back.
  mutating func firstRead(by object: ObjectBase) -> Value {
    let first = Self.firstRead(storage, by: object)
    if first.isKept { storage = .value(first.value) }
    return first.value
  }
}

extension Persisted where Value.PersistedType: _Indexable {
  /// A property by whose values objects are found in O(log n).
  @inlinable
  public init(indexed: Bool) { self.init(Self.first, indexed ? .indexed : .plain) }
  /// A property with a value of its own, by whose values objects are found in O(log n).
  @inlinable
  public init(wrappedValue: Value, indexed: Bool) {
    self.init(.value(wrappedValue), indexed ? .indexed : .plain)
  }
}

extension Persisted where Value.PersistedType: _PrimaryKey {
  /// The property whose value no two objects of the class share.
  @inlinable
  public init(primaryKey: Bool) { self.init(Self.first, primaryKey ? .primaryKey : .plain) }
  /// A property with a value of its own, which no two objects of the class share.
  @inlinable
  public init(wrappedValue: Value, primaryKey: Bool) {
    self.init(.value(wrappedValue), primaryKey ? .primaryKey : .plain)
  }
}

extension Persisted where Value: LinkingObjectsProtocol {
  /// The objects whose property of that name links to this one.
  public init(originProperty: String) {
    self.init(.value(Value(_ofProperty: originProperty)), .plain)
  }
}
