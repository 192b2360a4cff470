import RealmStorage

/// Keeps an open file the same as a server's. The file tells it what happens to it.
protocol FileSync: AnyObject, Sendable {
  /// A transaction of this process was committed. Called by any thread.
  func didCommit()
  /// A realm of the file was opened.
  func didOpen()
  /// The last realm of the file is gone: only this keeps the file open now. Called under the lock of open files, so that it is to return at once.
  func lastRealmClosed()
  /// Uses the file no more before it returns. Called under the lock of open files.
  func fileWillClose()
  /// Goes on, where the program has stopped it, and calls `body` once all that the server has now can be read, or with why that will not be.
  ///
  /// - Parameter maker: of the configuration of who opens the file, which may be another one than the file was opened with first.
  /// - Returns: ends the waiting, after which `body` may not be called any more, and nothing of it is kept.
  func whenUpToDate(
    for maker: (any FileSyncMaker)?, _ body: @escaping @Sendable ((any Error)?) -> Void
  ) -> @Sendable () -> Void
  /// Ends at once, and lets go of the file before it returns.
  func end()
}

/// Says how a file is to be kept the same as a server's.
protocol FileSyncMaker: Sendable {
  /// Tells what can't be together with other settings of a configuration, by stopping the program.
  func check(_ configuration: Realm.Configuration)
  /// Whether a file that is open for another may be opened for this one, too.
  func isSame(as other: any FileSyncMaker) -> Bool
  /// Begins to do it. `file` is open, and `hold` keeps it so.
  func begin(_ file: RealmFile, _ hold: RealmFile.Hold) -> any FileSync
  /// A realm was opened.
  ///
  /// - Parameter isFirst: none of this process was open before.
  func didOpen(_ realm: Realm, isFirst: Bool) throws
  /// Throws where who uses the file may not open it any more.
  func checkUser(_ configuration: Realm.Configuration) throws
  /// A file that nobody has open is about to be deleted: one with changes that no server has is put aside.
  ///
  /// - Returns: is to be called once the file is gone.
  func willDelete(_ configuration: Realm.Configuration) throws -> @Sendable () -> Void
  /// Objects may be made only of classes that are asked for.
  var isFlexible: Bool { get }
  /// The names of the classes that are asked for, in the open transaction.
  func subscribed(_ transaction: WriteTransaction) throws(StorageError) -> Set<String>
  /// Writes a copy of a realm to the file of another configuration. The realm is synced, or the copy is to be.
  ///
  /// - Throws: `Realm.Error`.
  func copy(_ realm: Realm, to configuration: Realm.Configuration) throws
}
