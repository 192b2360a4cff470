#if Sync
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import NIOWebSocket
  import RealmSyncClient
  import Synchronization

  /// The error for an event that did not come within a minute.
  struct NothingCame: Error {
    let what: String
  }

  /// Calls `look` again and again until it returns a value, for at most a minute, so that no test waits for ever.
  func eventually<Value: Sendable>(_ what: String, _ look: () -> Value?) async throws -> Value {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      if let value = look() { return value }
      guard ContinuousClock.now < end else { throw NothingCame(what: what) }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// A server that sends what a test tells it, right or wrong.
  final class RawServer: Sendable {
    private final class Arrivals: Sendable {
      let all = Mutex<[RawConnection]>([])
      let taken = Mutex(0)
    }

    let port: Int
    private let listener: any Channel
    private let arrivals: Arrivals

    private init(_ listener: any Channel, _ arrivals: Arrivals) {
      (self.listener, self.arrivals) = (listener, arrivals)
      port = listener.localAddress?.port ?? 0
    }

    static func start(tls: NIOSSLContext? = nil) async throws -> RawServer {
      let arrivals = Arrivals()
      let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let connection = RawConnection(channel)
            if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
            try channel.pipeline.syncOperations.addHandler(RawHandler(connection))
            arrivals.all.withLock { $0.append(connection) }
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      return RawServer(listener, arrivals)
    }

    /// The number of connections so far.
    var count: Int { arrivals.all.withLock { $0.count } }

    /// The next connection in the order of arrival, which may have come already.
    func connection() async throws -> RawConnection {
      let place = arrivals.taken.withLock { taken in
        taken += 1
        return taken - 1
      }
      return try await eventually("a connection") { [arrivals] in
        arrivals.all.withLock { place < $0.count ? $0[place] : nil }
      }
    }

    /// The next connection, after the handshake that makes it a WebSocket.
    ///
    /// - Parameter bytes: The bytes that are sent right behind the handshake.
    func socket(then bytes: [UInt8] = []) async throws -> RawConnection {
      let new = try await connection()
      let request = try await new.request()
      new.send(try await new.acceptance(of: request) + bytes)
      return new
    }

    func stop() async {
      try? await listener.close()
      for connection in arrivals.all.withLock({ $0 }) { connection.cut() }
    }
  }

  /// Runs a server for `body`, and stops it in every case.
  func withServer(tls: NIOSSLContext? = nil, _ body: (RawServer) async throws -> Void) async throws {
    let server = try await RawServer.start(tls: tls)
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// A request as the server received it.
  struct RawRequest: Sendable {
    let line: String
    /// The values of the headers, by their names in lower case.
    let headers: [String: String]
    let body: String

    static func taken(from bytes: inout [UInt8]) -> RawRequest? {
      let text = String(decoding: bytes, as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n") else { return nil }
      let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
      var headers: [String: String] = [:]
      for line in lines.dropFirst() {
        let sides = line.split(separator: ":", maxSplits: 1)
        if sides.count == 2 { headers[sides[0].lowercased()] = sides[1].trimmingCharacters(in: .whitespaces) }
      }
      let length = headers["content-length"].flatMap { Int($0) } ?? 0
      let body = text[end.upperBound...]
      guard body.utf8.count >= length else { return nil }
      bytes = []
      return RawRequest(line: lines[0], headers: headers, body: String(body))
    }
  }

  /// A frame as a client sent it.
  struct ClientFrame: Sendable, Equatable {
    /// The first byte: 0x80 for the last fragment, combined with the kind of the frame.
    let first: UInt8
    let payload: [UInt8]

    /// The code of a close frame.
    var code: UInt16? {
      first == 0x88 && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    }

    /// The next frame. A frame that is not masked is returned as one of kind 0.
    static func taken(from bytes: inout [UInt8]) -> ClientFrame? {
      guard bytes.count >= 2 else { return nil }
      guard bytes[1] & 0x80 != 0 else { return ClientFrame(first: 0, payload: []) }
      let short = Int(bytes[1] & 0x7f)
      let wide = short == 126 ? 2 : short == 127 ? 8 : 0
      guard bytes.count >= 6 + wide else { return nil }
      let length = wide == 0 ? short : bytes[2..<(2 + wide)].reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count >= 6 + wide + length else { return nil }
      let key = Array(bytes[(2 + wide)..<(6 + wide)])
      let masked = bytes[(6 + wide)..<(6 + wide + length)]
      let payload = masked.enumerated().map { $0.element ^ key[$0.offset & 3] }
      let first = bytes[0]
      bytes.removeFirst(6 + wide + length)
      return ClientFrame(first: first, payload: payload)
    }
  }

  /// Frames in the form in which servers send them.
  enum ServerFrame {
    static func bytes(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
      let count = payload.count
      if count <= 125 { return [first, UInt8(count)] + payload }
      if count <= 0xffff { return [first, 126, UInt8(count >> 8), UInt8(count & 0xff)] + payload }
      return head(first, count) + payload
    }

    /// The head of a frame whose length is written in eight bytes.
    static func head(_ first: UInt8, _ count: Int) -> [UInt8] {
      [first, 127] + (0..<8).map { UInt8(count >> (56 - 8 * $0) & 0xff) }
    }

    static func binary(_ payload: [UInt8]) -> [UInt8] { bytes(0x82, payload) }

    static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
      bytes(0x88, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
    }
  }

  /// The server's end of a connection.
  final class RawConnection: Sendable {
    private struct State {
      var bytes: [UInt8] = []
      var isClosed = false
      var answersPings = false
      var pings = 0
    }

    let channel: any Channel
    private let state = Mutex(State())

    init(_ channel: any Channel) { self.channel = channel }

    func add(_ bytes: [UInt8]) {
      let isToAnswer = state.withLock { state in
        state.bytes += bytes
        return state.answersPings
      }
      guard isToAnswer else { return }
      while let frame = nextFrame() {
        guard frame == ClientFrame(first: 0x89, payload: []) else { continue }
        state.withLock { $0.pings += 1 }
        send(ServerFrame.bytes(0x8a, []))
      }
    }

    /// Sets whether the connection answers pings as soon as they come. A test that answers them itself may be too slow.
    func answerPings(_ answers: Bool) { state.withLock { $0.answersPings = answers } }

    /// The number of pings that were answered.
    var pings: Int { state.withLock { $0.pings } }

    func noteClosed() { state.withLock { $0.isClosed = true } }

    func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Closes the connection after all bytes that were sent.
    func close() { channel.writeAndFlush(ByteBuffer()).whenComplete { _ in self.cut() } }

    /// Closes the connection at once.
    func cut() { channel.close(mode: .all, promise: nil) }

    func request() async throws -> RawRequest {
      try await eventually("a request") { nextRequest() }
    }

    func nextRequest() -> RawRequest? {
      state.withLock { state in RawRequest.taken(from: &state.bytes) }
    }

    func frame() async throws -> ClientFrame {
      try await eventually("a frame") { nextFrame() }
    }

    func nextFrame() -> ClientFrame? {
      state.withLock { state in ClientFrame.taken(from: &state.bytes) }
    }

    /// Waits until the client has closed the connection.
    func end() async throws {
      try await eventually("the end of a connection") { state.withLock { $0.isClosed ? () : nil } }
    }

    /// The answer to the handshake of a WebSocket. It takes the first subprotocol that the client lists.
    ///
    /// - Parameter change: A change that makes the answer wrong.
    func acceptance(
      of request: RawRequest, _ change: (inout HTTPHeaders) -> Void = { _ in }
    ) async throws -> [UInt8] {
      let asked = HTTPHeaders(request.headers.map { ($0.key, $0.value) })
      let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: asked)
      // Only the headers of this upgrader's answer are used.
      let upgrader = NIOWebSocketServerUpgrader(
        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
      var headers = try await upgrader.buildUpgradeResponse(
        channel: channel, upgradeRequest: head, initialResponseHeaders: HTTPHeaders()
      ).get()
      if let first = request.headers["sec-websocket-protocol"]?.components(separatedBy: ", ").first {
        headers.add(name: "Sec-WebSocket-Protocol", value: first)
      }
      change(&headers)
      let lines = ["HTTP/1.1 101 Switching Protocols"] + headers.map { "\($0.name): \($0.value)" }
      return Array((lines.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
    }
  }

  private final class RawHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: RawConnection

    init(_ connection: RawConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var bytes = unwrapInboundIn(data)
      connection.add(bytes.readBytes(length: bytes.readableBytes) ?? [])
    }

    func channelInactive(context: ChannelHandlerContext) {
      connection.noteClosed()
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }

  /// A request that was sent, with its answer once it has come.
  final class PendingAnswer: Sendable {
    private let found = Mutex<Result<NetworkAnswer, NetworkProblem>?>(nil)

    init(to request: NetworkRequest) {
      NIONetwork.shared.send(request) { result in self.found.withLock { $0 = result } }
    }

    func result() async throws -> Result<NetworkAnswer, NetworkProblem> {
      try await eventually("an answer") { found.withLock { $0 } }
    }

    var isDone: Bool { found.withLock { $0 != nil } }

    func answer() async throws -> NetworkAnswer { try await result().get() }

    func problem() async throws -> NetworkProblem? {
      guard case .failure(let problem) = try await result() else { return nil }
      return problem
    }
  }

  /// Records the events of a WebSocket.
  final class SocketRecorder: Sendable {
    private let state = Mutex<[SocketEvent]>([])

    func connect(_ request: SocketRequest) -> any SyncSocket {
      NIONetwork.shared.connect(request) { event in self.state.withLock { $0.append(event) } }
    }

    var events: [SocketEvent] { state.withLock { $0 } }

    var messages: [[UInt8]] {
      events.compactMap { event -> [UInt8]? in
        guard case .message(let message) = event else { return nil }
        return message
      }
    }

    /// How the WebSocket has ended, if the last event is its end.
    var ending: SocketEnd? {
      guard case .closed(let end)? = events.last else { return nil }
      return end
    }

    func opened() async throws {
      try await eventually("the handshake") { events.first == .opened ? () : nil }
    }

    func messages(_ count: Int) async throws -> [[UInt8]] {
      try await eventually("\(count) messages") {
        let known = messages
        return known.count >= count ? known : nil
      }
    }

    func end() async throws -> SocketEnd { try await eventually("the end of a WebSocket") { ending } }

    func problem() async throws -> NetworkProblem? {
      guard case .problem(let problem) = try await end() else { return nil }
      return problem
    }
  }

  extension NetworkProblem {
    /// The name of the case.
    var kind: String {
      switch self {
      case .invalidAddress: "invalidAddress"
      case .unreachable: "unreachable"
      case .timedOut: "timedOut"
      case .tls: "tls"
      case .lost: "lost"
      case .damaged: "damaged"
      }
    }
  }

  /// A certificate for this machine's name that is signed with its own key, and that key. They are for tests only, so
  /// the key is not a secret. The certificate is valid from 2020 to 2120.
  enum TestCertificate {
    static func server() throws -> NIOSSLContext {
      let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
      let key = try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
      return try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
    }

    /// Calls `body` with the path of a file that holds a certificate.
    static func withFile(_ text: String = certificate, _ body: (String) async throws -> Void) async throws {
      let name = "certificate-\(UUID().uuidString).pem"
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(name)
      try Data(text.utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      try await body(file.path)
    }

    static let certificate = """
      -----BEGIN CERTIFICATE-----
      MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
      c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
      CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEHCH9Xf7Ishx9q3
      rePwjHfo2idACwnlUVQPM6YJz05xRn3ngWrytfVNBkbHnGzSYLac4j+ZmauDgouF
      H+0U3IKjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
      hwR/AAABMB0GA1UdDgQWBBSMVkpi5PgQS+IP1ZJxbs9CIkcAijAKBggqhkjOPQQD
      AgNIADBFAiBT1fAQvLWdJjR7b9TnKbYYOLAkSRmm5OXWY2xqbcxByAIhALs8IX2G
      dsOm4w0ev/+nNXMos2IZSGXcNbLeXbQKIXls
      -----END CERTIFICATE-----
      """

    private static let key = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5jCT4z0TS+Z5VKSz
      bnWYmeTQRI6EAncWKcPdp7qPVXyhRANCAARBwh/V3+yLIcfat63j8Ix36NonQAsJ
      5VFUDzOmCc9OcUZ954Fq8rX1TQZGx5xs0mC2nOI/mZmrg4KLhR/tFNyC
      -----END PRIVATE KEY-----
      """
  }
#endif
