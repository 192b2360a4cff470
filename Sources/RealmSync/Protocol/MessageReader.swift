import RealmStorage

/// A part of a message with a form of its own.
protocol MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage)
  func append(to bytes: inout [UInt8])
}

/// Reads the fields of a message from arbitrary bytes.
struct MessageReader {
  private var reader: ByteReader
  private let length: Int
  private let isBody: Bool
  /// The tag of the optional field that was read last.
  private var lastTag: UInt64 = 0
  /// The number of parts of lists that may still come. A part may stand in one byte, and takes many times as much in
  /// memory.
  private var parts: Int

  /// The position at which the next field begins.
  var offset: Int { length - reader.count }

  /// - Parameter parts: the greatest number of parts of all lists together.
  init(frame: [UInt8], parts: Int) throws(MessageDamage) {
    self.init(frame, isBody: false, parts)
    guard frame.count <= MessageLimit.frameBytes else {
      throw damage(
        "frame", .tooLarge(found: UInt64(frame.count), limit: UInt64(MessageLimit.frameBytes)), at: 0)
    }
  }

  /// Reads a part of a message that stands alone.
  init(part: [UInt8]) { self.init(part, isBody: true, MessageLimit.serverParts) }

  var isAtEnd: Bool { reader.isAtEnd }

  private init(_ bytes: [UInt8], isBody: Bool, _ parts: Int) {
    reader = ByteReader(bytes)
    length = bytes.count
    (self.isBody, self.parts) = (isBody, parts)
  }

  func damage(_ field: String, _ reason: MessageDamage.Reason, at offset: Int) -> MessageDamage {
    MessageDamage(field: field, offset: offset, isInBody: isBody, reason)
  }

  // MARK: - The frame

  /// The reader of the fields of a body, which may be compressed. The body reaches to the end of the frame.
  ///
  /// - Parameter limit: the greatest number of bytes of the expanded body. No more memory is taken for it.
  mutating func body(limit: Int) throws(MessageDamage) -> MessageReader {
    let start = offset
    let expanded = try number("length of the body", limit: UInt64(max(0, limit)))
    guard expanded > 0 else {
      guard reader.count <= limit else {
        throw damage("body", .tooLarge(found: UInt64(reader.count), limit: UInt64(max(0, limit))), at: start)
      }
      return self
    }
    let compressed = Array(reader.bytes(reader.count) ?? [])
    guard let body = Deflate.expanded(compressed, count: Int(expanded)) else {
      throw damage("body", .notCompressed, at: start)
    }
    return MessageReader(body, isBody: true, parts)
  }

  /// Skips the optional fields behind the last known field.
  mutating func end() throws(MessageDamage) {
    while !reader.isAtEnd {
      try nextTag()
      _ = try slice("optional field")
    }
  }

  private mutating func nextTag() throws(MessageDamage) {
    let start = offset
    let tag = try number("tag of an optional field")
    // The tags grow, so no tag can come twice.
    guard tag > lastTag else { throw damage("tag of an optional field", .disagrees, at: start) }
    lastTag = tag
  }

  /// Reads an optional field that is a text; nil if the message does not have it. Fields must be read in the order of
  /// their tags.
  mutating func text(_ field: String, tag: UInt64) throws(MessageDamage) -> String? {
    while !reader.isAtEnd {
      let before = self
      try nextTag()
      if lastTag == tag { return try text(field) }
      guard lastTag < tag else {
        self = before
        return nil
      }
      _ = try slice("optional field")
    }
    return nil
  }

  // MARK: - Numbers

  mutating func number(_ field: String, limit: UInt64 = .max) throws(MessageDamage) -> UInt64 {
    let (start, left) = (offset, reader.count)
    guard let number = reader.varint() else {
      // Ten bytes hold 64 bits. If ten bytes are there, the number is too long.
      throw damage(field, left < 10 ? .endsEarly : .noNumber, at: start)
    }
    guard number <= limit else { throw damage(field, .tooLarge(found: number, limit: limit), at: start) }
    return number
  }

  mutating func number32(_ field: String) throws(MessageDamage) -> UInt32 {
    UInt32(truncatingIfNeeded: try number(field, limit: UInt64(UInt32.max)))
  }

  /// Reads how many parts follow. Each part takes at least one byte.
  mutating func count(_ field: String, limit: UInt64 = .max) throws(MessageDamage) -> Int {
    let start = offset
    let count = try number(field, limit: limit)
    guard count <= UInt64(reader.count) else { throw damage(field, .endsEarly, at: start) }
    guard count <= UInt64(parts) else {
      throw damage(field, .tooLarge(found: count, limit: UInt64(parts)), at: start)
    }
    parts -= Int(count)
    return Int(count)
  }

  mutating func byte(_ field: String) throws(MessageDamage) -> UInt8 {
    guard let byte = reader.integer(UInt8.self) else { throw damage(field, .endsEarly, at: offset) }
    return byte
  }

  /// Reads a byte of flags.
  ///
  /// - Parameter known: the byte in which all known bits are set.
  mutating func flags(_ field: String, known: UInt8) throws(MessageDamage) -> UInt8 {
    let start = offset
    let flags = try byte(field)
    guard flags <= known else { throw damage(field, .unknownKind(UInt64(flags)), at: start) }
    return flags
  }

  mutating func flag(_ field: String) throws(MessageDamage) -> Bool { try flags(field, known: 1) == 1 }

  mutating func stamp(_ field: String) throws(MessageDamage) -> Stamp {
    guard let word = reader.integer(UInt64.self) else { throw damage(field, .endsEarly, at: offset) }
    return Stamp(word: word)
  }

  // MARK: - Bytes and values

  private mutating func slice(_ field: String) throws(MessageDamage) -> ArraySlice<UInt8> {
    let start = offset
    guard let bytes = reader.counted() else { throw damage(field, .endsEarly, at: start) }
    return bytes
  }

  mutating func bytes(_ field: String) throws(MessageDamage) -> [UInt8] { Array(try slice(field)) }

  mutating func text(_ field: String) throws(MessageDamage) -> String {
    let start = offset
    var asBytes = reader
    if let text = reader.text() { return text }
    throw damage(field, asBytes.counted() == nil ? .endsEarly : .notUTF8, at: start)
  }

  mutating func hash(_ field: String, mayBeEmpty: Bool = false) throws(MessageDamage) -> [UInt8] {
    let start = offset
    let bytes = try slice(field)
    guard bytes.count == MessageLimit.hashBytes || mayBeEmpty && bytes.isEmpty else {
      throw damage(field, .hashLength(bytes.count), at: start)
    }
    return Array(bytes)
  }

  /// Reads a value that is neither a link nor a list nor a map, because those mean something in one file only.
  mutating func value(_ field: String) throws(MessageDamage) -> Value {
    let start = offset
    switch ValueCoding.mixed(&reader, levels: 0) {
    case nil, .link, .typedLink, .list, .map: throw damage(field, .noValue, at: start)
    case let value?: return value
    }
  }

  mutating func objectName(_ field: String) throws(MessageDamage) -> ObjectName {
    let table = try text("class of the " + field)
    let start = offset
    let key = try value("key of the " + field)
    switch key {
    case .null, .int, .string, .uuid, .objectID: return ObjectName(table, key)
    default: throw damage("key of the " + field, .noValue, at: start)
    }
  }

  mutating func elementID(_ field: String) throws(MessageDamage) -> ElementID {
    ElementID(replica: try number32(field), counter: try number32(field))
  }

  mutating func changeset(_ field: String, mostInstructions: Int) throws(MessageDamage) -> Changeset {
    let bytes = try bytes(field)
    let start = offset - bytes.count
    do throws(ChangesetDamage) {
      return try Changeset(bytes: bytes, mostInstructions: mostInstructions)
    } catch {
      throw damage(field, .changeset(error), at: start)
    }
  }

  // MARK: - Several

  mutating func list<Part: MessagePart>(_ field: String) throws(MessageDamage) -> [Part] {
    var parts: [Part] = []
    for _ in 0..<(try count(field)) { parts.append(try Part(from: &self)) }
    return parts
  }

  mutating func texts(_ field: String) throws(MessageDamage) -> [String] {
    var texts: [String] = []
    for _ in 0..<(try count(field)) { texts.append(try text(field)) }
    return texts
  }

  /// Reads the numbers of replicas. The first is 0 and names no replica.
  mutating func replicas() throws(MessageDamage) -> [UInt64] {
    let start = offset
    var replicas: [UInt64] = []
    for _ in 0..<(try count("replicas", limit: UInt64(MessageLimit.replicas))) {
      replicas.append(try number("replicas"))
    }
    guard replicas.first == 0 else { throw damage("replicas", .firstReplica, at: start) }
    return replicas
  }
}

// MARK: - Writing

extension [UInt8] {
  mutating func append(text: String) {
    appendVarint(UInt64(text.utf8.count))
    self += text.utf8
  }

  mutating func append(counted bytes: [UInt8]) {
    appendVarint(UInt64(bytes.count))
    self += bytes
  }

  mutating func append(flag: Bool) { append(flag ? 1 : 0) }
  mutating func append(stamp: Stamp) { appendInteger(stamp.word) }

  mutating func append(objectName name: ObjectName) {
    append(text: name.table)
    ValueCoding.appendMixed(name.key, to: &self)
  }

  mutating func append(elementID id: ElementID) {
    appendVarint(UInt64(id.replica))
    appendVarint(UInt64(id.counter))
  }

  mutating func append(list parts: [some MessagePart]) {
    appendVarint(UInt64(parts.count))
    for part in parts { part.append(to: &self) }
  }

  mutating func append(texts: [String]) {
    appendVarint(UInt64(texts.count))
    for text in texts { append(text: text) }
  }

  mutating func append(replicas: [UInt64]) {
    appendVarint(UInt64(replicas.count))
    for replica in replicas { appendVarint(replica) }
  }
}
