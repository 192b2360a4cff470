import RealmStorage
import RealmSyncClient
import Synchronization

/// The sessions of a user, and what connects them.
final class UserSessions: UserSync, Sendable {
  private struct State {
    var sessions: [String: SyncSession] = [:]
    /// That of each session, by the same names.
    var connections: [String: SyncConnection] = [:]
    /// Those that sessions share. They are kept when their sessions are over: a WebSocket stays for a while.
    var shared: [SyncConnection] = []

    /// One that sessions share and that has room for another one; nil where there is none.
    func free(for path: String) -> SyncConnection? {
      shared.first { connection in
        connections.count { $0.key != path && $0.value === connection } < SyncConnection.mostMembers
      }
    }
  }
  // Not kept: the user keeps this.
  private unowned let user: User
  private let state = Mutex(State())

  private init(_ user: User) { self.user = user }

  /// Those of a user. They are made when they are asked for first.
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
      // A session of the file that is about to end does not take the connection with it.
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

  /// A session is over.
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
    // They were made with a token that is not good any more.
    for connection in connections { connection.close() }
  }

  func userWasRemoved() {
    userDidLogOut(because: nil)
    // A connection keeps the user, which keeps this. Sessions that are open keep theirs.
    let gone = state.withLock { state in
      defer { (state.shared, state.connections) = ([], [:]) }
      return (state.shared, state.connections)
    }
    withExtendedLifetime(gone) {}
  }

  /// All that there are.
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
  /// The sessions of this user's files that are open, or have something to upload still.
  public var allSessions: [SyncSession] { UserSessions.of(self).all }

  /// The session of the file of a partition; nil where none is open.
  public func session(forPartitionValue value: AnyBSON) -> SyncSession? {
    allSessions.first { $0.sync.partitionValue == value }
  }
}
