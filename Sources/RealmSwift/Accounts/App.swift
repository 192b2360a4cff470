import Dispatch
import Foundation
import Synchronization

/// An app of a sync server. It logs users in, and gives access to the users that are logged in.
///
///     let app = App(id: "notes", configuration: AppConfiguration(baseURL: "https://sync.example.org"))
///     let user = try await app.login(credentials: .emailPassword(email: email, password: password))
///
/// A process has one object for each id. Users who were logged in when the program ended are logged in when it starts again. All
/// `completion` closures of an app and its users are called on the dispatch queue `realm.app.callbacks`.
///
/// Only one process at a time should use an app: a process does not see the log-ins of another one.
public final class App: Sendable {
  struct Users {
    /// The users that are not removed, in the order of their first log-in.
    var all: [User] = []
    /// The id of the current user. That user may be logged out.
    var current: String?
    /// The id that the server gave this device; nil before the first log-in.
    var device: String?
    /// The numbers of deleted files of which the server has not been told yet, by the ids of their users.
    var gone: [String: Set<UInt64>] = [:]
  }

  /// The id by which the server knows the app.
  public let appId: String
  /// The settings that all sync sessions of the app share, such as the error handler, headers and timeouts.
  public let syncManager: SyncManager
  let settings: AppSettings
  let paths: SyncPaths
  let metadata: AppMetadata
  let calls: ServerCalls
  // A thread that holds this lock may take the lock of a user. A thread that holds the lock of a user must not take this one.
  let users = Mutex(Users())

  /// Makes an app that this process does not have yet. If no other process uses the app, this carries out the stored
  /// actions for files and deletes the files of removed users.
  ///
  /// - Precondition: the id is one that `checkID` accepts.
  init(id: String, opening settings: AppSettings) {
    appId = id
    self.settings = settings
    paths = SyncPaths(settings.rootDirectory, appID: id)
    metadata = AppMetadata.open(paths, key: settings.metadataKey)
    let manager = SyncManager()
    syncManager = manager
    calls = ServerCalls(id, settings, manager)
    if metadata.isAlone { FileActions(metadata, paths).run() }
    let known = metadata.known()
    let all = known.users.map { User($0.id, self, $0.content) }
    users.withLock { users in
      (users.all, users.current, users.device) = (all, known.current, known.device)
      users.gone = known.gone
    }
  }

  // MARK: - What it is

  /// The configuration of the app. It is a copy: changing it does not change the app.
  public var configuration: AppConfiguration { AppConfiguration(settings) }

  /// The address of the server, without a slash at the end: that of the configuration, or what `updateBaseUrl(to:)` has set.
  public var baseURL: String { calls.base }

  /// Registers users that log in by an e-mail address and a password.
  public var emailPasswordAuth: EmailPasswordAuth { EmailPasswordAuth(self) }

  /// Changes the address of the server, after a server has answered at the new address. Synced realms continue with that server.
  /// Since their data comes from another server, they are reset to the data of the new one.
  ///
  /// - Parameter url: an address that begins with `https://` or `http://`. Nil and an empty text stand for the default address,
  ///   at which there is no server.
  /// - Throws: `AppError` if no server answers at the address. The app keeps its former address then.
  @_spi(RealmSwiftExperimental)
  public func updateBaseUrl(to url: String?) async throws {
    let url = url.flatMap { $0.isEmpty ? nil : $0 } ?? AppConfiguration.defaultBaseURL
    try await calls.move(to: url)
    for user in users.withLock({ $0.all }) { user.sync.withLock { $0 }?.routeDidChange() }
  }

  /// The form of `updateBaseUrl(to:)` that calls `completion`.
  @_spi(RealmSwiftExperimental)
  public func updateBaseUrl(
    to url: String?, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    App.answering(completion) { try await self.updateBaseUrl(to: url) }
  }

  // MARK: - Users

  /// The users that have logged in on this device and were not removed since, by their ids. Some of them may be logged out.
  public var allUsers: [String: User] {
    users.withLock { users in Dictionary(users.all.map { ($0.id, $0) }, uniquingKeysWith: { $1 }) }
  }

  /// The user who logged in last, or whom `switch(to:)` made the current one. If that user has logged out, another user that is
  /// logged in becomes the current one; nil if nobody is logged in. Reading it needs no network.
  public var currentUser: User? {
    let (current, isNew) = users.withLock { users -> (User?, Bool) in
      if let current = users.all.first(where: { $0.id == users.current }), current.isLoggedIn {
        return (current, false)
      }
      guard let other = users.all.first(where: { $0.isLoggedIn }) else { return (nil, false) }
      users.current = other.id
      return (other, true)
    }
    if isNew { metadata.setCurrent(current?.id) }
    return current
  }

  /// Makes a user the current one. Other users stay logged in, and the realms of all users go on syncing.
  ///
  /// - Returns: the user.
  /// - Precondition: the user is logged in, and belongs to this app. Otherwise the program stops.
  @discardableResult
  public func `switch`(to user: User) -> User {
    guard user.app === self else {
      raise("Invalid user", "the user \(user.id) is one of another app than \(appId): log in to this one.")
    }
    guard user.isLoggedIn else {
      raise(
        "Invalid user",
        "App.switch(to:): the user \(user.id) is not logged in. Log in by App.login(credentials:).")
    }
    makeCurrent(user)
    return user
  }

  func makeCurrent(_ user: User) {
    users.withLock { $0.current = user.id }
    metadata.setCurrent(user.id)
  }

  /// Stores that the user has logged out, and tells the sync sessions of the user.
  ///
  /// - Parameter reason: why the server has ended the log-in; nil if the app logged the user out.
  func didLogOut(_ user: User, because reason: String? = nil) {
    metadata.save(user)
    user.sync.withLock { $0 }?.userDidLogOut(because: reason)
  }

  /// Takes a removed user off the list, stores that, and tells the sync sessions of the user.
  func didRemove(_ user: User) {
    users.withLock { users in
      users.all.removeAll { $0 === user }
      if users.current == user.id { users.current = nil }
    }
    metadata.save(user)
    user.sync.withLock { $0 }?.userWasRemoved()
  }

  /// Deletes the files of a removed user that are not open. The others are deleted when the app is started the next time.
  func removeFiles(of user: User) { FileActions(metadata, paths).removeFiles(ofUser: user.id) }

  /// Stores an action for a file. It is carried out when the app is started the next time.
  func add(_ action: FileAction) { metadata.add(action.stored(paths)) }

  /// Removes an action that `add(_:)` has stored.
  func withdraw(_ action: FileAction) { metadata.remove(action.stored(paths)) }

  /// Carries out an action for a file now, unless the file is open.
  ///
  /// - Returns: whether the action is done.
  func perform(_ action: FileAction) -> Bool { FileActions(metadata, paths).perform(action.stored(paths)) }

  // MARK: - Calling back

  static let callbacks = DispatchQueue(label: "realm.app.callbacks")

  /// Runs `body` in a task, and calls `completion` with its result, on `callbacks`.
  static func answering<Answer: Sendable>(
    _ completion: @escaping @Sendable (Result<Answer, any Error>) -> Void,
    _ body: @escaping @Sendable () async throws -> Answer
  ) {
    Task {
      let result: Result<Answer, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      callbacks.async { completion(result) }
    }
  }

  /// Runs `body` in a task, and calls `completion` with the error that it has thrown; with nil if it has thrown none. The call is
  /// made on `callbacks`.
  static func telling(
    _ completion: @escaping @Sendable ((any Error)?) -> Void,
    _ body: @escaping @Sendable () async throws -> Void
  ) {
    answering({ (result: Result<Void, any Error>) in
      switch result {
      case .success: completion(nil)
      case .failure(let error): completion(error)
      }
    }) { try await body() }
  }
}
