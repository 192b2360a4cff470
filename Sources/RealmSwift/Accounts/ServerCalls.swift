import Foundation
import RealmSyncClient
import Synchronization

/// Sends the requests of an app to where its server is.
///
/// A token goes to the address that is configured and to the one that the server there names, and to no other: redirections are not
/// followed with one. Where the configured address has TLS, the other one has it too.
final class ServerCalls: Sendable {
  private struct Place {
    var base: String
    /// What is known of the base, or is being asked for.
    var asking: Task<AppLocation, any Error>?
    /// Grows whenever `asking` is another one.
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

  /// The address that the app gives for its server.
  var base: String { place.withLock { $0.base } }

  /// The path of the file with the certificates that the app trusts.
  var certificate: String? { settings.trustedCertificate?.path }

  /// Headers of the app's own, and the one that says what program it is.
  private var ownHeaders: [String: String] {
    let agent = "RealmSync/1 (\(DeviceFacts.platform)) Realm Swift/1 \(manager.userAgent)"
    return ["User-Agent": agent].merging(manager.customRequestHeaders ?? [:]) { agent, _ in agent }
  }

  /// Headers with which a WebSocket is opened. The token is told otherwise, too; a header of its own is for what stands before the server.
  func socketHeaders(token: String) -> [NetworkHeader] {
    var headers = ownHeaders
    if let name = manager.authorizationHeaderName { headers[name] = "Bearer \(token)" }
    return headers.sorted { $0.key < $1.key }.map { NetworkHeader($0.key, $0.value) }
  }

  // MARK: - Where the server is

  /// Where the server is. It is asked once, whoever wants to know at the same time.
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

  /// The next request asks where the server is.
  func forgetLocation() {
    place.withLock { place in
      place.asking = nil
      place.number += 1
    }
  }

  /// Changes the address that the app gives, if a server answers there.
  ///
  /// - Throws: `AppError`; nothing is changed then.
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
    // No token is sent with it, so that it may be asked of somebody else.
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

  /// Sends a request. Where the server is elsewhere, it is asked for its place again, once.
  ///
  /// - Throws: `AppError` where it is not known where the server is. Whatever the server answers is no error here.
  func send(_ call: ServerCall, token: String? = nil) async throws -> ServerAnswer {
    let location = try await self.location()
    let answer = await send(call, location, token)
    // Another place may be good where this one is not.
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

  /// A transport is the program's, and may answer twice.
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
