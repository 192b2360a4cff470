import Foundation
import RealmStorage
import RealmSyncClient
import Synchronization

/// Of several processes that have a synced file open, one has the session with the server. The others read and write: what they commit is uploaded by that one, and what
/// it downloads is in the file.
extension SyncSession {
  /// Hears of what other processes commit, and whether their session has ended, until the file is closed.
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
  /// What an app is told of it.
  func error(of session: SyncSession?) -> any Error {
    guard case .otherAgent = self else { return SyncError.of(self, session) }
    let path = session?.file.database.path
    return Realm.Error(.multipleSyncAgents, "\(path.map { "\($0): " } ?? "")\(text)", path: path)
  }
}
