import RealmStorage

/// Checks of what must hold before something is done, and the messages if it does not hold.
extension RealmSession {
  /// Stops the program if this session can't be written.
  func checkWritable() {
    check()
    checkCounted("begin a transaction of their own; what the block changes is in the migration's")
    checkThawed("be written; thaw() it on the thread that writes, and write what that answers")
    guard !file.configuration.readOnly else {
      raise("Read-only realm", "\(file.database.path) was opened with readOnly = true; open it without.")
    }
  }

  /// Stops the program if the session is that of a migration, which ends with the block.
  func checkCounted(_ what: String) {
    if isCounted { return }
    raise(
      "Object of a migration",
      "the objects of a migration of \(file.database.path), and their realm, can't \(what). They are of use inside of the migrationBlock only."
    )
  }

  /// Stops the program if the session is frozen.
  func checkThawed(_ what: String) {
    guard isFrozen else { return }
    raise("Frozen realm", "a frozen realm at \(file.database.path) can't \(what).")
  }

  /// - Throws: `Realm.Error.fail` if more versions are in use than `most`.
  func checkActiveVersions(_ most: UInt?) throws {
    guard let most, most > 0 else { return }
    let count = file.database.activeVersions
    guard count > most else { return }
    throw Realm.Error(
      .fail,
      "\(count) versions of \(file.database.path) are in use, and maximumNumberOfActiveVersions is \(most): refresh or "
        + "release the realms of other threads, or allow more.", path: file.database.path)
  }

  /// - Parameter isEnd: whether the transaction is to end. The program then believes that it has begun one.
  @discardableResult
  func requireTransaction(_ what: @autoclosure () -> String, isEnd: Bool = false) -> WriteTransaction {
    guard let transaction else {
      if isFrozen {
        raise(
          "Frozen object",
          "what is frozen never changes: to \(what()), thaw() it, and change what that answers in realm.write { }."
        )
      }
      let hint =
        isEnd
        ? " A transaction that was begun is cancelled when the last reference to its realm on the thread goes, as that of "
          + "try! Realm().beginWrite() does at once: keep the realm in a variable until the end."
        : ""
      raise(
        "Not in a write transaction",
        "to \(what()), begin one on the realm at \(file.database.path): put the change into realm.write { }.\(hint)"
      )
    }
    return transaction
  }

  /// Checks that objects were made only of classes that a subscription asks for, because the server would not keep
  /// other objects for this file.
  ///
  /// - Throws: `Realm.Error.noSubscriptionForWrite`; `Realm.Error` if the subscriptions can't be read. The transaction
  ///   is then cancelled.
  func checkSubscriptions(_ open: WriteTransaction) throws {
    guard let maker = file.configuration.syncing, maker.isFlexible else { return }
    let made = madeClasses.filter { !$0.model.isEmbedded }
    guard !made.isEmpty else { return }
    let error: Realm.Error
    do throws(StorageError) {
      let subscribed = try maker.subscribed(open)
      guard let missing = made.first(where: { !subscribed.contains($0.model.name) }) else { return }
      error = Realm.Error(
        .noSubscriptionForWrite,
        "An object of \(missing.model.name) was made, and no subscription asks for that class. Add one to realm.subscriptions "
          + "before objects of it are made.", path: file.database.path)
    } catch {
      cancelWrite()
      throw Realm.Error(error)
    }
    cancelWrite()
    throw error
  }

  /// The message for a file that another process has brought to a schema version which the classes of this process do
  /// not fit.
  func changedSchema(_ version: UInt64) -> String {
    "another process brought \(file.database.path) to schema version \(version), and this one opened it with version "
      + "\(file.schemaVersion); let go of its realms and objects, and open it with the classes of that version."
  }

  /// Whether a version of the file can be used although another process may have changed its schema. If that process
  /// only added classes and properties, the classes of this process still fit the tables.
  func takesIn(
    _ version: UInt64, _ schemas: () throws(StorageError) -> [TableSchema]
  ) throws(StorageError) -> Bool {
    if version == schemaVersion { return true }
    let tables = Dictionary(try schemas().map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let fits = schema.bindings.allSatisfy { binding in
      guard let bound = binding.table else { return true }
      return tables[bound.name].map { $0.id == bound.id && binding.fits($0, isSynced: file.isSynced) }
        ?? false
    }
    if fits { schemaVersion = version }
    return fits
  }
}
