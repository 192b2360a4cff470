import RealmSyncClient
import Synchronization

/// What happens to a user, as the sessions of its realms are told. It is called by any thread, and never while something of the user is locked.
protocol UserSync: AnyObject, Sendable {
  /// The user has logged in again.
  func userDidLogIn()
  /// The user is logged out, by the app or by the server.
  func userDidLogOut(because reason: String?)
  /// The user is removed from the app: its files are about to go.
  func userWasRemoved()
  /// The server is elsewhere.
  func routeDidChange()
}

/// Whether a user is logged in.
public enum RLMUserState: UInt, Sendable {
  /// The user has no tokens. Its realms can be read and written; what is written is uploaded after the next log-in.
  case loggedOut = 0
  /// The user has tokens.
  case loggedIn = 1
  /// The app does not know the user any more. Its files are deleted.
  case removed = 2
}

/// What is known of a user.
struct UserContent: Sendable {
  /// Logged in as long as there is a token.
  var state = RLMUserState.loggedOut
  var access: AccessToken?
  var refreshToken = ""
  var identities: [RLMUserIdentity] = []
  var profile: Document = [:]
  /// Of all files that were configured for the user, as `SyncPaths` stores them.
  var realmPaths: Set<String> = []
  /// The request for another access token that is under way.
  var refreshing: Task<Void, any Error>?

  mutating func begin(_ logIn: LogInAnswer, _ profile: ProfileAnswer) {
    (access, refreshToken, state) = (logIn.access, logIn.refreshToken, .loggedIn)
    (identities, self.profile) = (profile.identities, profile.data)
  }

  mutating func end(as state: RLMUserState) {
    (access, refreshToken, self.state) = (nil, "", state)
  }
}

/// Somebody who has logged in to an app. There is one object for each user of an `App`.
///
/// A user stays logged in when the program ends, and can open realms without a network.
public final class User: Sendable {
  /// By which the server knows the user. It never changes.
  public let id: String
  let content: Mutex<UserContent>
  /// What is told what happens to the user.
  let sync = Mutex<(any UserSync)?>(nil)
  /// The app keeps its users.
  private weak let owner: App?

  init(_ id: String, _ app: App, _ content: UserContent = UserContent()) {
    self.id = id
    owner = app
    self.content = Mutex(content)
  }

  /// The app that the user has logged in to; nil where it is gone.
  var appIfThere: App? { owner }

  /// The app that the user has logged in to.
  var app: App {
    guard let owner else { raise("App is gone", "the user \(id) is used after its App: keep the App.") }
    return owner
  }

  // MARK: - What is known

  /// Whether the user is logged in.
  public var state: RLMUserState { content.withLock { $0.state } }
  /// Whether `state` is `.loggedIn`.
  public var isLoggedIn: Bool { state == .loggedIn }
  /// The ways in which the user can log in, as they were at the last log-in here.
  public var identities: [RLMUserIdentity] { content.withLock { $0.identities } }
  /// What the server has told of the user at the last log-in here.
  public var profile: UserProfile { UserProfile(content.withLock { $0.profile }) }
  /// What the server keeps for the user, as it was when the access token was made; empty for a user who is not logged in.
  public var customData: Document { content.withLock { $0.access?.customData ?? [:] } }
  /// Proves to the server who asks; nil for a user who is not logged in. It ends after a short time, and may have ended. Who has it can do what the user
  /// can do: it belongs into no log.
  public var accessToken: String? { content.withLock { $0.access?.text } }
  /// Gets new access tokens; nil for a user who is not logged in. Who has it can do what the user can do: it belongs into no log.
  public var refreshToken: String? {
    content.withLock { $0.refreshToken.isEmpty ? nil : $0.refreshToken }
  }
  /// Makes and changes API keys of the user, who is to be logged in and to have more than an anonymous identity.
  public var apiKeysAuth: APIKeyAuth { APIKeyAuth(self) }

  /// The user has no other way to log in, and so can't log in again.
  var isAnonymous: Bool {
    let identities = self.identities
    return !identities.isEmpty
      && identities.allSatisfy { $0.providerType == Provider.anonymous.rawValue }
  }

  /// Keeps in mind that a file belongs to the user, so that it goes when the user is removed.
  func note(realmPath path: String) {
    let stored = app.paths.stored(path)
    let isNew = content.withLock { content -> Bool in
      guard content.state != .removed else { return false }
      return content.realmPaths.insert(stored).inserted
    }
    if isNew { app.metadata.save(self) }
  }

  // MARK: - The end of a log-in

  /// Erases the tokens. Answers the refresh token; nil where the user was not logged in.
  ///
  /// - Parameter isMeant: whether the log-in is the one that is to end. Called under the lock.
  func endLogIn(as state: RLMUserState, where isMeant: (UserContent) -> Bool = { _ in true }) -> String? {
    content.withLock { content -> String? in
      guard content.state == .loggedIn, isMeant(content) else { return nil }
      let token = content.refreshToken
      content.end(as: state)
      return token
    }
  }

  /// Logs the user out. An anonymous user is removed by it: nobody could log in as that user again. Files and realms of other users stay as
  /// they are; realms of this one stop syncing, and go on with the next log-in. Does nothing to a user who is logged out.
  ///
  /// - Throws: `AppError` where the server can't be told. The user is logged out here all the same; the log-in ends on the server when its refresh
  ///   token does.
  public func logOut() async throws {
    let app = self.app
    let state: RLMUserState = isAnonymous ? .removed : .loggedOut
    guard let token = endLogIn(as: state) else {
      if self.state == .removed { throw AppError.removed(id) }
      return
    }
    if state == .removed { app.didRemove(self) } else { app.didLogOut(self) }
    _ = try await app.calls.send(.logOut, token: token).content()
  }

  /// The form of `logOut()` that calls `completion`.
  public func logOut(completion: @escaping @Sendable ((any Error)?) -> Void) {
    App.telling(completion) { try await self.logOut() }
  }

  /// Removes the user from the app on this device, and logs the user out. Its files are deleted when the app is started the next time: realms that are open stay
  /// usable until then. A file with changes that were not uploaded is not deleted but put into the folder `recovered-realms`.
  ///
  /// - Throws: `AppError.unknown` for a user who is removed already; as `logOut()`, when the user is removed all the same.
  public func remove() async throws {
    let app = self.app
    let (wasThere, token) = content.withLock { content -> (Bool, String?) in
      guard content.state != .removed else { return (false, nil) }
      let token = content.state == .loggedIn ? content.refreshToken : nil
      content.end(as: .removed)
      return (true, token)
    }
    guard wasThere else { throw AppError.removed(id) }
    app.didRemove(self)
    guard let token else { return }
    _ = try await app.calls.send(.logOut, token: token).content()
  }

  /// The form of `remove()` that calls `completion`.
  public func remove(completion: @escaping @Sendable ((any Error)?) -> Void) {
    App.telling(completion) { try await self.remove() }
  }

  /// Deletes the user on the server, and then removes the user from the app, with its files: at once where no realm of them is open, else when
  /// the app is started the next time. A file with changes that were not uploaded is not deleted but put into the folder `recovered-realms`.
  ///
  /// - Throws: `AppError`; nothing has changed then. The user has to be logged in.
  public func delete() async throws {
    let app = self.app
    _ = try await send(.deleteUser).content()
    content.withLock { $0.end(as: .removed) }
    app.didRemove(self)
    app.removeFiles(of: self)
  }

  /// The form of `delete()` that calls `completion`.
  public func delete(completion: @escaping @Sendable ((any Error)?) -> Void) {
    App.telling(completion) { try await self.delete() }
  }
}

extension User: Hashable {
  /// Whether both are the same object: there is one for each user of an app.
  public static func == (left: User, right: User) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
