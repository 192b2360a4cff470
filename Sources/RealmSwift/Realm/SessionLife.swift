/// Keeps a session, for all that refer to it from outside: realms and collections. Objects, which come and go, keep it by
/// being counted.
///
/// The session refers to the last one weakly, and nobody to the session itself: to count references to what is referred to
/// weakly takes several times as long, and the session is used at every read.
final class SessionLife {
  let session: RealmSession

  init(_ session: RealmSession) {
    self.session = session
    session.addHolder()
  }

  deinit { session.removeHolder() }
}
