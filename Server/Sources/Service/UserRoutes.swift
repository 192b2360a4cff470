import Accounts
import Front

/// Answers the requests of users who have a token. The address does not say which app the user belongs to; the token
/// does.
struct UserRoutes {
  let apps: [String: ServedApp]

  static let noToken = AccountError(
    code: .invalidSession, message: "A token is needed in the header 'Authorization'. Log in.")

  /// Calls `body` with the accounts of the app that accepts the token.
  private func with<Result>(_ body: (Accounts) async throws -> Result) async throws -> Result {
    var failure: any Error = Self.noToken
    for app in apps.values.sorted(by: { $0.id < $1.id }) {
      do {
        return try await body(app.accounts)
      } catch let error as AccountError where error.code == .invalidSession {
        failure = error
      }
    }
    throw failure
  }

  func respond(_ request: HTTPRequest, _ path: [String]) async throws -> HTTPResponse {
    guard let token = request.bearer else { throw Self.noToken }
    switch (request.method, path) {
    case ("POST", ["session"]):
      return .json(["access_token": try await with { try await $0.refresh(token) }], status: 201)
    case ("DELETE", ["session"]):
      try await with { try await $0.logOut(token) }
      return HTTPResponse(status: 204)
    case (_, ["session"]): return ErrorResponse.notAllowed("POST, DELETE")
    default: break
    }
    let (accounts, access) = try await with { ($0, try await $0.verify(token)) }
    switch (request.method, path.first, path.count) {
    case ("GET", "profile", 1): return .json(Profile(access.account))
    case ("DELETE", "delete", 1):
      try await accounts.deleteUser(access.userID)
      return HTTPResponse(status: 204)
    case (_, "profile", 1): return ErrorResponse.notAllowed("GET")
    case (_, "delete", 1): return ErrorResponse.notAllowed("DELETE")
    case (_, "api_keys", _):
      return try await KeyRoutes(accounts: accounts, user: access.userID).respond(
        request, Array(path.dropFirst()))
    default: return ErrorResponse.notFound
    }
  }

  private struct Profile: Encodable {
    struct Identity: Encodable {
      let id: String
      let provider: String

      private enum CodingKeys: String, CodingKey {
        case id
        case provider = "provider_type"
      }
    }

    struct Data: Encodable { let email: String? }

    let user: String
    let identities: [Identity]
    let data: Data
    let type = "normal"

    private enum CodingKeys: String, CodingKey {
      case identities, data, type
      case user = "user_id"
    }

    init(_ account: Account) {
      user = account.id
      identities = account.identities.map { Identity(id: $0.id, provider: $0.provider.rawValue) }
      data = Data(email: account.email)
    }
  }
}

/// Answers the requests about the API keys of a user.
struct KeyRoutes {
  let accounts: Accounts
  let user: String

  private struct Key: Encodable {
    let id: String
    let name: String
    let disabled: Bool
    let key: String?

    private enum CodingKeys: String, CodingKey {
      case name, disabled, key
      case id = "_id"
    }

    init(_ key: Accounts.APIKey, text: String? = nil) {
      (id, name, disabled, self.key) = (key.id, key.name, key.isDisabled, text)
    }
  }

  func respond(_ request: HTTPRequest, _ path: [String]) async throws -> HTTPResponse {
    switch (request.method, path.count) {
    case ("GET", 0): return .json(try await accounts.apiKeys(of: user).map { Key($0) })
    case ("POST", 0):
      let made = try await accounts.createAPIKey(name: try RequestBody(request.body).text("name"), for: user)
      return .json(Key(made.info, text: made.key), status: 201)
    case ("GET", 1): return .json(Key(try await accounts.apiKey(path[0], of: user)))
    case ("DELETE", 1): try await accounts.deleteAPIKey(path[0], of: user)
    case ("PUT", 2) where path[1] == "enable": try await accounts.enableAPIKey(path[0], of: user)
    case ("PUT", 2) where path[1] == "disable": try await accounts.disableAPIKey(path[0], of: user)
    case (_, 0): return ErrorResponse.notAllowed("GET, POST")
    case (_, 1): return ErrorResponse.notAllowed("GET, DELETE")
    default: return ErrorResponse.notFound
    }
    return HTTPResponse(status: 204)
  }
}
