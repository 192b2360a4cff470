import RealmStorage

/// What must hold before something is done, and what is said where it does not.
extension RealmSession {
  /// Stops the program where it can't be written here.
  func checkWritable() {
    check()
    checkCounted("begin a transaction of their own; what the block changes is in the migration's")
    checkThawed("be written; thaw() it on the thread that writes, and write what that answers")
    guard !file.configuration.readOnly else {
      raise("Read-only realm", "\(file.database.path) was opened with readOnly = true; open it without.")
    }
  }

  /// Stops the program where the session is a migration's: it ends with the block.
  func checkCounted(_ what: String) {
    if isCounted { return }
    raise(
      "Object of a migration",
      "the objects of a migration of \(file.database.path), and their realm, can't \(what). They are of use inside of the migrationBlock only."
    )
  }

  /// Stops the program where the session is frozen.
  func checkThawed(_ what: String) {
    guard isFrozen else { return }
    raise("Frozen realm", "a frozen realm at \(file.database.path) can't \(what).")
  }

  /// - Throws: where more versions are read than the configuration allows.
  func checkActiveVersions(_ most: UInt?) throws {
    guard let most, most > 0 else { return }
    let count = file.database.activeVersions
    guard count > most else { return }
    throw Realm.Error(
      .fail,
      "\(count) versions of \(file.database.path) are in use, and maximumNumberOfActiveVersions is \(most): refresh or "
        + "release the realms of other threads, or allow more.", path: file.database.path)
  }

  /// - Parameter isEnd: the transaction is to end, so that somebody thinks to have begun it.
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

  /// Objects may be made only of classes that a subscription asks for: the server would not keep them for this file.
  ///
  /// - Throws: `Realm.Error.noSubscriptionForWrite`. The transaction is cancelled then.
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

  /// What is wrong where another process has brought the file to a version that this one's classes are not of.
  func changedSchema(_ version: UInt64) -> String {
    "another process brought \(file.database.path) to schema version \(version), and this one opened it with version "
      + "\(file.schemaVersion); let go of its realms and objects, and open it with the classes of that version."
  }

  /// Whether a version of the file can be used, of which another process may have changed the schema: where it only added classes and
  /// properties, the classes of this process fit its tables as before.
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
