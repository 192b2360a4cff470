/// The superclass of all model classes. Programs inherit from `Object`, `EmbeddedObject` or `AsymmetricObject` instead.
///
/// An object is *unmanaged* until it is added to a realm: its properties are then ordinary variables. A *managed* object is a
/// view of a row: it reads what the realm holds now, and its properties can be set only in a write transaction. A managed
/// object belongs to the thread, queue or actor of its realm. If the program sets a property outside of a write transaction,
/// or reads a property of an invalidated object, the program stops.
open class ObjectBase {
  /// The realm and the class of a managed object; nil if the object is unmanaged.
  @exclusivity(unchecked) final private(set) var keptContext: ContextReference?
  /// The key of the row that a managed object shows.
  @exclusivity(unchecked) final private(set) var row: UInt64 = 0
  /// For a managed object, the generation of its realm in which the row was found. For an unmanaged object, the place
  /// where it keeps stored values that its properties can't hold, or 0 if there are none.
  @exclusivity(unchecked) final private(set) var birth: UInt64 = 0
  /// The hash that was last asked for, if the class has a primary key; 0 if it was never asked for. It stays when the
  /// row is deleted.
  @exclusivity(unchecked) final private var knownHash = 0

  /// Makes an unmanaged object. Each property has the value that its declaration gives.
  public init() {}

  deinit {
    if let keptContext {
      keptContext.use { if $0.notesHandles { $0.lastValues?.removeHandle(of: row) } }
      keptContext.release()
    } else if birth != 0 {
      UnknownValues.release(in: birth)
    }
  }

  /// Notes that this unmanaged object holds other objects, so that a long chain of objects can be freed without deep
  /// recursion.
  @usableFromInline
  final func noteKeepsObjects() { FreedInTurn.note(self) }

  /// The stored values that this unmanaged object keeps because its properties can't hold them.
  final var unknownValues: UnknownValues? {
    get { keptContext == nil && birth != 0 ? UnknownValues.kept(in: birth) : nil }
    set {
      guard keptContext == nil, let newValue, newValue !== unknownValues else { return }
      if birth != 0 { UnknownValues.release(in: birth) }
      birth = newValue.place
    }
  }

  /// The context that handles refer to, whatever the current thread is.
  final var contextOfHandles: ObjectContext? { keptContext?.shared }

  /// The context to use on the current thread.
  final var context: ObjectContext? { keptContext?.here.counted }

  /// Whether the object is a frozen handle. Such a handle never changes, and several threads may read it at a time.
  final var isFrozenHandle: Bool { keptContext?.use { $0.isFrozen } ?? false }

  /// The row that a managed object shows; nil if the object is unmanaged.
  final var managedRow: ManagedRow? {
    keptContext.map { ManagedRow($0.shared, row, birth: birth) }
  }

  /// Prepares an unmanaged object for showing the row that was made of it.
  @inline(never)
  private final func endUnmanaged() {
    if birth != 0 { UnknownValues.release(in: birth) }
    // The hash is computed anew because the key may have changed since it was asked for.
    if knownHash != 0 { knownHash = hashOfUnmanaged }
  }

  /// Makes a new or unmanaged object show a row, which was found in the generation `birth`.
  @inline(__always)
  final func show(_ row: UInt64, of context: ObjectContext, birth: UInt64) {
    if _slowPath(self.birth | UInt64(bitPattern: Int64(knownHash)) != 0), keptContext == nil {
      endUnmanaged()
    }
    keptContext = ContextReference(context)
    if _slowPath(context.notesHandles) { context.lastValues?.addHandle(of: row) }
    self.row = row
    self.birth = birth
  }

  /// The realm that manages the object; nil if the object is unmanaged.
  public final var realm: Realm? { context.map { Realm($0.session) } }

  /// Whether the object was deleted or its realm was invalidated. Reading a property of such an object stops the program,
  /// except if the object was deleted and its realm was opened with `keepsDeletedValues`. The value is false for an unmanaged
  /// object.
  public final var isInvalidated: Bool { managedRow.map { !$0.isThere } ?? false }

  /// The name that the class has in the schema.
  public class func className() -> String { _realmObjectName() ?? ObjectModel.unqualifiedName(of: self) }

  /// The schema of the class, as realms store it; nil for `DynamicObject`, whose objects each have the schema of their table.
  public class func sharedSchema() -> RLMObjectSchema? { ObjectModel.of(self).objectSchema }

  /// The name that the class has in the schema, if that differs from the name of the Swift class. The default is nil: the
  /// name of the Swift class.
  open class func _realmObjectName() -> String? { nil }

  /// The stored names of properties, by property name, for those that are stored under another name. The default is an empty
  /// dictionary. Programs use the property names everywhere else.
  open class func propertiesMapping() -> [String: String] { [:] }

  /// Whether a realm whose configuration has no `objectTypes` stores this class. The default is true.
  open class func shouldIncludeInDefaultSchema() -> Bool { true }

  /// A text for people that shows the properties and their values.
  open var description: String { ObjectDescription.text(of: self) }

  /// Whether `other` is the same object. Two handles of one row are equal if the class has a primary key or the handles are
  /// frozen. Every other object is equal only to itself.
  open func isEqual(_ other: Any?) -> Bool {
    guard let other = other as? ObjectBase else { return false }
    if self === other { return true }
    guard let context, context.binding.model.primaryKey != nil || isFrozenHandle else { return false }
    return isRow(of: other)
  }

  /// A hash value; equal objects have equal hashes.
  ///
  /// If the class has a primary key, the hash is that of the key's value, both before and after the object is added to a
  /// realm, so a `Set` keeps finding the object. An object that is deleted, or whose transaction is cancelled, keeps the hash
  /// that it was asked for before. If it was never asked for its hash before, it has another hash from then on because its
  /// key can't be read any more.
  ///
  /// A change of the primary key of an unmanaged object changes its hash. Remove the object from every `Set` before such a
  /// change.
  open var hash: Int {
    if let keptContext {
      // The primary key of a row never changes.
      if knownHash != 0 { return knownHash }
      if keptContext.use({ $0.binding.model.primaryKey == nil }) {
        return isFrozenHandle ? row.hashValue : ObjectIdentifier(self).hashValue
      }
      let hash = managedRow?.hashOfKey ?? row.hashValue
      // A handle of a frozen object is never changed, because other threads may use it.
      if !isFrozenHandle { knownHash = hash }
      return hash
    }
    let hash = hashOfUnmanaged
    if ownModel.primaryKey != nil { knownHash = hash }
    return hash
  }

  /// Makes the handle show another row. The caller makes sure that nobody can tell the handle from a new one.
  @inline(__always)
  final func move(to row: UInt64) {
    self.row = row
    knownHash = 0
  }

  /// Whether both objects show the same row of the same realm.
  final func isRow(of other: ObjectBase) -> Bool {
    guard let managedRow, !managedRow.isInvalid else { return false }
    return managedRow.context.row(of: other) == row
  }
}

extension ObjectBase: Hashable {
  /// Whether the objects are equal by `isEqual(_:)`.
  public static func == (left: ObjectBase, right: ObjectBase) -> Bool { left.isEqual(right) }
  /// Adds `hash` to the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension ObjectBase: CustomStringConvertible {}

@available(*, unavailable)
extension ObjectBase: Sendable {}
