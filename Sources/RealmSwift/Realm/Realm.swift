public import Foundation
import RealmStorage

/// An object database, as one thread, one serial queue, one actor or the main queue sees it.
///
/// A realm reads one version of its file. It moves to a newer one when this thread begins or ends a write transaction or calls `refresh()`, and by
/// itself as `autorefresh` says. All realms of one file on one thread share that version and the write transaction, and are equal; each has the classes
/// that its configuration names. A realm is closed when nothing refers to it or to its objects any more. To use a live realm on another thread stops
/// the program; a frozen realm may be read on every thread.
public struct Realm {
  let life: SessionLife
  let view: RealmView
  /// The session that this thread uses.
  var session: RealmSession { life.session.here }

  /// Makes the realm that the objects of a session belong to. It has the classes of all realms of the session.
  init(_ session: RealmSession) { self.init(session.life, session.view) }

  init(_ life: SessionLife, _ view: RealmView) { (self.life, self.view) = (life, view) }

  /// The classes that the configuration of this realm names.
  var classes: RealmSchema { view.classes(session) }

  /// Opens the realm of `Configuration.defaultConfiguration`.
  ///
  /// - Parameter queue: the serial queue on which the realm is to be used; nil for the current thread, or the main queue if that runs.
  /// - Throws: `Realm.Error`, as `init(configuration:queue:)` does.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a realm. When a process first opens a file with some classes, it compares them with the tables of the file and makes the tables that are
  /// missing. It does so in the write transaction of this thread if one is open; else in a transaction of its own, which waits for the transactions of
  /// others. A file of a lower `schemaVersion` is migrated.
  ///
  /// A file that is open may be opened again with other classes, on this thread or another: each realm has the classes that its configuration names.
  /// `schemaVersion`, `readOnly`, `encryptionKey`, `keepsDeletedValues` and `syncConfiguration` must then be the same as those of the first realm.
  ///
  /// - Parameters:
  ///   - configuration: says which realm is opened, and how. Settings that contradict each other stop the program.
  ///   - queue: the serial queue on which the realm is to be used; nil for the current thread, or the main queue if that runs. A concurrent queue
  ///     stops the program.
  /// - Throws: `Realm.Error`: `.schemaMismatch` if tables differ from their classes, or the migration could not be done; `.invalidDatabase` if the file
  ///   is no realm, is damaged, or has another key; `.alreadyOpen` if another process has the file open in a way that can't be shared, or while it is
  ///   to be migrated, if this process has it open with another `schemaVersion`, `readOnly` or `keepsDeletedValues`, or if it is open and would have to
  ///   be deleted for `deleteRealmIfMigrationNeeded`; `.incompatibleHistories` or `.fail` if the file is synced in another way than the configuration
  ///   asks for; other codes if the file can't be opened, read or written. `SyncError.clientUserError` for a synced realm of a user who was removed.
  ///   What the `migrationBlock` throws.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    (life, view) = try RealmFile.session(configuration, queue.map { Scheduler.of($0) } ?? Scheduler.current)
  }

  /// Opens the realm of a file. All other settings are those of `Configuration.defaultConfiguration`.
  ///
  /// - Throws: `Realm.Error`, as `init(configuration:queue:)` does.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }

  /// A copy of the configuration that the realm was opened with. The realm of an object has the configuration that was opened first on its thread.
  public var configuration: Configuration { view.configuration }

  /// The classes that the realm was opened with. A realm that was opened with no class has all that its file has.
  var storedClasses: [ClassBinding] {
    view.configuration.keepsSchema ? session.tableBindings : classes.bindings
  }

  /// Whether no class of the realm has an object.
  public var isEmpty: Bool {
    session.check()
    return reading { () throws(StorageError) in
      for binding in storedClasses
      where try (session.context(binding).currentTable()?.count ?? 0) > 0 {
        return false
      }
      return true
    }
  }

  // MARK: - Transactions

  /// Begins a write transaction on the newest version. The call waits for the transactions of other threads and processes. Before the transaction
  /// begins, observers of this realm are told what others have written. The program stops if the transaction can't be begun, for example since the disk
  /// fails; `write(_:)` throws in that case.
  ///
  /// - Precondition: no write transaction is open on this realm. The realm is not frozen, and was not opened with `readOnly`.
  public func beginWrite() {
    do {
      try session.beginWrite(whereVersions: view.configuration.maximumNumberOfActiveVersions)
    } catch {
      raise("Write transaction", "it could not be begun: \(error.localizedDescription)")
    }
  }

  /// Takes back all changes of the open write transaction and ends it. Objects that it added are invalid from then on.
  ///
  /// - Precondition: a write transaction is open on this realm.
  public func cancelWrite() { session.cancelWrite() }

  /// Whether this realm, as this thread sees it, is in a write transaction.
  public var isInWriteTransaction: Bool {
    session.check()
    return session.transaction != nil
  }

  /// Whether this realm moves to a newer version by itself when another realm of this process has written one: true at first. The realm moves when its
  /// queue, actor or run loop gets to it, never while code of the program runs. A realm of a thread without a run loop, or of a main queue that is not
  /// served, moves only by `refresh()` and by writing. Commits of other processes are seen by these two calls as well.
  ///
  /// - Precondition: to set it, the realm is not frozen. A frozen realm never moves, and reads false here.
  public var autorefresh: Bool {
    get {
      session.check()
      return !isFrozen && session.autorefresh
    }
    nonmutating set {
      session.check()
      if isFrozen {
        raise("Frozen realm", "a frozen realm never moves to another version: set autorefresh of a live one.")
      }
      session.autorefresh = newValue
    }
  }

  /// Moves the realm to the newest version. Returns whether it moved from an older one. Observers of this realm are told of the changes. Nothing
  /// happens, and the result is false, in a write transaction, for a frozen realm, and if another process has changed the schema so that the classes of
  /// this one no longer fit: the last is logged as an error.
  @discardableResult
  public func refresh() -> Bool { session.refresh() }

  /// Releases the version that the realm reads, so that the file may use its space again. All objects and collections that were read become invalid,
  /// and an open write transaction is cancelled. The realm itself stays usable, and reads the newest version next.
  ///
  /// - Precondition: the realm is not frozen.
  public func invalidate() { session.invalidate() }

  /// Checks the whole version that the realm reads: every node, and whether tables, indexes and links agree. An app may check a file before it reads
  /// objects, since reading an object of a damaged file stops the program. The time grows with the size of the file. Changes of an open write
  /// transaction are not checked.
  ///
  /// - Throws: `Realm.Error.invalidDatabase`, whose message says what is damaged and where; other codes if the system refuses to read.
  public func verify() throws {
    session.check()
    try Realm.Error.wrapping { () throws(StorageError) in try session.verify() }
  }

  // MARK: - Files

  /// Whether the file that a configuration names is there; false for a realm in memory.
  public static func fileExists(for configuration: Configuration) -> Bool {
    guard configuration.inMemoryIdentifier == nil else { return false }
    return FileManager.default.fileExists(atPath: configuration.url.path)
  }

  /// Removes the files of a realm: its file, and `.note` and `.management` beside it. Returns whether there was a file; a realm in memory has nothing
  /// to remove.
  ///
  /// If a synced realm has changes that were not uploaded, its file is moved into the folder `recovered-realms` of its app instead, and a warning of
  /// the logger names it. This needs the configuration that the realm is opened with: a configuration without a `syncConfiguration` does not delete
  /// such a file.
  ///
  /// - Throws: `Realm.Error`: `.alreadyOpen` while the realm is open, in this process or another; `.incompatibleHistories` if the configuration has no
  ///   `syncConfiguration`, and the file is synced and has changes that were not uploaded; other codes if the system refuses.
  @discardableResult
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    try RealmFile.delete(configuration)
  }

  /// Writes a copy of the realm to a new file, which is as small as its content allows. The copy has the version that this realm reads; in a write
  /// transaction, that version with the changes of the transaction. The copy is not synced, even if this realm is: see `writeCopy(configuration:)`.
  ///
  /// - Parameter encryptionKey: the 64 bytes with which the copy is encrypted; nil for a copy that is not encrypted, whether or not this realm is.
  /// - Throws: `Realm.Error.fileExists` if there is a file at `fileURL` already; other codes if the system refuses.
  public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
    try writeCopy(configuration: Configuration(fileURL: fileURL, encryptionKey: encryptionKey))
  }

  /// Writes a copy of the realm for another configuration: to the file that it names, encrypted with its key. All classes are copied, also those that
  /// its `objectTypes` does not name. After that the two files are independent of each other. If this realm is synced, or the copy is to be:
  ///
  /// - A realm that is not synced is copied for sync: all its objects become changes of the copy. The copy uploads them when it is opened, or once it
  ///   subscribes to objects. The first subscriptions must cover all objects: the server refuses the others, and they are undone. If the server has an
  ///   object with the same primary key, the properties of that object get the values of the copy, except those that have the value of a new object.
  ///   Each class needs a primary key.
  /// - A synced realm is copied without sync: the copy has the objects as they are, without the properties that neither the classes of this realm nor
  ///   `objectTypes` have, such as the one that names the partition. Its schema version is the lower one of the file's and the configuration's, so that
  ///   the copy opens with its own version and with any later one.
  /// - A synced realm is copied for another user or device of the same app and partition, or with subscriptions of its own: the copy begins with what
  ///   is copied, and downloads what has changed since. All changes of this realm must have been uploaded before. The copy downloads everything again
  ///   when it first connects if it subscribes to objects, if the users have different rights, or if the server no longer knows what has changed. Until
  ///   that is done it shows what was copied.
  ///
  /// A realm can't be copied for a configuration with another partition, or with subscriptions in place of a partition: that stops the program. Open
  /// such a realm and create the objects in it. To copy from or for a synced realm in a write transaction stops the program, too, as does a
  /// configuration of a realm in memory.
  ///
  /// - Throws: `Realm.Error`: `.fileExists` if there is a file already; `.schemaMismatch` if a class can't be synced; `.fail` if changes were not
  ///   uploaded; other codes if the system refuses.
  public func writeCopy(configuration: Configuration) throws {
    guard configuration.inMemoryIdentifier == nil else {
      raise("Invalid configuration", "a realm is copied to a file: set fileURL, not inMemoryIdentifier.")
    }
    guard let maker = configuration.syncing ?? session.file.configuration.syncing else {
      return try session.copy(to: configuration.url.path, key: configuration.encryptionKey)
    }
    try maker.copy(self, to: configuration)
  }

  // MARK: - Objects

  /// What `add` and `create` do if there is an object with the same primary key already.
  public enum UpdatePolicy: Int, Sendable {
    /// It is an error of the program, which stops.
    case error = 1
    /// The object is updated: properties whose values differ are written.
    case modified = 3
    /// The object is updated: all properties are written, also those whose values are equal.
    case all = 2
  }

  /// Adds an object, and all objects that it links to, to the realm: they become managed. An object that this realm manages already is left as it is.
  ///
  /// - Parameter update: what happens if there is an object with the same primary key already.
  /// - Precondition: a write transaction is open, and the object belongs to no other realm. With the policy `.error`, no object has the primary key of
  ///   this one or of an object that it links to. With another policy, the class has a primary key.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    session.check()
    session.requireTransaction("add an object")
    if object.asDynamic?.context?.session === session { return }
    view.check(type(of: object), session)
    session.checkPolicy(update, object.ownModel)
    ObjectAdder.add(object, to: session, update)
  }

  /// Adds objects in their order, each as `add(_:update:)` adds one.
  public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error) where S.Iterator.Element: Object {
    session.check()
    session.requireTransaction("add an object")
    for object in objects where object.asDynamic?.context?.session !== session {
      view.check(type(of: object), session)
      session.checkPolicy(update, object.ownModel)
      ObjectAdder.add(object, to: session, update)
    }
  }

  /// Makes an object from values, and adds it. The values are a dictionary by property name, an array in the order of the properties, or another
  /// object, whose properties are copied.
  ///
  /// A new object has the declared values in properties that are not given. An object that is updated keeps the values of those properties.
  ///
  /// - Parameter update: what happens if there is an object with the same primary key already.
  /// - Precondition: a write transaction is open; each value fits its property. With the policy `.error` the primary key is new; with another policy,
  ///   the class has a primary key.
  @discardableResult
  public func create<T: Object>(_ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error)
    -> T
  {
    unsafeDowncast(add(type, value, update), to: type)
  }

  /// Makes an object of a class whose objects are only uploaded, from values as `create(_:value:update:)` takes them.
  ///
  /// - Precondition: a write transaction is open; each value fits its property; a primary key is new.
  public func create<T: AsymmetricObject>(_ type: T.Type, value: Any = [String: Any]()) {
    add(type, value, .error)
  }

  @discardableResult
  private func add(_ type: ObjectBase.Type, _ value: Any, _ policy: UpdatePolicy) -> ObjectBase {
    session.check()
    session.requireTransaction("create a \(ObjectModel.unqualifiedName(of: type))")
    view.check(type, session)
    let model = session.binding(type).model
    session.checkPolicy(policy, model)
    let object = model.unmanaged()
    let reader = ValueReader(session)
    reader.fill(object, from: value)
    ObjectAdder(session, policy, given: reader.given).add(object)
    return object
  }

  /// Deletes an object and its embedded objects. Links to it become nil, and lists lose it. Other objects that it links to stay.
  ///
  /// - Precondition: a write transaction is open. This realm manages the object, which is not invalidated.
  public func delete(_ object: ObjectBase) {
    session.check()
    session.requireTransaction("delete an object")
    let context = deletable(object)
    let isNew = context.isNew(birth: object.birth)
    let isInvalid = object.managedRow?.isInvalid == true
    session.keepLastValues(of: [object.row], context.binding)
    let wasThere = session.writing(context.binding) { (table) throws(StorageError) in
      return isInvalid ? false : try table.remove(object.row)
    }
    if !wasThere { context.stopMissing(nil, isNew: isNew) }
  }

  /// Deletes objects, as `delete(_:)` deletes one. Objects that are invalidated already are left out. All objects of one class are deleted at once,
  /// which is faster than one by one.
  ///
  /// - Precondition: a write transaction is open, if there are objects. This realm manages all of them.
  public func delete<S: Sequence>(_ objects: S) where S.Iterator.Element: ObjectBase {
    delete(all: Array(objects))
  }

  /// Deletes the objects that are in a list. The list is empty afterwards.
  ///
  /// - Precondition: as for other sequences of objects.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) { delete(all: Array(objects)) }

  /// Deletes the objects that are in a map. Their keys stay, with nil.
  ///
  /// - Precondition: as for other sequences of objects.
  public func delete<Key: _MapKey, Value: ObjectBase>(_ map: Map<Key, Value?>)
  where Value: RealmCollectionValue {
    delete(all: map.values.compactMap { $0 })
  }

  private func delete(all objects: [ObjectBase]) {
    session.check()
    if !objects.isEmpty { session.requireTransaction("delete objects") }
    var classes: [(binding: ClassBinding, rows: [UInt64])] = []
    for object in objects where !object.isInvalidated {
      let binding = deletable(object).binding
      if let place = classes.firstIndex(where: { $0.binding === binding }) {
        classes[place].rows.append(object.row)
      } else {
        classes.append((binding, [object.row]))
      }
    }
    for (binding, rows) in classes {
      session.keepLastValues(of: rows, binding)
      _ = session.writing(binding) { (table) throws(StorageError) in
        try table.remove(rows)
      }
    }
  }

  private func deletable(_ object: ObjectBase) -> ObjectContext {
    guard let context = object.context, context.session === session else {
      raise(
        "Object of another realm",
        "a \(type(of: object)) can be deleted by the realm that manages it only.")
    }
    return context
  }

  /// Deletes all objects of results.
  ///
  /// - Precondition: a write transaction is open on this realm, which the results belong to.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    session.check()
    session.requireTransaction("delete objects")
    guard objects.content.context.session === session else {
      raise(
        "Object of another realm",
        "results of \(Element.className()) can be deleted by the realm they were found in only.")
    }
    let rows = objects.content.rows()
    session.keepLastValues(of: rows, objects.content.context.binding)
    _ = session.writing(objects.content.context.binding) { (table) throws(StorageError) in
      try table.remove(rows)
    }
  }

  /// Deletes all objects of the classes that the realm was opened with; in a realm that was opened with no class, those of all classes of the file.
  ///
  /// - Precondition: a write transaction is open.
  public func deleteAll() {
    session.check()
    let transaction = session.requireTransaction("delete all objects")
    let stored = storedClasses
    for binding in stored { session.keepLastValues(of: nil, binding) }
    reading { () throws(StorageError) in
      try transaction.removeAllRows(of: stored.map(\.model.name))
    }
    session.didWrite()
  }

  /// All objects of a class. The results are live: they always show the version that the realm reads.
  ///
  /// - Precondition: the class is one that the realm was opened with.
  public func objects<Element: RealmFetchable & ObjectBase>(_ type: Element.Type) -> Results<Element> {
    session.check()
    view.check(type, session)
    return Results(_CollectionContent(session.context(type)))
  }

  /// The object that has a primary key, or nil if there is none. O(log n).
  ///
  /// - Precondition: the realm was opened with the class, which has a primary key of the type of `key`.
  @inlinable
  public func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType)
    -> Element?
  {
    // This is inlined in code that knows the types, so that keys of whole numbers take the short way.
    let object: ObjectBase? =
      switch key {
      case let number as Int: self.object(type, Int64(number))
      case let number as Int64: self.object(type, number)
      default: self.object(type, ofAny: key)
      }
    return object.map { unsafeDowncast($0, to: type) }
  }

  @usableFromInline
  func object(_ type: ObjectBase.Type, _ number: Int64) -> ObjectBase? {
    view.check(type, session)
    let found = session.contextOfHandles(type).use { context in
      context.hasNumberKey ? context.object(withPrimaryKey: number) : .notReadable
    }
    switch found {
    case .object(let object): return object
    case .none: return nil
    case .notReadable: return object(type, ofAny: number)
    }
  }

  @usableFromInline
  func object<KeyType>(_ type: ObjectBase.Type, ofAny key: KeyType) -> ObjectBase? {
    session.check()
    view.check(type, session)
    return session.context(type).object(withPrimaryKey: key)
  }
}

extension ObjectContext {
  /// A handle of the row that has a primary key; nil if there is none.
  ///
  /// - Precondition: the class has a primary key of the type of `key`; otherwise the program stops.
  func object<KeyType>(withPrimaryKey key: KeyType) -> ObjectBase? {
    let model = binding.model
    guard let position = model.primaryKey else {
      raise("No primary key", "\(model.name) has none; mark a property by @Persisted(primaryKey: true).")
    }
    guard let value = model.properties[position].key(of: key) else {
      raise(
        "Invalid primary key",
        "\(model.name).\(model.properties[position].name) is not of type \(Swift.type(of: key as Any)).")
    }
    let row = reading { () throws(StorageError) in
      // In a transaction, the table's writer answers. It need not bring its indexes into order for that.
      if session.isWriting { return try session.writable(binding)?.row(withPrimaryKey: value) }
      return try currentTable()?.row(withPrimaryKey: value)
    }
    return row.map { object($0) }
  }
}

extension Realm: Equatable {
  /// Whether both realms belong to one file and to the same thread, queue or actor: such realms share the version that they read, the write transaction
  /// and the objects. Their configurations and classes may differ.
  public static func == (left: Realm, right: Realm) -> Bool { left.life.session === right.life.session }
}

@available(*, unavailable)
extension Realm: Sendable {}

extension RealmSession {
  /// Stops the program if objects are to be updated and the class has no primary key to find them by.
  func checkPolicy(_ policy: Realm.UpdatePolicy, _ model: @autoclosure () -> ObjectModel) {
    guard policy != .error else { return }
    let model = model()
    guard model.primaryKey == nil else { return }
    raise(
      "No primary key", "\(model.name) has none, so that no object of it can be updated; add without update.")
  }
}

extension ModelProperty {
  /// The stored form of a primary key; nil if `key` is not of the property's type.
  fileprivate func key<Key>(of key: Key) -> Value? {
    // These types are the most common, and are tested first.
    switch (Key.self, type.column) {
    case (is Int.Type, .int64): return (key as? Int)?._value
    case (is Int64.Type, .int64): return (key as? Int64)?._value
    case (is String.Type, .string): return (key as? String)?._value
    case (is UUID.Type, .uuid): return (key as? UUID)?._value
    case (is ObjectId.Type, .objectID): return (key as? ObjectId)?._value
    default: return self.key(ofAny: key)
    }
  }

  private func key(ofAny any: Any) -> Value? {
    if isNull(any) { return type.isOptional ? .null : nil }
    // A property takes true as the number 1, but a Bool is no primary key.
    if any is Bool { return nil }
    if let found = field.stored(of: any) { return found }
    // If the property can't hold the number, no object has that key.
    switch type.column {
    case .int64: return Int64._converted(any).map { .int($0) }
    default: return nil
    }
  }
}
