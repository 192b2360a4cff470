/// The bytes of fields, as docs/sync-protocol.md describes them.
enum Bytes {
  static func number(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  static func text(_ text: String) -> [UInt8] { counted(Array(text.utf8)) }

  static func counted(_ bytes: [UInt8]) -> [UInt8] { number(UInt64(bytes.count)) + bytes }

  /// A stamp for a time in milliseconds since 1970.
  static func stamp(_ time: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: (time << 16) >> (8 * $0)) }
  }
}

/// The error if a message ends early.
struct MessageTooShort: Error {}

/// The error if a message is of another kind than the expected one.
struct OtherMessage: Error {
  let number: UInt64?
}

struct FieldReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }
  var left: [UInt8] { Array(rest) }

  mutating func byte() throws -> UInt8 {
    guard let byte = rest.popFirst() else { throw MessageTooShort() }
    return byte
  }

  mutating func number() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
      shift += 7
    }
  }

  mutating func bytes(_ count: Int) throws -> [UInt8] {
    guard rest.count >= count else { throw MessageTooShort() }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func text() throws -> String {
    let count = Int(try number())
    return String(decoding: try bytes(count), as: UTF8.self)
  }
}

/// A message of a WebSocket.
struct ChannelMessage: Sendable {
  let channel: UInt64
  /// The frame; empty if the server closes the channel.
  let frame: [UInt8]

  init(_ payload: [UInt8]) throws {
    var reader = FieldReader(payload)
    channel = try reader.number()
    frame = reader.left
  }

  /// The number of the message in the frame; nil if the frame is empty.
  var number: UInt64? {
    var reader = FieldReader(frame)
    return try? reader.number()
  }

  /// The fields after the number, which must be the expected one.
  func fields(_ expected: UInt64) throws -> FieldReader {
    var reader = FieldReader(frame)
    guard number == expected else { throw OtherMessage(number: number) }
    _ = try reader.number()
    return reader
  }
}

/// The first answer of a session.
struct WelcomeMessage: Sendable {
  static let number: UInt64 = 4

  let version: UInt64
  let time: UInt64
  /// The answer: 0 for known, 1 for registered, 2 for reset.
  let answer: UInt8
  /// The number of the replica; 0 if the file is known.
  private(set) var replica: UInt64 = 0
  private(set) var logVersion: UInt64 = 0
  private(set) var tag: UInt64 = 0
  let session: UInt64

  init(_ message: ChannelMessage) throws {
    var reader = try message.fields(Self.number)
    version = try reader.number()
    for _ in 0..<(try reader.number()) { _ = try reader.text() }
    time = try reader.number()
    for _ in 0..<6 { _ = try reader.number() }
    answer = try reader.byte()
    if answer != 0 {
      replica = try reader.number()
      logVersion = try reader.number()
      tag = try reader.number()
      _ = try reader.bytes(8)
    }
    session = try reader.number()
  }
}

/// A message that ends a session.
struct ErrorMessage: Sendable {
  static let number: UInt64 = 22

  let code: UInt64
  let text: String
  /// The action: 1 to try again later, 4 to connect again and be reset, 5 to stop.
  let action: UInt8
  /// The wait in milliseconds.
  let wait: UInt64

  init(_ message: ChannelMessage) throws {
    var reader = try message.fields(Self.number)
    code = try reader.number()
    text = try reader.text()
    action = try reader.byte()
    wait = try reader.number()
  }
}

/// Frames that clients send, and the numbers of the server's frames.
enum Frames {
  static let stepNumber: UInt64 = 14
  static let markAnswerNumber: UInt64 = 20

  /// The hello of a file that was never registered, without a partition.
  static let hello: [UInt8] = [2, 1, 1, 0, 0, 0]

  /// The hello of a file that was registered before.
  static func hello(_ replica: UInt64) -> [UInt8] {
    var frame: [UInt8] = [2, 1, 1, 0, 1]
    frame += Bytes.number(replica)
    frame.append(0)
    return frame
  }

  /// The start of a file that has no objects and no pending changesets.
  static func start(_ welcome: WelcomeMessage) -> [UInt8] {
    var frame: [UInt8] = [6]
    for number in [welcome.logVersion, welcome.tag, welcome.session] { frame += Bytes.number(number) }
    // These fields are no query set, no wanted set, no changeset, no pending changesets, and therefore no least base.
    frame += [0, 0, 0, 0, 0]
    return frame
  }

  static func mark(_ request: UInt8) -> [UInt8] { [18, request] }

  /// The query set 1, for all objects of a class.
  static func querySet(of table: String) -> [UInt8] {
    var frame: [UInt8] = [8, 1, 1]
    frame += Bytes.text(table)
    frame.append(0)
    return frame
  }

  /// The changeset of a sequence. It makes objects of the class `Note`, one for each element of `data`.
  ///
  /// Only the first changeset has the right hash of the previous one.
  static func upload(_ sequence: UInt64, _ welcome: WelcomeMessage, data: [[UInt8]]) -> [UInt8] {
    var changeset: [UInt8] = [3]
    for name in ["Note", "_id", "data"] { changeset += Bytes.text(name) }
    // The changeset defines the class with its key, an integer, and a property of data.
    changeset += [17, 0, 1, 1, 5, 0, 0]
    changeset += [18, 0, 2, 9, 0, 0]
    for (place, bytes) in data.enumerated() {
      // These bytes are the object with its key, its creation, and the value of its property.
      let key = UInt8(2 * place + 2)
      changeset += [16, 0, 5, key, 1, 3, 2, 0, 9]
      changeset += Bytes.counted(bytes)
    }
    changeset.append(0)
    // The body is not compressed.
    var frame: [UInt8] = [12, 0]
    frame += Bytes.number(sequence)
    // No hash of the previous changeset follows, and then the base and the stamp.
    frame.append(0)
    frame += Bytes.number(welcome.logVersion)
    frame += Bytes.stamp(welcome.time)
    // These fields are the query set, no flags, and one replica, which is the number 0.
    frame += [1, 0, 1, 0]
    frame += Bytes.counted(changeset)
    return frame
  }
}
