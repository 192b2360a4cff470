/// Gets the events of a file, on the queue of its session.
package protocol SyncedFileHandler: AnyObject, Sendable {
  func file(_ file: SyncedFile, became state: ConnectionState)
  /// The session has committed.
  func fileDidChange(_ file: SyncedFile)
  /// The server has decided `done` of `total` bytes of the app's changes.
  func file(_ file: SyncedFile, uploaded done: UInt64, of total: UInt64)
  /// About `done` of `total` bytes of what the server has for the file have arrived. They are equal when the app can
  /// read everything.
  func file(_ file: SyncedFile, downloaded done: UInt64, of total: UInt64, querySet: UInt64)
  /// The server has refused changes, which `refusals(after:)` returns. When the app was told, `forgetRefusals(upTo:)`
  /// has to be called.
  func fileHasRefusals(_ file: SyncedFile)
  /// The content of the file is about to be replaced, and the download for that begins.
  func fileWillDownloadAnew(_ file: SyncedFile)
  /// The content of the file is replaced directly after this call.
  func fileWillBeReset(_ file: SyncedFile)
  func fileWasReset(_ file: SyncedFile, isRecovered: Bool)
  /// Another handle of the file has a session, in this process or another. The session of this handle begins by itself
  /// when the other one ends.
  func fileHasOtherAgent(_ file: SyncedFile)
  /// The numbers of the user's files that are gone and that the server has to be told.
  func goneReplicas(of file: SyncedFile) -> [UInt64]
  /// The server knows that a file of the user is gone.
  func file(_ file: SyncedFile, retired replica: UInt64)
  /// There is no session at present. Another one begins by itself.
  func file(_ file: SyncedFile, lost problem: SyncedFileProblem)
  /// The session has ended, and no other one begins by itself.
  func file(_ file: SyncedFile, ended problem: SyncedFileProblem)
}
