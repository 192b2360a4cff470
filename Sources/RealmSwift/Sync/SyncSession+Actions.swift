import RealmStorage

/// The actions that errors leave to the app.
extension SyncSession {
  /// Makes the error of a client reset. It stores an action that moves the file away, so that a new one is downloaded: when the
  /// app asks for it, or when the app is started the next time.
  func resetError(_ text: String) -> SyncError {
    guard let app = sync.user.appIfThere else { return SyncError(.clientResetError, text) }
    let copy = recoveredPath { app.paths.newRecovered() }
    guard let action = action(copy: copy) else { return SyncError(.clientResetError, text) }
    app.add(action)
    note(action)
    return SyncError(
      .clientResetError, text, action: SyncError.ActionToken { app.perform(action) }, recoveryPath: copy)
  }

  /// The action that deletes the file when the app asks for it. If the file is open then, it is deleted when the app is
  /// started the next time. Nil if there is no file.
  var deletion: SyncError.ActionToken? {
    guard let app = sync.user.appIfThere, let action = action(copy: nil) else { return nil }
    return SyncError.ActionToken {
      app.add(action)
      return app.perform(action)
    }
  }

  /// The action for this file, which spares any other file at its path; nil if the realm is in memory or its file can't
  /// be read.
  private func action(copy: String?) -> FileAction? {
    guard !file.isInMemory else { return nil }
    do throws(StorageError) {
      return FileAction(path: file.database.path, file: try FileInfo(file.database).fileID, copy: copy)
    } catch {
      Logger.shared.log(
        .error, "\(file.database.path) can't be read, so that it stays where it is: \(error.description)")
      return nil
    }
  }
}
