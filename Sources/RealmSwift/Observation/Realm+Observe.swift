import RealmStorage
import Synchronization

/// The type of a block that observes a realm.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void

extension Realm {
  /// What happened to a realm that is observed.
  public enum Notification: String, Sendable {
    /// The realm shows another version: it was written, or has moved.
    case didChange = "RLMRealmDidChangeNotification"
    /// There is a newer version, and the realm does not move by itself, since its `autorefresh` is false: call `refresh()`.
    case refreshRequired = "RLMRealmRefreshRequiredNotification"
  }

  /// Calls a block whenever the realm shows another version: within the call that writes or refreshes the realm, or when the
  /// realm moves by itself.
  ///
  /// - Precondition: the realm is live, and was not opened with `readOnly` unless it is synced. It belongs to a queue, an actor
  ///   or a thread with a run loop. No change was made in an open write transaction. Otherwise the program stops.
  /// - Returns: the token that keeps the observer. Keep it for as long as the block is to be called.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    session.checkObservable("a realm")
    let (session, view, hub) = (session, view, session.file.hub)
    // The realm reads a version now, since a realm that has read nothing shows no version that could change.
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
  // Sendable: the scheduler of the realm uses it. When that is gone, the thread that ends the observer uses it.
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
