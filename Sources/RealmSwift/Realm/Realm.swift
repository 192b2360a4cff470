public import Foundation
import RealmStorage

/// An object database, as one thread, serial queue or the main queue sees it.
///
/// It reads one version, which changes only when this thread writes or calls `refresh()`. All realms of one file on one
/// thread share that version and the write transaction, and are equal; each has the classes that its configuration names.
/// A realm is closed when the last that refers to it is gone.
public struct Realm {
  let life: SessionLife
  let view: RealmView
  /// The session that is to be used on this thread.
  var session: RealmSession { life.session.here }

  /// The realm of a session's objects. It has the classes of all realms of the session.
  init(_ session: RealmSession) { self.init(session.life, session.view) }

  init(_ life: SessionLife, _ view: RealmView) { (self.life, self.view) = (life, view) }

  /// Those that its configuration names.
  var classes: RealmSchema { view.classes(session) }

  /// Opens the default realm.
  ///
  /// - Parameter queue: the serial queue the realm is to be used on; nil for the current thread, or the main queue.
  /// - Throws: `Realm.Error`.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a realm. When a file is opened with classes for the first time in a process, they are compared with its tables,
  /// and tables that are missing are made: in the write transaction of this thread where one is open, else in one that
  /// waits for those of others.
  ///
  /// A file may be opened again with other classes while it is open, on this thread or another: each realm has those its
  /// configuration names. `schemaVersion`, `readOnly` and `encryptionKey` are to be the same then.
  ///
  /// - Throws: `Realm.Error`: `.schemaMismatch` where tables differ from their classes; `.invalidDatabase` for a file that
  ///   is no realm, is damaged, or has another key; `.alreadyOpen` where another process has it open in a way that can't
  ///   be shared, or this one with another `schemaVersion` or `readOnly`, or so that it can't be deleted for
  ///   `deleteRealmIfMigrationNeeded`. `SyncError.clientUserError` for a synced realm of a user who was removed.
  public init(configuration: Configuration, queue: DispatchQueue? = nil) throws {
    (life, view) = try RealmFile.session(configuration, queue.map { Scheduler.of($0) } ?? Scheduler.current)
  }

  /// Opens the file with the default configuration otherwise.
  ///
  /// - Throws: `Realm.Error`.
  public init(fileURL: URL) throws {
    var configuration = Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration)
  }

  /// A copy of what it was opened with. Of the realm of an object, the configuration that was the first on its thread.
  public var configuration: Configuration { view.configuration }

  /// The classes that the realm was opened with; of one that was opened with none, all that its file has.
  var storedClasses: [ClassBinding] {
    view.configuration.keepsSchema ? session.tableBindings : classes.bindings
  }

  /// No class has an object.
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

  /// Begins a write transaction on the newest version.
  ///
  /// - Precondition: none is open on this realm. It could be begun: otherwise the program stops, and `write(_:)` throws.
  public func beginWrite() {
    do {
      try session.beginWrite(whereVersions: view.configuration.maximumNumberOfActiveVersions)
    } catch {
      raise("Write transaction", "it could not be begun: \(error.localizedDescription)")
    }
  }

  /// Forgets the changes of the open write transaction. Objects it added are invalid from then on.
  public func cancelWrite() { session.cancelWrite() }

  /// Whether this realm, as this thread sees it, is in a write transaction.
  public var isInWriteTransaction: Bool {
    session.check()
    return session.transaction != nil
  }

  /// Whether this realm moves to a newer version by itself when another realm of this process has written one: true at first. It moves when its
  /// queue, actor or run loop gets to it, never while code of the program runs. A realm of a thread without a run loop, or whose
  /// main queue is not served, moves by `refresh()` and by writing alone. Commits of other processes are seen by these two, too.
  ///
  /// - Precondition: to be set, the realm is not frozen: a frozen one never moves, and reads false here.
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

  /// Moves to the newest version; answers whether there was a newer one.
  @discardableResult
  public func refresh() -> Bool { session.refresh() }

  /// Lets go of the version it reads. Objects become invalid; the realm itself can be used on.
  public func invalidate() { session.invalidate() }

  /// Looks at all of the version that is read: every node, and what tables, indexes and links mean together. An app may
  /// ask before it reads objects, which stop the program where the file is damaged.
  ///
  /// Takes time in proportion to the size of the file. What an open transaction has changed is not looked at.
  ///
  /// - Throws: `Realm.Error.invalidDatabase`, which says what is damaged and where; other codes where the system refuses.
  public func verify() throws {
    session.check()
    try Realm.Error.wrapping { () throws(StorageError) in try session.verify() }
  }

  // MARK: - Files

  /// Whether there is the file that a configuration names; false for a realm in memory.
  public static func fileExists(for configuration: Configuration) -> Bool {
    guard configuration.inMemoryIdentifier == nil else { return false }
    return FileManager.default.fileExists(atPath: configuration.url.path)
  }

  /// Removes a realm: its file, `.note` and `.management` beside it. Answers whether there was anything; a realm in memory has
  /// nothing to remove.
  ///
  /// A synced realm with changes that were not uploaded is put aside into the folder `recovered-realms` of its app; a warning tells its name.
  /// That needs the configuration that it is opened with: one without a `syncConfiguration` does not delete it.
  ///
  /// - Throws: `Realm.Error.alreadyOpen` while it is open, here or in another process; `.incompatibleHistories` for a configuration without a
  ///   `syncConfiguration`, where the file is synced and has changes that were not uploaded; other codes where the system refuses.
  @discardableResult
  public static func deleteFiles(for configuration: Configuration) throws -> Bool {
    try RealmFile.delete(configuration)
  }

  /// Writes a copy of the realm to a new file, as small as can be: the version that is read, in a write transaction with what
  /// that has changed.
  ///
  /// The copy is not synced, also where the realm is: see `writeCopy(configuration:)`.
  ///
  /// - Parameter encryptionKey: 64 bytes that the copy is encrypted with; nil for one that is not, whatever this realm is.
  /// - Throws: `Realm.Error.fileExists` where there is a file already; other codes where the system refuses.
  public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
    try writeCopy(configuration: Configuration(fileURL: fileURL, encryptionKey: encryptionKey))
  }

  /// Writes a copy of the realm for another configuration: to its file, encrypted with its key. All classes are copied, also
  /// those that its `objectTypes` leaves out. Both files are independent of each other then.
  ///
  /// Where this realm is synced, or the copy is to be:
  ///
  /// - All objects of a realm that is not synced become changes of the copy, which are uploaded when it is opened, or once it subscribes to objects. The
  ///   first subscriptions are to cover them all: what they leave out is refused and undone. Where the server has an object of the same primary
  ///   key, its properties get the values of the copy, but for those that have what a new object has. Each class needs a primary key.
  /// - A synced realm's copy without sync has the objects as they are, and none of the properties that neither the classes of this realm nor
  ///   `objectTypes` have, such as the one that tells the partition. Its schema version is that of this file, or that of the configuration where
  ///   that is less, so that it opens with its own version, and with any later one.
  /// - A synced realm's copy for another user or device of the same app and partition, or with subscriptions of its own, begins with what is copied, and downloads
  ///   what has changed since. All changes of this realm are to be uploaded before. The copy downloads all anew when it first connects where it subscribes to
  ///   objects, where the rights of users differ, or where the server does not know any more what has changed. What it showed stays until that is there.
  ///
  /// Objects that have another partition, or are subscribed to in place of one, are copied by hand: to copy such a realm stops the program. So does copying for or from
  /// a synced realm in a write transaction.
  ///
  /// - Throws: `Realm.Error.fileExists` where there is a file already; `.schemaMismatch` where a class can't be synced; `.fail` where
  ///   there are changes that were not uploaded; other codes where the system refuses.
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

  /// What is done with an object whose primary key there is already.
  public enum UpdatePolicy: Int, Sendable {
    /// It is an error of the program.
    case error = 1
    /// Properties that differ are written.
    case modified = 3
    /// All properties are written.
    case all = 2
  }

  /// Adds an object and all it links to; they become managed. Does nothing with one that this realm manages.
  ///
  /// - Precondition: in a write transaction; the object is of no other realm; with the policy `.error` its primary key,
  ///   and those of what it links to, are new.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    session.check()
    session.requireTransaction("add an object")
    if object.asDynamic?.context?.session === session { return }
    view.check(type(of: object), session)
    session.checkPolicy(update, object.ownModel)
    ObjectAdder.add(object, to: session, update)
  }

  /// Adds objects in their order, as one by one.
  public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error) where S.Iterator.Element: Object {
    session.check()
    session.requireTransaction("add an object")
    for object in objects where object.asDynamic?.context?.session !== session {
      view.check(type(of: object), session)
      session.checkPolicy(update, object.ownModel)
      ObjectAdder.add(object, to: session, update)
    }
  }

  /// Makes an object of values: a dictionary by property name, an array in the order of the properties, or an object.
  ///
  /// Properties that are not given have the values they declare; of an object that is updated they stay.
  ///
  /// - Precondition: as of `add(_:update:)`; each value fits its property.
  @discardableResult
  public func create<T: Object>(_ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error)
    -> T
  {
    unsafeDowncast(add(type, value, update), to: type)
  }

  /// Makes an object that is only sent, of values as `create(_:value:update:)` takes them.
  ///
  /// - Precondition: in a write transaction; each value fits its property; a primary key is new.
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

  /// Deletes an object. Links to it become nil, and leave the lists they stand in; what it links to stays.
  ///
  /// - Precondition: in a write transaction; the object is managed by this realm.
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

  /// Deletes objects, as one by one; those of one class at once, which is faster.
  public func delete<S: Sequence>(_ objects: S) where S.Iterator.Element: ObjectBase {
    delete(all: Array(objects))
  }

  /// Deletes the objects in a list, which is empty then.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) { delete(all: Array(objects)) }

  /// Deletes the objects in a map, whose keys have nil then.
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

  /// Deletes the objects found.
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

  /// Deletes all objects of the realm's classes.
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

  /// All objects of a class, as they are at any time.
  public func objects<Element: RealmFetchable & ObjectBase>(_ type: Element.Type) -> Results<Element> {
    session.check()
    view.check(type, session)
    return Results(_CollectionContent(session.context(type)))
  }

  /// The object with a primary key; nil where there is none. O(log n).
  ///
  /// - Precondition: the class has a primary key, of that type.
  @inlinable
  public func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType)
    -> Element?
  {
    // Inlined where the types are known, of which numbers need no closer look.
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
  /// A handle of the row with a primary key; nil where there is none.
  ///
  /// - Precondition: the class has a primary key, of that type: otherwise the program stops.
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
      // Asked of what is being written, which is spared putting its indexes in order.
      if session.isWriting { return try session.writable(binding)?.row(withPrimaryKey: value) }
      return try currentTable()?.row(withPrimaryKey: value)
    }
    return row.map { object($0) }
  }
}

extension Realm: Equatable {
  /// Whether both are of one file, on the same thread or queue: then they share the version they read, the write
  /// transaction, and the objects. The classes they were opened with may differ.
  public static func == (left: Realm, right: Realm) -> Bool { left.life.session === right.life.session }
}

@available(*, unavailable)
extension Realm: Sendable {}

extension RealmSession {
  /// An update finds the object by its primary key.
  func checkPolicy(_ policy: Realm.UpdatePolicy, _ model: @autoclosure () -> ObjectModel) {
    guard policy != .error else { return }
    let model = model()
    guard model.primaryKey == nil else { return }
    raise(
      "No primary key", "\(model.name) has none, so that no object of it can be updated; add without update.")
  }
}

extension ModelProperty {
  /// The stored form of a primary key; nil for what is none of the property's type.
  fileprivate func key<Key>(of key: Key) -> Value? {
    // The types most keys have need no closer look.
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
    // True is a number to properties, and no key.
    if any is Bool { return nil }
    if let found = field.stored(of: any) { return found }
    // A number that the property can't hold is the key of nothing.
    switch type.column {
    case .int64: return Int64._converted(any).map { .int($0) }
    default: return nil
    }
  }
}
