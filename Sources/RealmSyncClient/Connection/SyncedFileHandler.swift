/// Is told what happens to a file, on its session's queue.
package protocol SyncedFileHandler: AnyObject, Sendable {
  func file(_ file: SyncedFile, became state: ConnectionState)
  /// The session has committed.
  func fileDidChange(_ file: SyncedFile)
  /// So many bytes of the app's changes have been taken by the server, of so many.
  func file(_ file: SyncedFile, uploaded done: UInt64, of total: UInt64)
  /// So many bytes of what the server has for the file are here, of so many, about. All are here when they can be read.
  func file(_ file: SyncedFile, downloaded done: UInt64, of total: UInt64, querySet: UInt64)
  /// The server has refused changes, which `refusals(after:)` tells. Once the app was told, `forgetRefusals(upTo:)` is to be called.
  func fileHasRefusals(_ file: SyncedFile)
  /// What the file has is about to be replaced: the download for that begins.
  func fileWillDownloadAnew(_ file: SyncedFile)
  /// It is replaced now, behind this call.
  func fileWillBeReset(_ file: SyncedFile)
  func fileWasReset(_ file: SyncedFile, isRecovered: Bool)
  /// Another handle of the file has a session, in this process or another. This one begins by itself when that one ends.
  func fileHasOtherAgent(_ file: SyncedFile)
  /// The numbers of files of the user that are gone, and of which the server is to be told.
  func goneReplicas(of file: SyncedFile) -> [UInt64]
  /// The server knows that a file of the user is gone.
  func file(_ file: SyncedFile, retired replica: UInt64)
  /// There is no session for now. Another begins by itself.
  func file(_ file: SyncedFile, lost problem: SyncedFileProblem)
  /// The session has ended, and none begins by itself.
  func file(_ file: SyncedFile, ended problem: SyncedFileProblem)
}
