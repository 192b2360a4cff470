import Foundation
import RealmStorage
import RealmSyncClient
import Synchronization

/// The realm of a file as it was before a reset.
struct FrozenBeforeReset: @unchecked Sendable {
  // Sendable: the realm is frozen, and only the session's queue uses it.
  let realm: Realm
}

/// A client reset replaces the data of the file by the data of the server, and makes changes that were not uploaded again on top
/// of it.
extension SyncSession {
  package func fileWillBeReset(_ core: SyncedFile) {
    let callbacks = sync.clientResetMode.callbacks
    guard callbacks.before != nil || callbacks.after != nil else { return }
    do {
      let frozen = try Realm(configuration: file.configuration).freeze()
      forgetBeforeReset()
      resetting.withLock { [box = FrozenBeforeReset(realm: frozen)] in $0 = box }
      callbacks.before?(frozen)
    } catch {
      Logger.shared.log(
        .error,
        "\(file.database.path): the callbacks of a reset are not called: \(error.localizedDescription)")
    }
  }

  /// Releases the realm that was kept for a reset, since no reset runs any more.
  func forgetBeforeReset() {
    // Releasing the realm may close the file, so it happens after the lock is free.
    let box = resetting.withLock { resetting in resetting.take() }
    withExtendedLifetime(box) {}
  }

  package func fileWasReset(_ core: SyncedFile, isRecovered: Bool) {
    Logger.shared.log(
      .info,
      "\(file.database.path) was reset: changes that were not uploaded were \(isRecovered ? "kept" : "dropped")."
    )
    let box = resetting.withLock { resetting in resetting.take() }
    guard let before = box?.realm, let afterReset = sync.clientResetMode.callbacks.after else { return }
    do {
      let after = try Realm(configuration: file.configuration)
      after.refresh()
      afterReset(before, after)
    } catch {
      Logger.shared.log(
        .error,
        "\(file.database.path): the callback after a reset is not called: \(error.localizedDescription)")
    }
  }
}

extension ClientResetMode {
  /// The mode in the form that the client session takes.
  var recovery: ClientSession.Recovery {
    switch self {
    case .discardUnsyncedChanges: .discard
    case .recoverUnsyncedChanges: .recover
    case .recoverOrDiscardUnsyncedChanges: .recoverOrDiscard
    case .manual: .manual
    }
  }
}
