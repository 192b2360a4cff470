import Accounts
import Front
import Logging

/// Answers the requests of clients (docs/sync-protocol.md, "Log-in and connections").
public struct ServerRoutes: HTTPService, SocketService {
  /// The subprotocol of WebSockets that the server speaks.
  static let subprotocol = "realm-sync.1"
  /// The beginning of the entry in the list of subprotocols that gives the access token.
  static let tokenPrefix = "realm-token."

  private let apps: [String: ServedApp]
  /// The address that clients are told, as in `https://sync.example.org`. If it is nil, they are told the address that
  /// they asked.
  private let publicAddress: String?
  private let isSecure: Bool
  private let logger: Logger

  public init(_ apps: [ServedApp], publicAddress: String?, isSecure: Bool, logger: Logger) {
    self.apps = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0) })
    (self.publicAddress, self.isSecure, self.logger) = (publicAddress, isSecure, logger)
  }

  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.path.starts(with: ["api", "client", "v2.0"]) else { return ErrorResponse.notFound }
    let path = request.path.dropFirst(3)
    do {
      switch path.first {
      case "app":
        guard path.count > 2, let app = apps[path[path.startIndex + 1]] else { return Self.noApp }
        return try await respond(request, app, Array(path.dropFirst(2)))
      case "auth": return try await UserRoutes(apps: apps).respond(request, Array(path.dropFirst()))
      default: return ErrorResponse.notFound
      }
    } catch {
      return ErrorResponse.make(error, logger)
    }
  }

  private static let noApp = ErrorResponse.response(
    "AppNotFound", "The server has no app of this id. Look at the id that the program gives.", status: 404)

  public func accept(_ request: HTTPRequest, protocols: [String]) async -> SocketDecision {
    let path = request.path
    guard path.count == 6, path.starts(with: ["api", "client", "v2.0", "app"]), path[5] == "realm-sync" else {
      return .refuse(ErrorResponse.notFound)
    }
    guard let app = apps[path[4]] else { return .refuse(Self.noApp) }
    guard protocols.contains(Self.subprotocol) else {
      let text = "The server speaks '\(Self.subprotocol)'. Use a client that does."
      return .refuse(ErrorResponse.response("BadRequest", text, status: 400))
    }
    let listed = protocols.first { $0.hasPrefix(Self.tokenPrefix) }.map {
      $0.dropFirst(Self.tokenPrefix.count)
    }
    guard let token = listed.map(String.init) ?? request.bearer else {
      return .refuse(
        ErrorResponse.response("InvalidSession", "An access token is needed. Log in.", status: 401))
    }
    return await app.accept(token: token)
  }

  // MARK: - Requests of an app

  private func respond(_ request: HTTPRequest, _ app: ServedApp, _ path: [String]) async throws
    -> HTTPResponse
  {
    switch path {
    case ["location"]:
      guard request.method == "GET" else { return ErrorResponse.notAllowed("GET") }
      return location(request, app)
    case ["functions", "call"]:
      return ErrorResponse.response("FunctionNotFound", "This server has no functions.", status: 404)
    default: break
    }
    guard path.count >= 4, path[0] == "auth", path[1] == "providers" else { return ErrorResponse.notFound }
    guard request.method == "POST" else { return ErrorResponse.notAllowed("POST") }
    let body = try RequestBody(request.body)
    if path.count == 4, path[3] == "login" {
      return try await logIn(request, body, app, provider: path[2])
    }
    guard path[2] == Account.Provider.emailPassword.rawValue else { return ErrorResponse.notFound }
    return try await EmailRoutes(accounts: app.accounts).respond(
      request, body, path.dropFirst(3).joined(separator: "/"))
  }

  private func location(_ request: HTTPRequest, _ app: ServedApp) -> HTTPResponse {
    let base = publicAddress ?? "\(isSecure ? "https" : "http")://\(request.headers["host"] ?? "localhost")"
    let socket = base.hasPrefix("https") ? "wss" + base.dropFirst(5) : "ws" + base.dropFirst(4)
    return .json([
      "hostname": base, "ws_hostname": socket, "deployment_model": "LOCAL", "location": "LOCAL",
      "sync_route": "\(socket)/api/client/v2.0/app/\(app.id)/realm-sync",
    ])
  }

  private func logIn(
    _ request: HTTPRequest, _ body: RequestBody, _ app: ServedApp, provider: String
  ) async throws -> HTTPResponse {
    let credentials = try Accounts.Credentials(provider: provider, fields: body.texts)
    var access: Accounts.Access?
    if request.query["link"] == "true" {
      guard let token = request.bearer else { throw UserRoutes.noToken }
      access = try await app.accounts.verify(token)
    }
    let made = try await app.accounts.logIn(
      credentials, device: body.device, address: request.network, linkTo: access)
    return .json([
      "access_token": made.accessToken, "refresh_token": made.refreshToken, "user_id": made.userID,
      "device_id": made.deviceID,
    ])
  }
}

/// Answers the requests about e-mail addresses and passwords.
struct EmailRoutes {
  let accounts: Accounts

  func respond(_ request: HTTPRequest, _ body: RequestBody, _ path: String) async throws -> HTTPResponse {
    let address = request.network
    switch path {
    case "register":
      try await accounts.register(
        email: try body.text("email"), password: try body.text("password"), address: address)
      return .json([String: String](), status: 201)
    case "confirm":
      try await accounts.confirm(token: try body.text("token"), tokenID: try body.text("tokenId"))
    case "confirm/send":
      try await accounts.resendConfirmation(email: try body.text("email"), address: address)
    case "confirm/call":
      try await accounts.retryCustomConfirmation(email: try body.text("email"), address: address)
    case "reset":
      try await accounts.reset(
        token: try body.text("token"), tokenID: try body.text("tokenId"), password: try body.text("password"))
    case "reset/send": try await accounts.sendReset(email: try body.text("email"), address: address)
    case "reset/call":
      return ErrorResponse.response(
        "FunctionNotFound", "This server has no functions. Ask for a message in place of that.", status: 404)
    default: return ErrorResponse.notFound
    }
    return .json([String: String]())
  }
}
