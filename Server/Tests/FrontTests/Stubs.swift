import Front
import Logging
import Synchronization

/// A gate that others wait for.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      let waiting = state.waiting
      state.waiting = []
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// The values that were told, in their order.
final class Tally<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var values: [Value] { state.withLock { $0.values } }

  func add(_ value: Value) {
    let ready = state.withLock { state in
      state.values.append(value)
      let count = state.values.count
      let ready = state.waiting.filter { $0.count <= count }
      state.waiting.removeAll { $0.count <= count }
      return ready.map { $0.continuation }
    }
    for continuation in ready { continuation.resume() }
  }

  /// Waits until `count` values were told.
  func wait(for count: Int) async -> [Value] {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.values.count < count { state.waiting.append((count, continuation)) }
        return state.values.count >= count
      }
      if isReady { continuation.resume() }
    }
    return values
  }
}

/// Answers each request with its own content.
struct EchoHTTP: HTTPService {
  struct About: Codable, Sendable, Equatable {
    var method: String
    var path: [String]
    var query: [String: String]
    var address: String
    var bearer: String?
    var body: Int
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch request.path.first {
    case "about":
      return .json(
        About(
          method: request.method, path: request.path, query: request.query, address: request.address,
          bearer: request.bearer, body: request.body.count))
    case "echo": return HTTPResponse(status: 200, contentType: "text/plain", body: request.body)
    case "status":
      return .text("Words.", status: request.path.count > 1 ? Int(request.path[1]) ?? 0 : 0)
    case "only-get" where request.method != "GET":
      return HTTPResponse(status: 405, headers: [("Allow", "GET")])
    case "only-get": return .text("Got.")
    case "bad-headers":
      return HTTPResponse(
        status: 200,
        headers: [("x-good", "1"), ("x-bad", "1\r\nx-worse: 1"), ("x bad", "1"), ("Content-Length", "9")])
    default: return .text("There is nothing here.", status: 404)
    }
  }
}

/// Keeps requests until it is told to answer them.
struct HeldHTTP: HTTPService {
  let arrivals = Tally<[String]>()
  let cancellations = Tally<Bool>()
  let release = Latch()

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    arrivals.add(request.path)
    await withTaskCancellationHandler {
      await release.wait()
    } onCancel: {
      cancellations.add(true)
      release.open()
    }
    return .text(request.path.joined(separator: "/"))
  }
}

/// Sends back the messages that it receives.
final class EchoSocket: SocketHandler {
  private let socket = Mutex<Socket?>(nil)

  func opened(_ socket: Socket) { self.socket.withLock { $0 = socket } }

  func received(_ message: [UInt8]) { socket.withLock { $0 }?.send(message) }

  func closed() { socket.withLock { $0 = nil } }
}

/// Tells each of its calls.
final class TellingSocket: SocketHandler {
  let openings = Tally<Socket>()
  /// The lengths of the messages.
  let messages = Tally<Int>()
  let closings = Tally<Bool>()
  private let whenOpened: @Sendable (Socket) -> Void

  init(_ whenOpened: @escaping @Sendable (Socket) -> Void = { _ in }) { self.whenOpened = whenOpened }

  func opened(_ socket: Socket) {
    whenOpened(socket)
    openings.add(socket)
  }

  func received(_ message: [UInt8]) { messages.add(message.count) }

  func closed() { closings.add(true) }
}

/// Accepts WebSockets on one path.
struct StubSockets: SocketService {
  var make: @Sendable () -> any SocketHandler = { EchoSocket() }
  let asked = Tally<[String]>()

  func accept(_ request: HTTPRequest, protocols: [String]) async -> SocketDecision {
    asked.add(protocols)
    switch request.path.first {
    case "socket": return .accept(subprotocol: nil, handler: make)
    case "first": return .accept(subprotocol: protocols.first, handler: make)
    case "unlisted": return .accept(subprotocol: "unlisted", handler: make)
    default: return .refuse(.text("No.", status: 403))
    }
  }
}

/// Runs a front for `body`, and stops it in every case.
func withFront(
  http: any HTTPService = EchoHTTP(), sockets: any SocketService = StubSockets(),
  logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
  settings change: (inout FrontSettings) -> Void = { _ in }, _ body: (Front) async throws -> Void
) async throws {
  var settings = FrontSettings()
  settings.threads = 2
  change(&settings)
  let front = try await Front.start(settings, http: http, sockets: sockets, logger: logger)
  do {
    try await body(front)
  } catch {
    await front.stop(grace: .milliseconds(50))
    throw error
  }
  await front.stop(grace: .milliseconds(50))
}
