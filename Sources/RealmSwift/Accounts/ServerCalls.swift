import Foundation
import RealmSyncClient
import Synchronization

/// Sends the requests of an app to its server.
///
/// A token is sent only to the configured address and to the one that the server at that address names. Redirections are not
/// followed with a token. If the configured address uses TLS, the other one has to use it too.
final class ServerCalls: Sendable {
  private struct Place {
    var base: String
    /// The request for the location of the server at `base`, running or ended; nil if the location is to be asked for.
    var asking: Task<AppLocation, any Error>?
    /// A number that grows whenever `asking` becomes another request.
    var number: UInt64 = 0
  }

  private let app: String
  private let settings: AppSettings
  private let manager: SyncManager
  private let transport: any RLMNetworkTransportProtocol
  private let place: Mutex<Place>

  init(_ app: String, _ settings: AppSettings, _ manager: SyncManager) {
    (self.app, self.settings, self.manager) = (app, settings, manager)
    transport = settings.transport ?? RLMNetworkTransport()
    place = Mutex(Place(base: Self.withoutSlash(settings.baseURL)))
  }

  private static func withoutSlash(_ text: String) -> String {
    text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  /// The configured address of the server.
  var base: String { place.withLock { $0.base } }

  /// The path of the file with certificates that the app trusts beside those of the system.
  var certificate: String? { settings.trustedCertificate?.path }

  /// The app's own headers, and the one that names the program.
  private var ownHeaders: [String: String] {
    let agent = "RealmSync/1 (\(DeviceFacts.platform)) Realm Swift/1 \(manager.userAgent)"
    return ["User-Agent": agent].merging(manager.customRequestHeaders ?? [:]) { agent, _ in agent }
  }

  /// The headers with which a WebSocket is opened. The protocol of sync sends the token too; the header is for proxies in front
  /// of the server.
  func socketHeaders(token: String) -> [NetworkHeader] {
    var headers = ownHeaders
    if let name = manager.authorizationHeaderName { headers[name] = "Bearer \(token)" }
    return headers.sorted { $0.key < $1.key }.map { NetworkHeader($0.key, $0.value) }
  }

  // MARK: - Where the server is

  /// The location of the server. If several callers ask at the same time, one request is sent.
  ///
  /// - Throws: `AppError`.
  func location() async throws -> AppLocation {
    let (asking, number) = place.withLock { place -> (Task<AppLocation, any Error>, UInt64) in
      if let asking = place.asking { return (asking, place.number) }
      let base = place.base
      let asking = Task { try await self.ask(base) }
      place.asking = asking
      place.number += 1
      return (asking, place.number)
    }
    do {
      return try await asking.value
    } catch {
      place.withLock { place in if place.number == number { place.asking = nil } }
      throw error
    }
  }

  /// Forgets the location, so that the next request asks for it.
  func forgetLocation() {
    place.withLock { place in
      place.asking = nil
      place.number += 1
    }
  }

  /// Changes the configured address, if a server answers there.
  ///
  /// - Throws: `AppError`. Nothing is changed then.
  func move(to base: String) async throws {
    let base = Self.withoutSlash(base)
    let location = try await ask(base)
    place.withLock { place in
      place.base = base
      place.asking = Task { location }
      place.number += 1
    }
  }

  private static let mostRedirections = 5

  private func ask(_ base: String) async throws -> AppLocation {
    guard base != AppConfiguration.defaultBaseURL else {
      let text =
        "Give AppConfiguration(baseURL:) the address of your server: there is no server at the default address, \(base)."
      throw AppError(.httpRequestFailed, text, problem: .invalidAddress(text))
    }
    guard var address = ServerAddress(base) else {
      let text =
        "AppConfiguration.baseURL is no address of a server: '\(base)'. Give one that begins with https:// or http://."
      throw AppError(.httpRequestFailed, text, problem: .invalidAddress(text))
    }
    let call = ServerCall.location(app)
    var url = "\(address.text)\(ServerCall.root)\(call.path)"
    // No token is sent with this request, so that redirections to other hosts may be followed.
    for _ in 0..<Self.mostRedirections {
      let answer = await perform(call, url, token: nil)
      guard answer.isRedirection, let target = answer.header("Location") else {
        let location = try AppLocation(answer, app: app, isSecure: address.isSecure)
        Logger.shared.log(.detail, "The server of the app \(app) is at \(location.host.text).")
        return location
      }
      guard let next = URL(string: target, relativeTo: URL(string: url))?.absoluteString,
        let nextAddress = ServerAddress(next, allowsQuery: true)
      else { throw answer.notUnderstood }
      guard nextAddress.isSecure || !address.isSecure else { throw AppLocation.notSecure }
      (url, address) = (next, nextAddress)
    }
    throw AppError(
      .httpRequestFailed,
      "The address \(base) leads to others that lead to others. Give AppConfiguration(baseURL:) the address of your server itself."
    )
  }

  // MARK: - Requests

  /// Sends a request. If the server redirects it, the location of the server is asked for again, once, and the request is sent
  /// there.
  ///
  /// - Throws: `AppError` if the location of the server can't be found. An error that the server answers is returned as an
  ///   answer.
  func send(_ call: ServerCall, token: String? = nil) async throws -> ServerAnswer {
    let location = try await self.location()
    let answer = await send(call, location, token)
    // If the server has moved, a new location may work while this one does not.
    if answer.problem != nil, location.host.text != base { forgetLocation() }
    guard answer.isRedirection else { return answer }
    forgetLocation()
    return await send(call, try await self.location(), token)
  }

  private func send(_ call: ServerCall, _ location: AppLocation, _ token: String?) async -> ServerAnswer {
    await perform(call, "\(location.host.text)\(ServerCall.root)\(call.path)", token: token)
  }

  private func perform(_ call: ServerCall, _ url: String, token: String?) async -> ServerAnswer {
    let headers = self.headers(token: token)
    return await withCheckedContinuation { continuation in
      let request = RLMRequest()
      request.method = call.method
      request.url = url
      request.timeout = Double(settings.requestTimeoutMS) / 1000
      request.headers = headers
      request.body = call.body.map { ExtendedJSON.text(.document($0)) } ?? ""
      request.certificate = certificate
      let once = Once(continuation)
      let name = "\(call.method.text) \(call.path)"
      transport.sendRequest(toServer: request) { response in
        once.resume(ServerAnswer(response, to: name))
      }
    }
  }

  private func headers(token: String?) -> [String: String] {
    var headers = ownHeaders
    headers["Accept"] = "application/json"
    headers["Content-Type"] = "application/json;charset=utf-8"
    if let token { headers[manager.authorizationHeaderName ?? "Authorization"] = "Bearer \(token)" }
    return headers
  }

  /// Passes on the first answer only, since a transport of the program may answer twice.
  private final class Once: Sendable {
    private let continuation: Mutex<CheckedContinuation<ServerAnswer, Never>?>

    init(_ continuation: CheckedContinuation<ServerAnswer, Never>) {
      self.continuation = Mutex(continuation)
    }

    func resume(_ answer: ServerAnswer) {
      let continuation = self.continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      continuation?.resume(returning: answer)
    }
  }
}
