import RealmStorage

/// Syncs an open file with a server. The file calls it when something happens to the file.
protocol FileSync: AnyObject, Sendable {
  /// A transaction of this process was committed. May be called on any thread.
  func didCommit()
  /// A realm of the file was opened.
  func didOpen()
  /// The last realm of the file has gone, and only this keeps the file open now. It is called under the lock of open files, and
  /// must return at once.
  func lastRealmClosed()
  /// The file will be closed. When this returns, the file must not be used any more. It is called under the lock of open files.
  func fileWillClose()
  /// Resumes the sync if the program has stopped it, and calls `body` when all that the server has now can be read, or with the
  /// reason why that will not happen.
  ///
  /// - Parameter maker: the sync of the configuration with which the file is opened now. It may differ from that with which the
  ///   file was opened first.
  /// - Returns: a function that ends the wait. After it was called, `body` may not be called any more, and is freed.
  func whenUpToDate(
    for maker: (any FileSyncMaker)?, _ body: @escaping @Sendable ((any Error)?) -> Void
  ) -> @Sendable () -> Void
  /// Ends at once, and lets go of the file before it returns.
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
  /// A realm was opened.
  ///
  /// - Parameter isFirst: whether no realm of the file was open before in this process.
  func didOpen(_ realm: Realm, isFirst: Bool) throws
  /// - Throws: an error if the user of the file may not open it any more.
  func checkUser(_ configuration: Realm.Configuration) throws
  /// A file that nobody has open is about to be deleted. If it has changes that no server has, it is moved aside.
  ///
  /// - Returns: a function to call when the file is gone.
  func willDelete(_ configuration: Realm.Configuration) throws -> @Sendable () -> Void
  /// Whether objects may be made only of classes that a subscription asks for.
  var isFlexible: Bool { get }
  /// The names of the classes that subscriptions ask for, in the open transaction.
  func subscribed(_ transaction: WriteTransaction) throws(StorageError) -> Set<String>
  /// Writes a copy of a realm to the file of another configuration. The realm is synced, or the copy is to be.
  ///
  /// - Throws: `Realm.Error`.
  func copy(_ realm: Realm, to configuration: Realm.Configuration) throws
}
