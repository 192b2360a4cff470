import RealmStorage
import Synchronization

/// What an observer of a realm is called with.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void

extension Realm {
  /// What happened to a realm that is observed.
  public enum Notification: String, Sendable {
    /// It shows another version: it was written, or has moved.
    case didChange = "RLMRealmDidChangeNotification"
    /// There is a newer version, and the realm does not move by itself (`autorefresh`): call `refresh()`.
    case refreshRequired = "RLMRealmRefreshRequiredNotification"
  }

  /// Calls a block whenever the realm shows another version: in the call that writes or refreshes it, or when it moves by itself.
  ///
  /// - Precondition: the realm is live, may change, and belongs to a queue, an actor or a thread with a run loop; no change was made in an open write
  ///   transaction. Else the program stops.
  /// - Returns: what keeps the observer; keep it.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    session.checkObservable("a realm")
    let (session, view, hub) = (session, view, session.file.hub)
    // A realm that nothing was read of shows no version that could change.
    reading { () throws(StorageError) in _ = try session.currentSnapshot() }
    let isEnded = EndedFlag()
    // The session keeps the block, and the token keeps the session.
    let id = session.watched(by: hub).add { [unowned session] notification in
      if !isEnded.isSet { block(notification, Realm(session.life, view)) }
    }
    hub.countObserver(by: 1)
    let box = ObserverOfRealm(life: life, id: id)
    return NotificationToken {
      isEnded.set()
      hub.countObserver(by: -1)
      box.end()
    }
  }
}

private final class EndedFlag: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}

private struct ObserverOfRealm: @unchecked Sendable {
  // Sendable: it is used by the scheduler of the realm, and when that is gone by who ends it.
  let life: SessionLife
  let id: Int

  func end() {
    let session = life.session
    if session.owner.isHere || session.inbox.isGone {
      (session.observers as? SessionObservers)?.remove(id)
    } else {
      session.inbox.enqueue { (life.session.observers as? SessionObservers)?.remove(id) }
    }
  }
}
