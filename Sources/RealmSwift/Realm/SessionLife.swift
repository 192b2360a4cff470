/// Keeps a session, for all that refer to it from outside: realms, objects and collections.
///
/// Its file refers to this weakly, and not to the session itself: to count references to what is referred to weakly takes
/// several times as long, and the session is used at every read.
final class SessionLife {
  let session: RealmSession

  init(_ session: RealmSession) {
    self.session = session
    session.begin(self)
  }
}
