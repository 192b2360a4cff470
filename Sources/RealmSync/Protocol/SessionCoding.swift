import RealmStorage

// The fields of the messages that begin and end a session, and of those that ask for something. Each part is read in
// the order in which it is written.

extension Hello: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    let oldest = try reader.number32("oldest version")
    let start = reader.offset
    let newest = try reader.number32("newest version")
    guard oldest <= newest else { throw reader.damage("newest version", .disagrees, at: start) }
    self.init(
      versions: oldest...newest, capabilities: try reader.texts("capabilities"),
      replica: try reader.flag("replica") ? reader.number("replica") : nil,
      partition: try reader.flag("partition") ? reader.value("partition") : nil)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(versions.lowerBound))
    bytes.appendVarint(UInt64(versions.upperBound))
    bytes.append(texts: capabilities)
    bytes.append(flag: replica != nil)
    if let replica { bytes.appendVarint(replica) }
    bytes.append(flag: partition != nil)
    if let partition { ValueCoding.appendMixed(partition, to: &bytes) }
  }
}

extension Welcome: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    let version = try reader.number32("version of the protocol")
    let capabilities = try reader.texts("capabilities")
    let time = try reader.number("time")
    let limits = try Limits(from: &reader)
    self.init(
      version: version, capabilities: capabilities, answer: try Answer(from: &reader), limits: limits,
      time: time, partitionProperty: try reader.text("partition property", tag: Self.propertyTag))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(version))
    bytes.append(texts: capabilities)
    bytes.appendVarint(time)
    limits.append(to: &bytes)
    answer.append(to: &bytes)
    guard let partitionProperty else { return }
    bytes.appendVarint(Self.propertyTag)
    bytes.append(text: partitionProperty)
  }

  private static let propertyTag: UInt64 = 1
}

extension Welcome.Limits: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      changesetBytes: try reader.number("limit of changesets"),
      valueBytes: try reader.number("limit of values"), querySets: try reader.number32("limit of query sets"),
      bytesUnderWay: try reader.number("limit of bytes under way"),
      firstWait: try reader.number32("first wait"), longestWait: try reader.number32("longest wait"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(changesetBytes)
    bytes.appendVarint(valueBytes)
    bytes.appendVarint(UInt64(querySets))
    bytes.appendVarint(bytesUnderWay)
    bytes.appendVarint(UInt64(firstWait))
    bytes.appendVarint(UInt64(longestWait))
  }
}

extension Welcome.Answer: MessagePart {
  private enum Kind {
    static let known: UInt8 = 0
    static let registered: UInt8 = 1
    static let reset: UInt8 = 2
  }

  init(from reader: inout MessageReader) throws(MessageDamage) {
    let start = reader.offset
    let kind = try reader.byte("answer")
    switch kind {
    case Kind.known: self = .known(sessionNumber: try reader.number("number of the session"))
    case Kind.registered: self = .registered(try Welcome.Registered(from: &reader))
    case Kind.reset: self = .reset(try Welcome.Reset(from: &reader))
    default: throw reader.damage("answer", .unknownKind(UInt64(kind)), at: start)
    }
  }

  func append(to bytes: inout [UInt8]) {
    switch self {
    case .known(let sessionNumber):
      bytes.append(Kind.known)
      bytes.appendVarint(sessionNumber)
    case .registered(let registered):
      bytes.append(Kind.registered)
      registered.append(to: &bytes)
    case .reset(let reset):
      bytes.append(Kind.reset)
      reset.append(to: &bytes)
    }
  }
}

extension Welcome.Registered: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      replica: try reader.number("replica"), version: try reader.number("version"),
      tag: try reader.number("tag"), mark: try reader.stamp("mark"),
      sessionNumber: try reader.number("number of the session"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(replica)
    bytes.appendVarint(version)
    bytes.appendVarint(tag)
    bytes.append(stamp: mark)
    bytes.appendVarint(sessionNumber)
  }
}

extension Welcome.Reset: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      registered: try Welcome.Registered(from: &reader), integrated: try reader.list("integrated changesets"),
      refusals: try reader.list("refusals"), isInDoubt: try reader.flag("doubt"))
  }

  func append(to bytes: inout [UInt8]) {
    registered.append(to: &bytes)
    bytes.append(list: integrated)
    bytes.append(list: refusals)
    bytes.append(flag: isInDoubt)
  }
}

extension NamedChangeset: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(sequence: try reader.number("sequence"), hash: try reader.hash("hash of a changeset"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(sequence)
    bytes.append(counted: hash)
  }
}

extension SessionStart: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      version: try reader.number("version"), tag: try reader.number("tag"),
      sessionNumber: try reader.number("number of the session"),
      querySet: try reader.number("number of the query set"),
      wanted: try reader.number("number of the wanted query set"),
      last: try reader.flag("last changeset") ? NamedChangeset(from: &reader) : nil,
      pending: try reader.list("pending changesets"),
      leastBase: try reader.flag("least base") ? reader.number("least base") : nil)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(version)
    bytes.appendVarint(tag)
    bytes.appendVarint(sessionNumber)
    bytes.appendVarint(querySet)
    bytes.appendVarint(wanted)
    bytes.append(flag: last != nil)
    last?.append(to: &bytes)
    bytes.append(list: pending)
    bytes.append(flag: leastBase != nil)
    if let leastBase { bytes.appendVarint(leastBase) }
  }
}

extension QuerySet: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(number: try reader.number("number of the query set"), queries: try reader.list("queries"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(number)
    bytes.append(list: queries)
  }
}

extension QuerySet.Query: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(table: try reader.text("class of a query"), predicate: try reader.text("predicate of a query"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(text: table)
    bytes.append(text: predicate)
  }
}

extension ProtocolError: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    let code = try reader.number32("code")
    let text = try reader.text("text")
    let start = reader.offset
    let number = try reader.byte("action")
    guard let action = Action(rawValue: number) else {
      throw reader.damage("action", .unknownKind(UInt64(number)), at: start)
    }
    self.init(code: code, text: text, action: action, wait: try reader.number32("wait"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(code))
    bytes.append(text: text)
    bytes.append(action.rawValue)
    bytes.appendVarint(UInt64(wait))
  }
}
