import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The error if the other side has closed the connection before the expected bytes came.
struct ConnectionEnded: Error {}

/// The bytes that a client has received.
final class Inbox: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isClosed = false
    var changes = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func add(_ bytes: [UInt8]) { change { $0.bytes += bytes } }

  func close() { change { $0.isClosed = true } }

  private func change(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      state.changes += 1
      let waiting = state.waiting
      state.waiting = []
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until `take` can take a value from the front of the bytes.
  func next<Value: Sendable>(_ take: (inout [UInt8]) -> Value?) async throws -> Value {
    while true {
      let (value, isClosed, changes) = state.withLock { state in
        (take(&state.bytes), state.isClosed, state.changes)
      }
      if let value { return value }
      if isClosed { throw ConnectionEnded() }
      await waitForChange(after: changes)
    }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Waits until the other side has closed the connection.
  ///
  /// - Returns: The bytes that have come and were not taken.
  func end() async -> [UInt8] {
    while true {
      let (bytes, isClosed, changes) = state.withLock { ($0.bytes, $0.isClosed, $0.changes) }
      if isClosed { return bytes }
      await waitForChange(after: changes)
    }
  }

  private func waitForChange(after changes: Int) async {
    await withCheckedContinuation { continuation in
      let hasChanged = state.withLock { state in
        if state.changes != changes { return true }
        state.waiting.append(continuation)
        return false
      }
      if hasChanged { continuation.resume() }
    }
  }
}

private final class InboxHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let inbox: Inbox

  init(_ inbox: Inbox) { self.inbox = inbox }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    inbox.add(Array(unwrapInboundIn(data).readableBytesView))
  }

  func channelInactive(context: ChannelHandlerContext) {
    inbox.close()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A client that sends what a test tells it, right or wrong.
final class RawClient: Sendable {
  let channel: any Channel
  let inbox: Inbox

  private init(_ channel: any Channel, _ inbox: Inbox) { (self.channel, self.inbox) = (channel, inbox) }

  /// - Parameters:
  ///   - reads: True if the client takes the bytes that it is sent.
  ///   - stays: True if the client does not close the connection when the other side sends no more.
  static func connect(
    to port: Int, tls: NIOSSLContext? = nil, reads: Bool = true, stays: Bool = false
  ) async throws -> RawClient {
    let inbox = Inbox()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: reads)
      .channelOption(.allowRemoteHalfClosure, value: stays)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let tls {
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
            try channel.pipeline.syncOperations.addHandler(handler)
          }
          try channel.pipeline.syncOperations.addHandler(InboxHandler(inbox))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    return RawClient(channel, inbox)
  }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  func send(_ text: String) { send(Array(text.utf8)) }

  func close() { channel.close(mode: .all, promise: nil) }

  // MARK: - HTTP

  func reply(isHead: Bool = false) async throws -> Reply {
    try await inbox.next { Reply.taken(from: &$0, isHead: isHead) }
  }

  /// Sends a request with a host, and waits for its response.
  func ask(_ line: String, headers: [String] = [], body: String = "") async throws -> Reply {
    send(Self.request(line, headers: headers, body: body))
    return try await reply(isHead: line.hasPrefix("HEAD"))
  }

  /// The text of a request.
  ///
  /// - Parameter line: The method and the target.
  static func request(_ line: String, headers: [String] = [], body: String = "") -> String {
    let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
    let head = ["\(line) HTTP/1.1", "Host: localhost"] + headers + length
    return head.map { $0 + "\r\n" }.joined() + "\r\n" + body
  }
}

/// A response as a client reads it.
struct Reply: Sendable {
  let status: Int
  /// The values of the headers, by their names in lower case.
  let headers: [String: String]
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }

  static func taken(from bytes: inout [UInt8], isHead: Bool) -> Reply? {
    guard let end = endOfHead(bytes) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1)
      headers[sides[0].lowercased()] = sides.count > 1 ? String(sides[1].drop { $0 == " " }) : ""
    }
    let hasBody = !isHead && status >= 200 && status != 204 && status != 304
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
