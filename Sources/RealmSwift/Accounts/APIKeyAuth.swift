/// An API key of a user.
public final class UserAPIKey: Sendable {
  /// The id that the server gave the key. `APIKeyAuth` takes it to fetch, enable, disable and delete the key.
  public let objectId: ObjectId
  /// The name that the user gave the key.
  public let name: String
  /// Whether the key is disabled. Nobody can log in with a disabled key.
  public let disabled: Bool
  /// The text of the key, with which somebody logs in: `Credentials.userAPIKey`. Only the answer to `createAPIKey(named:)` has
  /// it; nil in every other answer. Do not write it into a log.
  public let key: String?

  fileprivate init(_ answer: APIKeyAnswer, _ id: ObjectId) {
    (objectId, name, disabled, key) = (id, answer.name, answer.disabled ?? false, answer.key)
  }
}

/// The JSON object with which a server describes an API key.
private struct APIKeyAnswer: Decodable {
  let id: String
  let name: String
  let disabled: Bool?
  let key: String?

  private enum CodingKeys: String, CodingKey {
    case name, disabled, key
    case id = "_id"
  }
}

extension UserAPIKey {
  /// Reads one key from a server's answer.
  ///
  /// - Throws: `AppError` if the answer is an error or does not describe a key.
  package static func one(of answer: ServerAnswer) throws -> UserAPIKey {
    try make(answer.content(as: APIKeyAnswer.self), answer)
  }

  /// Reads a list of keys from a server's answer.
  ///
  /// - Throws: `AppError` if the answer is an error or is not a list of keys.
  package static func all(of answer: ServerAnswer) throws -> [UserAPIKey] {
    try answer.content(as: [APIKeyAnswer].self).map { try make($0, answer) }
  }

  private static func make(_ key: APIKeyAnswer, _ answer: ServerAnswer) throws -> UserAPIKey {
    guard let id = try? ObjectId(string: key.id) else { throw answer.notUnderstood }
    return UserAPIKey(key, id)
  }
}

/// Makes and changes API keys of a user: `User.apiKeysAuth`. The user has to be logged in, and to have another identity than an
/// anonymous one.
///
/// Whoever has a key can log in as the user: `Credentials.userAPIKey`.
///
/// All methods throw `AppError`, or pass it to their `completion`: `.valueNotFound` if there is no such key, `.unknown` if the
/// user is not logged in. They call `completion` once, on the queue `realm.app.callbacks`.
public final class APIKeyAuth: RLMProviderClient, @unchecked Sendable {
  // Sendable: it never changes, as its superclass requires.
  private let user: User

  init(_ user: User) {
    self.user = user
    super.init(user.app)
  }

  private func key(_ call: ServerCall) async throws -> UserAPIKey {
    try UserAPIKey.one(of: await user.send(call))
  }

  private func tell(_ call: ServerCall) async throws { _ = try await user.send(call).content() }

  // MARK: - Making and finding

  /// Makes a key on the server.
  ///
  /// - Returns: the key with its text. The server never tells the text again, so keep it.
  /// - Throws: `AppError`: `.apiKeyAlreadyExists` if another key of the user has the name.
  public func createAPIKey(named name: String) async throws -> UserAPIKey {
    try await key(.createAPIKey(name))
  }

  /// The form of `createAPIKey(named:)` that calls `completion`.
  public func createAPIKey(
    named name: String, completion: @escaping @Sendable (Result<UserAPIKey, any Error>) -> Void
  ) {
    App.answering(completion) { try await self.createAPIKey(named: name) }
  }

  /// Fetches the key with an id. The answer does not have the text of the key.
  ///
  /// - Throws: `AppError`: `.valueNotFound` if there is no such key.
  public func fetchAPIKey(_ objectId: ObjectId) async throws -> UserAPIKey {
    try await key(.apiKey(.get, objectId))
  }

  /// The form of `fetchAPIKey(_:)` that calls `completion`.
  public func fetchAPIKey(
    _ objectId: ObjectId, _ completion: @escaping @Sendable (Result<UserAPIKey, any Error>) -> Void
  ) {
    App.answering(completion) { try await self.fetchAPIKey(objectId) }
  }

  /// The form of `fetchAPIKey(_:)` that calls `completion` with a key or an error.
  public func fetchAPIKey(
    _ objectId: ObjectId, completion: @escaping @Sendable (UserAPIKey?, (any Error)?) -> Void
  ) {
    fetchAPIKey(objectId) { (result: Result<UserAPIKey, any Error>) in
      switch result {
      case .success(let key): completion(key, nil)
      case .failure(let error): completion(nil, error)
      }
    }
  }

  /// Fetches all keys of the user. The answer does not have the texts of the keys.
  ///
  /// - Throws: `AppError`.
  public func fetchAPIKeys() async throws -> [UserAPIKey] {
    try UserAPIKey.all(of: await user.send(.apiKeys))
  }

  /// The form of `fetchAPIKeys()` that calls `completion`.
  public func fetchAPIKeys(
    _ completion: @escaping @Sendable (Result<[UserAPIKey], any Error>) -> Void
  ) {
    App.answering(completion) { try await self.fetchAPIKeys() }
  }

  /// The form of `fetchAPIKeys()` that calls `completion` with keys or an error.
  public func fetchAPIKeys(
    completion: @escaping @Sendable ([UserAPIKey]?, (any Error)?) -> Void
  ) {
    fetchAPIKeys { (result: Result<[UserAPIKey], any Error>) in
      switch result {
      case .success(let keys): completion(keys, nil)
      case .failure(let error): completion(nil, error)
      }
    }
  }

  // MARK: - Changing

  /// Deletes a key on the server. Nobody can log in with it any more.
  ///
  /// - Throws: `AppError`: `.valueNotFound` if there is no such key.
  public func deleteAPIKey(_ objectId: ObjectId) async throws { try await tell(.apiKey(.delete, objectId)) }

  /// The form of `deleteAPIKey(_:)` that calls `completion`.
  public func deleteAPIKey(
    _ objectId: ObjectId, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.deleteAPIKey(objectId) }
  }

  /// Enables a disabled key, so that the user can log in with it again.
  ///
  /// - Throws: `AppError`: `.valueNotFound` if there is no such key.
  public func enableAPIKey(_ objectId: ObjectId) async throws {
    try await tell(.apiKey(.put, objectId, "enable"))
  }

  /// The form of `enableAPIKey(_:)` that calls `completion`.
  public func enableAPIKey(
    _ objectId: ObjectId, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.enableAPIKey(objectId) }
  }

  /// Disables a key: nobody can log in with it until `enableAPIKey(_:)` is called for it.
  ///
  /// - Throws: `AppError`: `.valueNotFound` if there is no such key.
  public func disableAPIKey(_ objectId: ObjectId) async throws {
    try await tell(.apiKey(.put, objectId, "disable"))
  }

  /// The form of `disableAPIKey(_:)` that calls `completion`.
  public func disableAPIKey(
    _ objectId: ObjectId, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.disableAPIKey(objectId) }
  }
}
