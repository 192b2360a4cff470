import Foundation
import Synchronization

@testable import RealmSwift

/// A server of log-ins in memory, which replaces the network.
final class FakeServer: RLMNetworkTransport, @unchecked Sendable {
  // Sendable: what it adds is under a lock, or never changes.

  /// A request that was sent to the server.
  struct Asked: Sendable {
    let method: RLMHTTPMethod
    let url: String
    let headers: [String: String]
    let body: String
    let timeout: TimeInterval

    /// The method and the path, as in `POST /auth/session`.
    var line: String {
      let path = url.components(separatedBy: "/api/client/v2.0").last ?? ""
      return "\(method.text) \(path.split(separator: "?").first ?? "")"
    }
    var host: String { url.components(separatedBy: "/api/client/v2.0").first ?? "" }
    var token: String? {
      (headers["Authorization"] ?? headers["X-Token"]).map { String($0.dropFirst("Bearer ".count)) }
    }
    var fields: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }
    func text(_ name: String) -> String { fields[name] as? String ?? "" }
  }

  struct Reply: Sendable {
    var status = 200
    var body = "{}"
    var headers: [String: String] = [:]
    /// True if no answer comes.
    var isLost = false

    static let lost = Reply(isLost: true)
    static func error(_ status: Int, _ code: String) -> Reply {
      Reply(status: status, body: #"{"error": "It is \#(code).", "error_code": "\#(code)", "link": ""}"#)
    }
  }

  struct State: Sendable {
    var asked: [Asked] = []
    /// The passwords, by the addresses.
    var passwords: [String: String] = [
      "ann@example.org": "first password", "ben@example.org": "second password",
    ]
    /// The ids of users, by the addresses.
    var ids: [String: String] = [:]
    /// The providers, by the ids of users.
    var providers: [String: [String]] = [:]
    /// The ids of users, by refresh tokens (`refreshTokens`) and by access tokens (`accessTokens`).
    var refreshTokens: [String: String] = [:]
    var accessTokens: [String: String] = [:]
    /// The claim `user_data` of new access tokens.
    var userData = "{}"
    /// The seconds for which access tokens are valid.
    var lifetime = 1800
    var count = 0
    var isOffline = false
    var location = #"{"hostname": "https://sync.test", "ws_hostname": "wss://sync.test"}"#
  }

  let state = Mutex(State())
  /// A block that may answer each request in place of the server; nil leaves the answer to the server.
  let answering = Mutex<(@Sendable (Asked) -> Reply?)?>(nil)
  private let queue = DispatchQueue(label: "fake server", attributes: .concurrent)

  override func sendRequest(
    toServer request: RLMRequest, completion: @escaping RLMNetworkTransportCompletionBlock
  ) {
    let asked = Asked(
      method: request.method, url: request.url, headers: request.headers, body: request.body,
      timeout: request.timeout)
    state.withLock { $0.asked.append(asked) }
    queue.async {
      let own = self.answering.withLock { $0 }
      let reply = own?(asked) ?? self.state.withLock { $0.reply(to: asked) }
      let response = RLMResponse()
      if reply.isLost {
        (response.customStatusCode, response.body) = (7, "There is no network.")
      } else {
        (response.httpStatusCode, response.body, response.headers) = (reply.status, reply.body, reply.headers)
      }
      completion(response)
    }
  }

  /// The requests in their order, without those for the location.
  var lines: [String] {
    state.withLock { state in state.asked.map(\.line).filter { !$0.hasSuffix("/location") } }
  }

  func count(_ line: String) -> Int { lines.filter { $0 == line }.count }

  /// Answers the next requests with `body`.
  func answer(_ body: (@Sendable (Asked) -> Reply?)?) { answering.withLock { $0 = body } }

  static func token(_ payload: String) -> String {
    let text = Data(payload.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    return "head.\(text).signature"
  }
}

extension FakeServer.State {
  typealias Reply = FakeServer.Reply

  mutating func reply(to asked: FakeServer.Asked) -> Reply {
    if isOffline { return .lost }
    let path = asked.line.split(separator: " ").last.map(String.init) ?? ""
    if path.hasSuffix("/location") { return Reply(body: location) }
    if path.contains("/auth/providers/") {
      let parts = path.components(separatedBy: "/auth/providers/").last ?? ""
      let provider = parts.components(separatedBy: "/").first ?? ""
      return parts.hasSuffix("/login") ? logIn(provider, asked) : Reply(status: 201)
    }
    switch asked.line {
    case "POST /auth/session":
      guard let user = refreshTokens[asked.token ?? ""] else { return .error(401, "InvalidSession") }
      return Reply(status: 201, body: #"{"access_token": "\#(newAccessToken(user))"}"#)
    case "DELETE /auth/session":
      guard refreshTokens.removeValue(forKey: asked.token ?? "") != nil else {
        return .error(401, "InvalidSession")
      }
      return Reply(status: 204, body: "")
    default: break
    }
    guard let user = accessTokens[asked.token ?? ""] else { return .error(401, "InvalidSession") }
    switch asked.line {
    case "GET /auth/profile": return profile(user)
    case "DELETE /auth/delete":
      refreshTokens = refreshTokens.filter { $0.value != user }
      accessTokens = accessTokens.filter { $0.value != user }
      return Reply(status: 204, body: "")
    default: return .error(404, "NotFound")
    }
  }

  private mutating func logIn(_ provider: String, _ asked: FakeServer.Asked) -> Reply {
    let linked = asked.url.hasSuffix("?link=true") ? accessTokens[asked.token ?? ""] : nil
    if asked.url.hasSuffix("?link=true"), linked == nil { return .error(401, "InvalidSession") }
    let user: String
    switch provider {
    case "anon-user": user = newID()
    case "local-userpass":
      let email = asked.text("username")
      guard passwords[email] == asked.text("password"), passwords[email] != nil else {
        return .error(401, "InvalidPassword")
      }
      user = linked ?? ids[email] ?? newID()
      ids[email] = user
    default: return .error(404, "AuthProviderNotFound")
    }
    if providers[user]?.contains(provider) != true { providers[user, default: []].append(provider) }
    let refresh = "refresh-secret-\(newID())"
    refreshTokens[refresh] = user
    return Reply(
      body:
        #"{"access_token": "\#(newAccessToken(user))", "refresh_token": "\#(refresh)", "user_id": "\#(user)", "#
        + #""device_id": "d0d0d0d0d0d0d0d0d0d0d0d0"}"#)
  }

  private func profile(_ user: String) -> Reply {
    let identities = (providers[user] ?? []).enumerated().map { place, provider in
      #"{"id": "identity-\#(place)", "provider_type": "\#(provider)"}"#
    }
    let email = ids.first { $0.value == user }?.key
    let data = email.map { #"{"email": "\#($0)", "name": "Somebody"}"# } ?? "{}"
    return Reply(
      body:
        #"{"user_id": "\#(user)", "identities": [\#(identities.joined(separator: ", "))], "data": \#(data)}"#)
  }

  private mutating func newAccessToken(_ user: String) -> String {
    count += 1
    let end = Int(Date().timeIntervalSince1970) + lifetime
    let token = FakeServer.token(
      #"{"exp": \#(end), "iat": 0, "number": \#(count), "user_data": \#(userData)}"#)
    accessTokens[token] = user
    return token
  }

  private mutating func newID() -> String {
    count += 1
    let digits = String(count, radix: 16)
    return String(repeating: "a", count: 24 - digits.count) + digits
  }
}
