import RealmStorage

/// What errors leave to the app.
extension SyncSession {
  /// The file is to be put aside, and one is to be downloaded in its place: when the app asks for it, or when it is started the next time.
  func resetError(_ text: String) -> SyncError {
    guard !file.isInMemory else { return SyncError(.clientResetError, text) }
    let app = sync.user.app
    let copy = recoveredPath { app.paths.newRecovered() }
    app.add(FileAction(path: file.database.path, copy: copy))
    return SyncError(
      .clientResetError, text, action: SyncError.ActionToken { FileActions(app.metadata, app.paths).run() },
      recoveryPath: copy)
  }

  /// Deletes the file when the app asks for it, or, where it is open then, when the app is started the next time.
  var deletion: SyncError.ActionToken? {
    guard !file.isInMemory else { return nil }
    let (app, path) = (sync.user.app, file.database.path)
    return SyncError.ActionToken {
      app.add(FileAction(path: path, copy: nil))
      FileActions(app.metadata, app.paths).run()
    }
  }
}
