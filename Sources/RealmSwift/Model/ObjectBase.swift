/// What all model classes inherit from. Inherit from `Object`.
///
/// An object is *unmanaged* until it is added to a realm: then its properties are its own. A *managed* object is a view of
/// a row: what it reads is what the realm holds now, and it may be written in a write transaction only. It belongs to
/// the thread, queue or actor of its realm.
open class ObjectBase {
  /// Of a managed object: its realm and class there.
  @exclusivity(unchecked) final private(set) var keptContext: ContextReference?
  /// Of a managed object: the key of its row.
  @exclusivity(unchecked) final private(set) var row: UInt64 = 0
  /// Of a managed object: the generation of its realm in which the row was found. Of an unmanaged one, where it keeps what it
  /// has no values for; 0 where it has all.
  @exclusivity(unchecked) final private(set) var birth: UInt64 = 0
  /// With a primary key: the hash that was asked for last; 0 where none was. It stays when the row goes.
  @exclusivity(unchecked) final private var knownHash = 0

  /// An unmanaged object with the values its properties declare.
  public init() {}

  deinit {
    if let keptContext {
      keptContext.use { if $0.notesHandles { $0.lastValues?.removeHandle(of: row) } }
      keptContext.release()
    } else if birth != 0 {
      UnknownValues.release(in: birth)
    }
  }

  /// An unmanaged object is given others to hold: a chain of such may be long when it is freed.
  @usableFromInline
  final func noteKeepsObjects() { FreedInTurn.note(self) }

  /// What an unmanaged object keeps of stored values that its properties have no values for.
  final var unknownValues: UnknownValues? {
    get { keptContext == nil && birth != 0 ? UnknownValues.kept(in: birth) : nil }
    set {
      guard keptContext == nil, let newValue, newValue !== unknownValues else { return }
      if birth != 0 { UnknownValues.release(in: birth) }
      birth = newValue.place
    }
  }

  /// The context that handles refer to, on whatever thread.
  final var contextOfHandles: ObjectContext? { keptContext?.shared }

  /// The context that is to be used on this thread.
  final var context: ObjectContext? { keptContext?.here.counted }

  /// It never changes, and may be read by several threads at a time.
  final var isFrozenHandle: Bool { keptContext?.use { $0.isFrozen } ?? false }

  /// What it shows; nil of an unmanaged object.
  final var managedRow: ManagedRow? {
    keptContext.map { ManagedRow($0.shared, row, birth: birth) }
  }

  /// An unmanaged object is about to show the row that was made of it.
  @inline(never)
  private final func endUnmanaged() {
    if birth != 0 { UnknownValues.release(in: birth) }
    // Made anew, as the key may have changed since it was asked for.
    if knownHash != 0 { knownHash = hashOfUnmanaged }
  }

  /// Makes a new or unmanaged object show a row, which was found in a generation.
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

  /// The realm the object is managed by; nil of an unmanaged one.
  public final var realm: Realm? { context.map { Realm($0.session) } }

  /// The object was deleted, or its realm was invalidated: no property of it may be read any more, but for that of a deleted one
  /// in a realm that `keepsDeletedValues`.
  public final var isInvalidated: Bool { managedRow.map { !$0.isThere } ?? false }

  /// The name of the class in the schema.
  public class func className() -> String { _realmObjectName() ?? ObjectModel.unqualifiedName(of: self) }

  /// The class, as realms store it; nil of `DynamicObject`, whose objects have each the schema of their table.
  public class func sharedSchema() -> RLMObjectSchema? { ObjectModel.of(self).objectSchema }

  /// The name that the class has in the schema, where it is to be another than its own. Nil unless overridden.
  open class func _realmObjectName() -> String? { nil }

  /// The names under which properties are stored, by the names of the properties: of those that are stored under another.
  /// Nothing unless overridden. Programs use the properties' names.
  open class func propertiesMapping() -> [String: String] { [:] }

  /// Whether realms without `objectTypes` store this class. True unless overridden.
  open class func shouldIncludeInDefaultSchema() -> Bool { true }

  /// The properties and their values, to read by people.
  open var description: String { ObjectDescription.text(of: self) }

  /// Whether this is the same object. With a primary key, and where they are frozen, handles of one row are the same; else an object is the
  /// same as itself only.
  open func isEqual(_ other: Any?) -> Bool {
    guard let other = other as? ObjectBase else { return false }
    if self === other { return true }
    guard let context, context.binding.model.primaryKey != nil || isFrozenHandle else { return false }
    return isRow(of: other)
  }

  /// Of equal objects equal. With a primary key it is that of the key's value, before the object is added to a realm and after;
  /// so the object is found in a `Set` all the time. An object that is deleted, or whose transaction is cancelled,
  /// keeps the hash that it was asked for before; one that was never asked before has another hash from then on, as its key
  /// can't be read any more.
  ///
  /// Who changes the primary key of an unmanaged object changes its hash: it must be in no `Set` then.
  open var hash: Int {
    if let keptContext {
      // The key of a row never changes.
      if knownHash != 0 { return knownHash }
      if keptContext.use({ $0.binding.model.primaryKey == nil }) {
        return isFrozenHandle ? row.hashValue : ObjectIdentifier(self).hashValue
      }
      let hash = managedRow?.hashOfKey ?? row.hashValue
      // Handles of frozen objects never change, as other threads may use them.
      if !isFrozenHandle { knownHash = hash }
      return hash
    }
    let hash = hashOfUnmanaged
    if ownModel.primaryKey != nil { knownHash = hash }
    return hash
  }

  /// The handle shows another row from now on, where nobody can tell it from a new one.
  @inline(__always)
  final func move(to row: UInt64) {
    self.row = row
    knownHash = 0
  }

  /// Whether both show one row of one realm.
  final func isRow(of other: ObjectBase) -> Bool {
    guard let managedRow, !managedRow.isInvalid else { return false }
    return managedRow.context.row(of: other) == row
  }
}

extension ObjectBase: Hashable {
  public static func == (left: ObjectBase, right: ObjectBase) -> Bool { left.isEqual(right) }
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension ObjectBase: CustomStringConvertible {}

@available(*, unavailable)
extension ObjectBase: Sendable {}
