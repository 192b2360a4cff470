/// An API key of a user.
public final class UserAPIKey: Sendable {
  /// By which it is found.
  public let objectId: ObjectId
  /// What the user has named it.
  public let name: String
  /// Nobody can log in with it now.
  public let disabled: Bool
  /// What somebody logs in with: `Credentials.userAPIKey`. It is told once, when the key is made, and nil ever after. It belongs into no log.
  public let key: String?

  fileprivate init(_ answer: APIKeyAnswer, _ id: ObjectId) {
    (objectId, name, disabled, key) = (id, answer.name, answer.disabled ?? false, answer.key)
  }
}

/// What a server answers of an API key.
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
  /// The key that a server answers.
  ///
  /// - Throws: `AppError` where it is none.
  package static func one(of answer: ServerAnswer) throws -> UserAPIKey {
    try make(answer.content(as: APIKeyAnswer.self), answer)
  }

  /// The keys that a server answers.
  ///
  /// - Throws: `AppError` where it is no list of keys.
  package static func all(of answer: ServerAnswer) throws -> [UserAPIKey] {
    try answer.content(as: [APIKeyAnswer].self).map { try make($0, answer) }
  }

  private static func make(_ key: APIKeyAnswer, _ answer: ServerAnswer) throws -> UserAPIKey {
    guard let id = try? ObjectId(string: key.id) else { throw answer.notUnderstood }
    return UserAPIKey(key, id)
  }
}

/// Makes and changes API keys of a user: `User.apiKeysAuth`. The user has to be logged in, and to have more than an anonymous identity.
///
/// Who has a key can log in as the user: `Credentials.userAPIKey`. All of it throws `AppError`: `.valueNotFound` where there is no such key.
public final class APIKeyAuth: RLMProviderClient, @unchecked Sendable {
  // Sendable: as of `RLMProviderClient`.
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

  /// Makes a key. Its text is told by the answer alone: keep it.
  ///
  /// - Throws: `AppError`: `.apiKeyAlreadyExists` for a name that another key of the user has.
  public func createAPIKey(named name: String) async throws -> UserAPIKey {
    try await key(.createAPIKey(name))
  }

  /// The form of `createAPIKey(named:)` that calls `completion`.
  public func createAPIKey(
    named name: String, completion: @escaping @Sendable (Result<UserAPIKey, any Error>) -> Void
  ) {
    App.answering(completion) { try await self.createAPIKey(named: name) }
  }

  /// A key by its id, without its text.
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

  /// All keys of the user, without their texts.
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

  /// Deletes a key. Nobody can log in with it any more.
  public func deleteAPIKey(_ objectId: ObjectId) async throws { try await tell(.apiKey(.delete, objectId)) }

  /// The form of `deleteAPIKey(_:)` that calls `completion`.
  public func deleteAPIKey(
    _ objectId: ObjectId, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.deleteAPIKey(objectId) }
  }

  /// Lets a key be used again.
  public func enableAPIKey(_ objectId: ObjectId) async throws {
    try await tell(.apiKey(.put, objectId, "enable"))
  }

  /// The form of `enableAPIKey(_:)` that calls `completion`.
  public func enableAPIKey(
    _ objectId: ObjectId, completion: @escaping EmailPasswordAuthOptionalErrorBlock
  ) {
    App.telling(completion) { try await self.enableAPIKey(objectId) }
  }

  /// Lets nobody log in with a key until it is enabled again.
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
