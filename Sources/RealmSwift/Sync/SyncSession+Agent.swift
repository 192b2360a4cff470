import Foundation
import RealmStorage
import RealmSyncClient
import Synchronization

/// Sync of files that several processes have open. One of the processes has the session with the server. The others read and
/// write the file: that process uploads what they commit, and they find its downloads in the file.
extension SyncSession {
  /// Starts to listen for commits of other processes, and for the end of their session, until the file is closed.
  func waitForOthers() {
    guard !file.isInMemory else { return }
    let waiter = CommitWaiter(file.database) { [weak core = core] isNewer in
      guard let core else { return false }
      if isNewer { core.othersMayHaveCommitted() } else { core.othersMayHaveEnded() }
      return true
    }
    commits.withLock { $0 = waiter }
  }

  func fileWillClose() { commits.withLock { $0 }?.stop() }

  package func fileHasOtherAgent(_ core: SyncedFile) {
    let error = SyncedFileProblem.otherAgent.error(of: self)
    Logger.shared.log(.info, error.localizedDescription)
    CallbackQueue.deliver { [self] in sync.user.appIfThere?.syncManager.errorHandler?(error, self) }
  }
}

extension SyncedFileProblem {
  /// The error that an app gets for the problem.
  func error(of session: SyncSession?) -> any Error {
    guard case .otherAgent = self else { return SyncError.of(self, session) }
    let path = session?.file.database.path
    return Realm.Error(.multipleSyncAgents, "\(path.map { "\($0): " } ?? "")\(text)", path: path)
  }
}
