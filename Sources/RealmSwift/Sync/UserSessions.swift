import RealmStorage
import RealmSyncClient
import Synchronization

/// The sync sessions of a user, and their connections.
final class UserSessions: UserSync, Sendable {
  private struct State {
    var sessions: [String: SyncSession] = [:]
    /// The connection of each session, by the path of the session's file.
    var connections: [String: SyncConnection] = [:]
    /// The connections that sessions share. They are kept when their sessions are over, because a WebSocket stays open for a
    /// while.
    var shared: [SyncConnection] = []

    /// A shared connection with room for another session; nil if there is none.
    func free(for path: String) -> SyncConnection? {
      shared.first { connection in
        connections.count { $0.key != path && $0.value === connection } < SyncConnection.mostMembers
      }
    }
  }
  // The reference does not keep the user, because the user keeps this object.
  private unowned let user: User
  private let state = Mutex(State())

  private init(_ user: User) { self.user = user }

  /// The sessions of a user. The object is made at the first call.
  static func of(_ user: User) -> UserSessions {
    let (sessions, isNew) = user.sync.withLock { sync -> (UserSessions, Bool) in
      if let found = sync as? UserSessions { return (found, false) }
      let made = UserSessions(user)
      sync = made
      return (made, true)
    }
    if isNew { user.app.syncManager.observeHeaders { [weak sessions] in sessions?.routeDidChange() } }
    return sessions
  }

  var all: [SyncSession] { state.withLock { Array($0.sessions.values) } }

  /// Begins the session of a file that was opened.
  func begin(_ file: RealmFile, _ hold: RealmFile.Hold, _ sync: SyncConfiguration) -> SyncSession {
    CallbackQueue.begin()
    let path = file.database.path
    if !file.isInMemory { user.note(realmPath: path) }
    let connection = connection(of: path)
    let session = SyncSession(file, hold, sync, self, connection)
    state.withLock { $0.sessions[path] = session }
    session.begin()
    return session
  }

  private func connection(of path: String) -> SyncConnection {
    let settings = settings
    let isShared = user.app.configuration.enableSessionMultiplexing
    return state.withLock { state in
      // An earlier session of the file that is about to end must not remove the new session's connection.
      state.sessions[path] = nil
      if isShared, let connection = state.free(for: path) {
        state.connections[path] = connection
        return connection
      }
      let made = SyncConnection(
        SyncNetworks.current, user, settings: settings, monitor: NetworkChanges.ofMachine)
      state.connections[path] = made
      if isShared { state.shared.append(made) }
      return made
    }
  }

  private var settings: SyncConnection.Settings {
    var settings = SyncConnection.Settings()
    let app = user.app
    if let options = app.syncManager.timeoutOptions ?? app.configuration.syncTimeouts {
      settings.connectTimeout = UInt64(options.connectTimeout)
      settings.linger = UInt64(options.connectionLingerTime)
      settings.pingPeriod = UInt64(options.pingKeepalivePeriod)
      settings.pongTimeout = UInt64(options.pongKeepaliveTimeout)
    }
    return settings
  }

  /// Removes a session that is over.
  func remove(_ session: SyncSession) {
    state.withLock { state in
      let path = session.file.database.path
      guard state.sessions[path] === session else { return }
      state.sessions[path] = nil
      state.connections[path] = nil
    }
  }

  // MARK: - The user

  func userDidLogIn() { for session in all { session.userDidLogIn() } }
  func userDidLogOut(because reason: String?) {
    for session in all { session.userDidLogOut(because: reason) }
    // The connections were made with a token that is not valid any more.
    for connection in connections { connection.close() }
  }

  func userWasRemoved() {
    userDidLogOut(because: nil)
    // A connection keeps the user, and the user keeps this object. Open sessions keep their connections.
    let gone = state.withLock { state in
      defer { (state.shared, state.connections) = ([], [:]) }
      return (state.shared, state.connections)
    }
    withExtendedLifetime(gone) {}
  }

  /// All connections: the shared ones and those of single sessions.
  var connections: [SyncConnection] {
    state.withLock { state in
      let shared = state.shared
      return shared + state.connections.values.filter { one in !shared.contains { $0 === one } }
    }
  }

  func routeDidChange() {
    for connection in connections { connection.restart() }
  }
}

extension User {
  /// The sessions of this user's files that are open or still have changes to upload.
  public var allSessions: [SyncSession] { UserSessions.of(self).all }

  /// The session of an open file with a partition; nil if none is open.
  public func session(forPartitionValue value: AnyBSON) -> SyncSession? {
    allSessions.first { $0.sync.partitionValue == value }
  }
}
