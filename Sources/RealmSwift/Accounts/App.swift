import Dispatch
import Foundation
import Synchronization

/// An app, as its server knows it: who is logged in, and what is synced.
///
///     let app = App(id: "notes", configuration: AppConfiguration(baseURL: "https://sync.example.org"))
///     let user = try await app.login(credentials: .emailPassword(email: email, password: password))
///
/// There is one object for each id in a process. Who was logged in when the program ended is logged in when it begins. What calls back is called on a queue
/// of its own, `realm.app.callbacks`.
///
/// Only one process at a time should use an app: others do not see who logs in meanwhile.
public final class App: Sendable {
  struct Users {
    /// Those that are not removed, in the order of their first log-in.
    var all: [User] = []
    /// Of whom the app says that they are the current one; they may be logged out.
    var current: String?
    /// What the server calls this device.
    var device: String?
    /// The numbers of files that are gone, and of which the server is to be told, by the ids of their users.
    var gone: [String: Set<UInt64>] = [:]
  }

  /// The id by which the server knows the app.
  public let appId: String
  /// What all sessions of the app have in common.
  public let syncManager: SyncManager
  let settings: AppSettings
  let paths: SyncPaths
  let metadata: AppMetadata
  let calls: ServerCalls
  // The lock of a user may be taken under it, and never the reverse.
  let users = Mutex(Users())

  /// An app that there is not yet in this process. Files that are to go are deleted.
  ///
  /// - Precondition: the id is one that `checkID` lets pass.
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

  /// A copy of what the app was made with.
  public var configuration: AppConfiguration { AppConfiguration(settings) }

  /// The address of the server, without a slash at the end: that of the configuration, or what `updateBaseUrl(to:)` has set.
  public var baseURL: String { calls.base }

  /// Registers users that log in by an e-mail address and a password.
  public var emailPasswordAuth: EmailPasswordAuth { EmailPasswordAuth(self) }

  /// Changes the address of the server, if there is a server at the new one. Realms that are synced go on there; what they have
  /// comes from another server, so that they are reset to what the new one has.
  ///
  /// - Parameter url: an address that begins with `https://` or `http://`. Nil and an empty text stand for the default, at which there is no server.
  /// - Throws: `AppError` where no server answers there. The address is the one before then.
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

  /// All users that have logged in on this device and were not removed since, by their ids. Some of them may be logged out.
  public var allUsers: [String: User] {
    users.withLock { users in Dictionary(users.all.map { ($0.id, $0) }, uniquingKeysWith: { $1 }) }
  }

  /// The user who logged in last, or was made the current one by `switch(to:)`. If that user is not logged in any more, another one is the current user
  /// who is; nil where nobody is logged in. It needs no network.
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

  /// Makes a user the current one. Nobody is logged out by it, and the realms of all users go on syncing.
  ///
  /// - Precondition: the user is logged in to this app.
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

  /// The user has no tokens any more.
  func didLogOut(_ user: User, because reason: String? = nil) {
    metadata.save(user)
    user.sync.withLock { $0 }?.userDidLogOut(because: reason)
  }

  /// The user is removed.
  func didRemove(_ user: User) {
    users.withLock { users in
      users.all.removeAll { $0 === user }
      if users.current == user.id { users.current = nil }
    }
    metadata.save(user)
    user.sync.withLock { $0 }?.userWasRemoved()
  }

  /// Deletes the files of a removed user, as far as they are not open.
  func removeFiles(of user: User) { FileActions(metadata, paths).removeFiles(ofUser: user.id) }

  /// Lets something be done with a file when the app is started the next time.
  func add(_ action: FileAction) { metadata.add(action.stored(paths)) }

  /// Does not let it be done any more.
  func withdraw(_ action: FileAction) { metadata.remove(action.stored(paths)) }

  /// Does it now, unless somebody has the file open; answers whether it is done.
  func perform(_ action: FileAction) -> Bool { FileActions(metadata, paths).perform(action.stored(paths)) }

  // MARK: - Calling back

  static let callbacks = DispatchQueue(label: "realm.app.callbacks")

  /// Does something, and calls `completion` with what came of it.
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

  /// Does something, and calls `completion` with why it did not succeed; nil where it did.
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
