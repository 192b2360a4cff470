import Foundation
import RealmStorage

/// A request to the server.
struct ServerCall: Sendable {
  /// The path with which the paths of all requests begin.
  static let root = "/api/client/v2.0"

  let method: RLMHTTPMethod
  /// The path of the request behind `root`.
  let path: String
  var body: Document?

  init(_ method: RLMHTTPMethod, _ path: String, _ body: Document? = nil) {
    (self.method, self.path, self.body) = (method, path, body)
  }

  // MARK: - Of an app

  static func location(_ app: String) -> ServerCall {
    ServerCall(.get, "/app/\(SyncPaths.encoded(app))/location")
  }

  /// A request to log in.
  ///
  /// - Parameters:
  ///   - device: the id that the server gave this device at an earlier log-in; nil if there was none.
  ///   - isLink: whether the credentials become a further way to log in of the user whose access token is sent with the request.
  static func logIn(
    _ credentials: Credentials, app: String, device: String?, isLink: Bool = false
  ) -> ServerCall {
    let provider = credentials.provider.rawValue
    var body = credentials.fields
    body["provider"] = AnyBSON.string(provider)
    body["options"] = AnyBSON.document(["device": .document(DeviceFacts.document(id: device))])
    return ServerCall(
      .post, "/app/\(SyncPaths.encoded(app))/auth/providers/\(provider)/login\(isLink ? "?link=true" : "")",
      body)
  }

  /// A request about registration or a password.
  ///
  /// - Parameter step: the last part of the path, such as `register` or `confirm/send`.
  static func emailPassword(_ step: String, app: String, _ body: Document) -> ServerCall {
    let provider = Provider.usernamePassword.rawValue
    return ServerCall(.post, "/app/\(SyncPaths.encoded(app))/auth/providers/\(provider)/\(step)", body)
  }

  // MARK: - Of a user

  /// Asks for a new access token. It is sent with the refresh token.
  static let refresh = ServerCall(.post, "/auth/session")
  /// Ends a log-in. It is sent with the refresh token.
  static let logOut = ServerCall(.delete, "/auth/session")
  static let profile = ServerCall(.get, "/auth/profile")
  static let deleteUser = ServerCall(.delete, "/auth/delete")
  static let apiKeys = ServerCall(.get, "/auth/api_keys")

  static func createAPIKey(_ name: String) -> ServerCall {
    ServerCall(.post, "/auth/api_keys", ["name": .string(name)])
  }

  /// A request about one API key.
  ///
  /// - Parameter action: `enable` or `disable`; nil for a request about the key itself.
  static func apiKey(_ method: RLMHTTPMethod, _ id: ObjectId, _ action: String? = nil) -> ServerCall {
    ServerCall(method, "/auth/api_keys/\(id.stringValue)\(action.map { "/\($0)" } ?? "")")
  }
}

/// The facts about the device that a log-in sends.
enum DeviceFacts {
  static func document(id: String?) -> Document {
    var facts = [
      "platform": platform, "platformVersion": ProcessInfo.processInfo.operatingSystemVersionString,
      "cpuArch": processor, "sdk": "Realm Swift", "sdkVersion": LibraryVersion.current,
      "bundleId": Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName,
    ]
    facts["deviceId"] = id
    return facts.mapValues { AnyBSON.string($0) }
  }

  static var platform: String {
    #if os(Linux)
      "Linux"
    #elseif os(macOS)
      "macOS"
    #elseif os(iOS)
      "iOS"
    #elseif os(tvOS)
      "tvOS"
    #elseif os(watchOS)
      "watchOS"
    #elseif os(visionOS)
      "visionOS"
    #else
      "another system"
    #endif
  }

  private static var processor: String {
    #if arch(arm64)
      "arm64"
    #elseif arch(x86_64)
      "x86_64"
    #else
      "another processor"
    #endif
  }
}
