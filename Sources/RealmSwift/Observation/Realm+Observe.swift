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
  /// - Precondition: the realm is live, may be written, and belongs to a queue, an actor or a thread with a run loop; no change was made in an open write
  ///   transaction. Else the program stops.
  /// - Returns: what keeps the observer; keep it.
  public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
    session.checkObservable("a realm")
    let (life, view) = (life, view)
    let observers = session.watched(by: session.file.hub)
    let id = observers.add { notification in block(notification, Realm(life, view)) }
    // Who invalidates a token on another thread has it done where it may be.
    let box = ObserverOfRealm(life: life, id: id)
    return NotificationToken { box.end() }
  }
}

private struct ObserverOfRealm: @unchecked Sendable {
  // Sendable: it is used by the scheduler of the realm.
  let life: SessionLife
  let id: Int

  func end() {
    let session = life.session
    if session.owner.isHere {
      (session.observers as? SessionObservers)?.remove(id)
    } else {
      session.inbox.enqueue { (life.session.observers as? SessionObservers)?.remove(id) }
    }
  }
}
