import RealmSyncClient
import Synchronization

/// Receives what happens to a user, for the sessions of the user's realms. Any thread may call it, and the caller holds no lock
/// of the user.
protocol UserSync: AnyObject, Sendable {
  /// The user has logged in, possibly again.
  func userDidLogIn()
  /// The user was logged out by the app or by the server.
  ///
  /// - Parameter reason: why the server has ended the log-in; nil if the app logged the user out.
  func userDidLogOut(because reason: String?)
  /// The user was removed from the app. Its files are about to be deleted.
  func userWasRemoved()
  /// The address of the server has changed.
  func routeDidChange()
}

/// The state of a user: logged out, logged in or removed. The numbers are stable.
public enum RLMUserState: UInt, Sendable {
  /// The user has no tokens. The realms of the user can be read and written; changes are uploaded after the next log-in.
  case loggedOut = 0
  /// The user has tokens.
  case loggedIn = 1
  /// The user was removed from the app on this device. The files of the user are deleted.
  case removed = 2
}

/// The data that an app has about a user.
struct UserContent: Sendable {
  /// The state of the user. It is `.loggedIn` exactly if there is an access token.
  var state = RLMUserState.loggedOut
  var access: AccessToken?
  var refreshToken = ""
  var identities: [RLMUserIdentity] = []
  var profile: Document = [:]
  /// The paths of all files that were configured for the user, in the form in which `SyncPaths` stores them.
  var realmPaths: Set<String> = []
  /// The running request for a new access token.
  var refreshing: Task<Void, any Error>?

  mutating func begin(_ logIn: LogInAnswer, _ profile: ProfileAnswer) {
    (access, refreshToken, state) = (logIn.access, logIn.refreshToken, .loggedIn)
    (identities, self.profile) = (profile.identities, profile.data)
  }

  mutating func end(as state: RLMUserState) {
    (access, refreshToken, self.state) = (nil, "", state)
  }
}

/// A user who has logged in to an app. An `App` has one object for each of its users.
///
/// A user stays logged in when the program ends, and can open realms without a network.
public final class User: Sendable {
  /// The id that the server gave the user. It never changes.
  public let id: String
  let content: Mutex<UserContent>
  /// The receiver of what happens to the user; nil until `UserSessions.of(_:)` makes it.
  let sync = Mutex<(any UserSync)?>(nil)
  /// The app of the user. The reference is weak because the app keeps its users.
  private weak let owner: App?

  init(_ id: String, _ app: App, _ content: UserContent = UserContent()) {
    self.id = id
    owner = app
    self.content = Mutex(content)
  }

  /// The app of the user; nil if it does not exist any more.
  var appIfThere: App? { owner }

  /// The app of the user.
  ///
  /// - Precondition: the app still exists. Otherwise the program stops.
  var app: App {
    guard let owner else { raise("App is gone", "the user \(id) is used after its App: keep the App.") }
    return owner
  }

  // MARK: - What is known

  /// The state of the user.
  public var state: RLMUserState { content.withLock { $0.state } }
  /// Whether `state` is `.loggedIn`.
  public var isLoggedIn: Bool { state == .loggedIn }
  /// The ways in which the user can log in, as the server told them at the last log-in on this device.
  public var identities: [RLMUserIdentity] { content.withLock { $0.identities } }
  /// What the server told about the user at the last log-in on this device.
  public var profile: UserProfile { UserProfile(content.withLock { $0.profile }) }
  /// The custom data that the server keeps for the user, as it was when the access token was made; empty if the user is not
  /// logged in. `refreshCustomData()` reads it anew.
  public var customData: Document { content.withLock { $0.access?.customData ?? [:] } }
  /// The token that proves to the server who sends a request; nil if the user is not logged in. It is valid for a short time, and
  /// may have expired already. Whoever has it can act as the user, so do not write it into a log.
  public var accessToken: String? { content.withLock { $0.access?.text } }
  /// The token with which new access tokens are requested; nil if the user is not logged in. Whoever has it can act as the user,
  /// so do not write it into a log.
  public var refreshToken: String? {
    content.withLock { $0.refreshToken.isEmpty ? nil : $0.refreshToken }
  }
  /// Makes and changes API keys of the user. The user has to be logged in, and to have another identity than an anonymous one.
  public var apiKeysAuth: APIKeyAuth { APIKeyAuth(self) }

  /// Whether all identities of the user are anonymous, so that the user can't log in again.
  var isAnonymous: Bool {
    let identities = self.identities
    return !identities.isEmpty
      && identities.allSatisfy { $0.providerType == Provider.anonymous.rawValue }
  }

  /// Notes that a file belongs to the user, so that it is deleted when the user is removed.
  func note(realmPath path: String) {
    let stored = app.paths.stored(path)
    let isNew = content.withLock { content -> Bool in
      guard content.state != .removed else { return false }
      return content.realmPaths.insert(stored).inserted
    }
    if isNew { app.metadata.save(self) }
  }

  // MARK: - The end of a log-in

  /// Erases the tokens of the user.
  ///
  /// - Parameter isMeant: whether the present log-in is the one that is to end. It is called under the lock.
  /// - Returns: the refresh token; nil if the user was not logged in or another log-in was meant.
  func endLogIn(as state: RLMUserState, where isMeant: (UserContent) -> Bool = { _ in true }) -> String? {
    content.withLock { content -> String? in
      guard content.state == .loggedIn, isMeant(content) else { return nil }
      let token = content.refreshToken
      content.end(as: state)
      return token
    }
  }

  /// Logs the user out. Files, and realms of other users, stay as they are. Realms of this user stop syncing, and continue after
  /// the next log-in. A user with only anonymous identities is removed, since nobody could log in as that user again. If the user
  /// is logged out already, nothing happens.
  ///
  /// - Throws: `AppError` if the server can't be told, or if the user was removed before. In the first case the user is logged
  ///   out on this device all the same, and the log-in ends on the server when its refresh token expires.
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

  /// Logs the user out, and removes the user from the app on this device. The files of the user are deleted when the app is
  /// started the next time: open realms can be used until then. A file with changes that were not uploaded is not deleted but
  /// moved to the folder `recovered-realms`.
  ///
  /// - Throws: `AppError`: `.unknown` if the user is removed already; another one if the server can't be told. In that case the
  ///   user is removed all the same.
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

  /// Deletes the user on the server, and removes the user from the app on this device. The files of the user are deleted: those
  /// that are not open at once, the others when the app is started the next time. A file with changes that were not uploaded is
  /// not deleted but moved to the folder `recovered-realms`.
  ///
  /// - Throws: `AppError`: `.unknown` if the user is not logged in, and other errors of the request. Nothing has changed then.
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
  /// Whether both are the same object. An app has one object for each user.
  public static func == (left: User, right: User) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
