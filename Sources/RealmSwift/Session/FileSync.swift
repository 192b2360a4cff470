import RealmStorage

/// Syncs an open file with a server. The file calls these functions when something happens to it.
protocol FileSync: AnyObject, Sendable {
  /// Called when a transaction of this process was committed, on any thread.
  func didCommit()
  /// Called when a realm of the file was opened.
  func didOpen()
  /// Called when the last realm of the file has gone, so that only the sync keeps the file open. The call is made under
  /// the lock of open files, and must return at once.
  func lastRealmClosed()
  /// Called before the file is closed. When this returns, the file must not be used any more. The call is made under
  /// the lock of open files.
  func fileWillClose()
  /// Resumes the sync if the program has stopped it. Calls `body` when everything that the server has now can be read,
  /// or with the reason why that will not happen.
  ///
  /// - Parameter maker: the sync of the configuration with which the file is opened now. It may differ from the one
  ///   with which the file was opened first.
  /// - Returns: a function that ends the wait. After it was called, `body` may not be called any more, and is freed.
  func whenUpToDate(
    for maker: (any FileSyncMaker)?, _ body: @escaping @Sendable ((any Error)?) -> Void
  ) -> @Sendable () -> Void
  /// Ends the sync at once, and lets go of the file before this returns.
  func end()
}

/// Says how a file is synced with a server.
protocol FileSyncMaker: Sendable {
  /// Stops the program if the sync can't be combined with other settings of a configuration.
  func check(_ configuration: Realm.Configuration)
  /// Whether a file that is open for another sync may be opened for this one, too.
  func isSame(as other: any FileSyncMaker) -> Bool
  /// Begins to sync a file. `file` is open, and `hold` keeps it open.
  func begin(_ file: RealmFile, _ hold: RealmFile.Hold) -> any FileSync
  /// Called when a realm was opened.
  ///
  /// - Parameter isFirst: whether no realm of the file was open before in this process.
  func didOpen(_ realm: Realm, isFirst: Bool) throws
  /// - Throws: an error if the user of the file may not open it any more.
  func checkUser(_ configuration: Realm.Configuration) throws
  /// Called when a file that is not open is about to be deleted. If the file has changes that no server has, it is
  /// moved aside.
  ///
  /// - Returns: a function to call when the file is gone.
  func willDelete(_ configuration: Realm.Configuration) throws -> @Sendable () -> Void
  /// Whether the program may make objects only of classes that a subscription asks for.
  var isFlexible: Bool { get }
  /// The names of the classes that subscriptions ask for, as the open transaction sees them.
  func subscribed(_ transaction: WriteTransaction) throws(StorageError) -> Set<String>
  /// Writes a copy of a realm to the file of another configuration. The realm, the copy or both are synced.
  ///
  /// - Throws: `Realm.Error`.
  func copy(_ realm: Realm, to configuration: Realm.Configuration) throws
}
