import RealmStorage

/// What errors leave to the app.
extension SyncSession {
  /// The file is to be put aside, and one is to be downloaded in its place: when the app asks for it, or when it is started the next time.
  func resetError(_ text: String) -> SyncError {
    guard let app = sync.user.appIfThere else { return SyncError(.clientResetError, text) }
    let copy = recoveredPath { app.paths.newRecovered() }
    guard let action = action(copy: copy) else { return SyncError(.clientResetError, text) }
    app.add(action)
    note(action)
    return SyncError(
      .clientResetError, text, action: SyncError.ActionToken { app.perform(action) }, recoveryPath: copy)
  }

  /// Deletes the file when the app asks for it, or, where it is open then, when the app is started the next time.
  var deletion: SyncError.ActionToken? {
    guard let app = sync.user.appIfThere, let action = action(copy: nil) else { return nil }
    return SyncError.ActionToken {
      app.add(action)
      return app.perform(action)
    }
  }

  /// What is to be done with this file, and with no other one at its path; nil where there is no file.
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
