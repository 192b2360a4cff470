import RealmStorage

// The form of messages in frames (docs/sync-protocol.md). A frame is one message: its number, its fields in a fixed
// order, and optional fields until the end. Later versions may add optional fields. A reader skips optional fields that
// it does not know.

/// The numbers of the messages. A number is never given to another message. A receiver that does not know a message
/// skips it if its number is odd.
enum MessageNumber {
  static let hello: UInt64 = 2
  static let welcome: UInt64 = 4
  static let start: UInt64 = 6
  static let querySet: UInt64 = 8
  static let querySetRefused: UInt64 = 10
  static let upload: UInt64 = 12
  static let step: UInt64 = 14
  static let chunk: UInt64 = 16
  static let mark: UInt64 = 18
  static let markAnswer: UInt64 = 20
  static let error: UInt64 = 22
  static let retire: UInt64 = 23
  static let retired: UInt64 = 25

  static func maySkip(_ number: UInt64) -> Bool { number & 1 == 1 }
}

extension ClientMessage {
  /// The frame that `init(bytes:)` reads. The maker of a message must keep to `MessageLimit`, because the reader
  /// refuses other messages.
  package var bytes: [UInt8] {
    switch self {
    case .hello(let hello): frame(MessageNumber.hello, hello)
    case .start(let start): frame(MessageNumber.start, start)
    case .querySet(let querySet): frame(MessageNumber.querySet, querySet)
    case .upload(let upload): frameOfBody(MessageNumber.upload, upload)
    case .chunk(let chunk): frame(MessageNumber.chunk, chunk)
    case .mark(let request): frame(MessageNumber.mark, request)
    case .retire(let replica): frame(MessageNumber.retire, replica)
    case .skipped(let number): frame(number | 1)
    }
  }

  /// Reads a frame. Takes time and memory in proportion to the bytes, whatever they are.
  ///
  /// - Parameter bodyLimit: the greatest number of bytes of an upload's body after it is expanded. If the instructions
  ///   of a changeset are as short as possible, it takes about a hundred times as much memory as its bytes. So a server
  ///   gives the limit that it tells its clients.
  package init(bytes: [UInt8], bodyLimit: Int = MessageLimit.bodyBytes) throws(MessageDamage) {
    var reader = try MessageReader(frame: bytes, parts: MessageLimit.clientParts)
    let number = try reader.number("number of the message")
    switch number {
    case MessageNumber.hello: self = .hello(try Hello(from: &reader))
    case MessageNumber.start: self = .start(try SessionStart(from: &reader))
    case MessageNumber.querySet: self = .querySet(try QuerySet(from: &reader))
    case MessageNumber.upload:
      reader = try reader.body(limit: bodyLimit)
      self = .upload(try UploadMessage(from: &reader))
    case MessageNumber.chunk: self = .chunk(try ValueChunk(from: &reader))
    case MessageNumber.mark: self = .mark(request: try reader.number("request"))
    case MessageNumber.retire: self = .retire(replica: try reader.number("replica"))
    default:
      guard MessageNumber.maySkip(number) else {
        throw reader.damage("number of the message", .unknownMessage(number: number), at: 0)
      }
      self = .skipped(number: number)
      return
    }
    try reader.end()
  }
}

extension ServerMessage {
  /// The frame that `init(bytes:)` reads. The maker of a message must keep to `MessageLimit`, and must put each object
  /// into a step only once, because the reader refuses other messages.
  package var bytes: [UInt8] {
    switch self {
    case .welcome(let welcome): return frame(MessageNumber.welcome, welcome)
    case .step(let step): return frameOfBody(MessageNumber.step, step)
    case .querySetRefused(let number, let code, let text):
      var bytes = frame(MessageNumber.querySetRefused, number, UInt64(code))
      bytes.append(text: text)
      return bytes
    case .chunk(let chunk): return frame(MessageNumber.chunk, chunk)
    case .mark(let request, let version): return frame(MessageNumber.markAnswer, request, version)
    case .retired(let replica): return frame(MessageNumber.retired, replica)
    case .error(let error): return frame(MessageNumber.error, error)
    case .skipped(let number): return frame(number | 1)
    }
  }

  /// Reads a frame. Takes time and memory in proportion to the bytes, whatever they are.
  ///
  /// - Parameter bodyLimit: the greatest number of bytes of a step's body after it is expanded.
  package init(bytes: [UInt8], bodyLimit: Int = MessageLimit.bodyBytes) throws(MessageDamage) {
    var reader = try MessageReader(frame: bytes, parts: MessageLimit.serverParts)
    let number = try reader.number("number of the message")
    switch number {
    case MessageNumber.welcome: self = .welcome(try Welcome(from: &reader))
    case MessageNumber.step:
      reader = try reader.body(limit: bodyLimit)
      var step = try Step(from: &reader)
      step.created?.message = bytes
      self = .step(step)
    case MessageNumber.querySetRefused:
      self = .querySetRefused(
        number: try reader.number("number of the query set"), code: try reader.number32("code"),
        text: try reader.text("text"))
    case MessageNumber.chunk: self = .chunk(try ValueChunk(from: &reader))
    case MessageNumber.markAnswer:
      self = .mark(request: try reader.number("request"), version: try reader.number("version"))
    case MessageNumber.retired: self = .retired(replica: try reader.number("replica"))
    case MessageNumber.error: self = .error(try ProtocolError(from: &reader))
    default:
      guard MessageNumber.maySkip(number) else {
        throw reader.damage("number of the message", .unknownMessage(number: number), at: 0)
      }
      self = .skipped(number: number)
      return
    }
    try reader.end()
  }
}

private func frame(_ numbers: UInt64...) -> [UInt8] {
  var bytes: [UInt8] = []
  for number in numbers { bytes.appendVarint(number) }
  return bytes
}

private func frame(_ number: UInt64, _ content: some MessagePart) -> [UInt8] {
  var bytes = frame(number)
  content.append(to: &bytes)
  return bytes
}

extension Step {
  /// The fields as a body without compression, which is the same for every writer.
  package var plainBytes: [UInt8] {
    var body: [UInt8] = []
    append(to: &body)
    return body
  }
}

/// The frame of a message whose fields are a body. Behind the number stand 0 and the fields, or the length of the
/// fields and one zlib stream of them.
private func frameOfBody(_ number: UInt64, _ content: some MessagePart) -> [UInt8] {
  var body: [UInt8] = []
  content.append(to: &body)
  // A body above the limit is not compressed, because no receiver expands it.
  let isCompressed = (MessageLimit.plainBodyBytes + 1...MessageLimit.bodyBytes).contains(body.count)
  guard isCompressed, let compressed = Deflate.compressed(body, level: 1) else {
    return frame(number, 0) + body
  }
  return frame(number, UInt64(body.count)) + compressed
}
