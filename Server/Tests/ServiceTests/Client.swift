import Foundation
import NIOCore
import NIOPosix

/// A client of HTTP, and of a WebSocket after it has asked for one.
final class Client: Sendable {
  private let channel: any Channel
  let inbox: Inbox

  private init(_ channel: any Channel, _ inbox: Inbox) { (self.channel, self.inbox) = (channel, inbox) }

  static func connect(to port: Int) async throws -> Client {
    let inbox = Inbox()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(InboxHandler(inbox))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    return Client(channel, inbox)
  }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  func close() { channel.close(mode: .all, promise: nil) }

  /// Reads no more of the bytes that the server sends.
  func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

  /// Sends a request, and waits for its response.
  ///
  /// - Parameters:
  ///   - line: The method and the target.
  ///   - bearer: The token of the header `Authorization`.
  func ask(
    _ line: String, bearer: String? = nil, headers: [String] = [], body: String = ""
  ) async throws -> Reply {
    var lines = ["\(line) HTTP/1.1", "Host: localhost"] + headers
    if let bearer { lines.append("Authorization: Bearer \(bearer)") }
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    send(Array((lines.map { $0 + "\r\n" }.joined() + "\r\n" + body).utf8))
    return try await inbox.next { Reply.taken(from: &$0) }
  }
}

/// A response as a client reads it.
struct Reply: Sendable {
  let status: Int
  /// The values of the headers, by their names in lower case.
  let headers: [String: String]
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }

  func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(body))
  }

  /// The status, followed by the name of the error if the answer has one: `404 AppNotFound`.
  var outcome: String {
    struct Refusal: Decodable { let errorCode: String }
    let name = (try? decoded(Refusal.self))?.errorCode
    return name.map { "\(status) \($0)" } ?? "\(status)"
  }

  static func taken(from bytes: inout [UInt8]) -> Reply? {
    guard let end = endOfHead(bytes) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1)
      headers[sides[0].lowercased()] = sides.count > 1 ? String(sides[1].drop { $0 == " " }) : ""
    }
    let hasBody = status >= 200 && status != 204 && status != 304
    let length = hasBody ? Int(headers["content-length"] ?? "0") ?? 0 : 0
    guard bytes.count >= end + 4 + length else { return nil }
    let body = Array(bytes[(end + 4)..<(end + 4 + length)])
    bytes.removeFirst(end + 4 + length)
    return Reply(status: status, headers: headers, body: body)
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { place in
      bytes[place] == 13 && bytes[place + 1] == 10 && bytes[place + 2] == 13 && bytes[place + 3] == 10
    }
  }
}

/// The addresses of the server's requests.
enum Address {
  private static let base = "/api/client/v2.0"
  static let session = "\(base)/auth/session"
  static let profile = "\(base)/auth/profile"
  static let delete = "\(base)/auth/delete"
  static let keys = "\(base)/auth/api_keys"

  static func app(_ path: String, of app: String = "dev") -> String { "\(base)/app/\(app)/\(path)" }

  static func provider(_ name: String, _ path: String, of app: String = "dev") -> String {
    Address.app("auth/providers/\(name)/\(path)", of: app)
  }
}

/// The answer to a log-in.
struct LoggedIn: Decodable, Sendable {
  let accessToken: String
  let refreshToken: String
  let userId: String
  let deviceId: String
}

/// The answer to a refresh.
struct Refreshed: Decodable, Sendable { let accessToken: String }

/// The answer of `/auth/profile`.
struct Profile: Decodable, Sendable {
  struct Identity: Decodable, Sendable {
    let id: String
    let providerType: String
  }

  struct Fields: Decodable, Sendable { let email: String? }

  let userId: String
  let identities: [Identity]
  let data: Fields

  var providers: [String] { identities.map { $0.providerType } }
}

extension Client {
  /// Sends a JSON object of texts.
  func post(
    _ address: String, _ fields: [String: String] = [:], bearer: String? = nil
  ) async throws -> Reply {
    let body = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
    return try await ask("POST \(address)", bearer: bearer, body: body)
  }

  func logIn(_ provider: String, _ fields: [String: String], to app: String = "dev") async throws -> Reply {
    try await post(Address.provider(provider, "login", of: app), fields)
  }

  func logInAnonymously(to app: String = "dev") async throws -> LoggedIn {
    try await logIn("anon-user", [:], to: app).decoded()
  }

  /// Asks for a new access token.
  func refresh(_ user: LoggedIn) async throws -> Reply {
    try await ask("POST \(Address.session)", bearer: user.refreshToken)
  }

  func logOut(_ user: LoggedIn) async throws -> Reply {
    try await ask("DELETE \(Address.session)", bearer: user.refreshToken)
  }

  func profile(_ token: String) async throws -> Reply {
    try await ask("GET \(Address.profile)", bearer: token)
  }
}
