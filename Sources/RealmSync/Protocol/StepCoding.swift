import RealmStorage

extension Step: MessagePart {
  private enum Flag {
    static let isLast: UInt8 = 1
    static let partition: UInt8 = 2
    static let all: UInt8 = 3
  }

  init(from reader: inout MessageReader) throws(MessageDamage) {
    let (from, to) = (try reader.number("version before"), try reader.number("version"))
    let tag = try reader.number("tag")
    let querySet = try reader.number("number of the query set")
    let mark = try reader.stamp("mark")
    let lastSequence = try reader.number("last sequence")
    let flags = try reader.flags("flags", known: Flag.all)
    let partition = flags & Flag.partition == 0 ? nil : try reader.value("partition")
    self.init(
      from: from, to: to, tag: tag, querySet: querySet, partition: partition, mark: mark,
      lastSequence: lastSequence)
    isLast = flags & Flag.isLast != 0
    remainingObjects = try reader.number("remaining objects")
    remainingBytes = try reader.number("remaining bytes")
    own = try reader.list("own changesets")
    replicas = try reader.replicas()
    created = try reader.createdObjects()
    guard created == nil else { return }
    let changeset = try reader.changeset("changeset", mostInstructions: MessageLimit.stepInstructions)
    schema = changeset.schema
    objects = try reader.objectSteps(changeset.objects, replicas: replicas.count)
  }

  func append(to bytes: inout [UInt8]) {
    for number in [from, to, tag, querySet] { bytes.appendVarint(number) }
    bytes.append(stamp: mark)
    bytes.appendVarint(lastSequence)
    bytes.append((isLast ? Flag.isLast : 0) | (partition == nil ? 0 : Flag.partition))
    if let partition { ValueCoding.appendMixed(partition, to: &bytes) }
    bytes.appendVarint(remainingObjects)
    bytes.appendVarint(remainingBytes)
    bytes.append(list: own)
    bytes.append(replicas: replicas)
    if let created { return bytes.append(created: created) }
    var content = StepContent(schema)
    for object in objects { content.append(object) }
    content.append(to: &bytes)
  }
}

extension OwnChangeset: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      sequence: try reader.number("sequence"), version: try reader.number("version"),
      stamp: try reader.stamp("stamp"), hash: try reader.hash("hash of a changeset"),
      refusals: try reader.list("refusals"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(sequence)
    bytes.appendVarint(version)
    bytes.append(stamp: stamp)
    bytes.append(counted: hash)
    bytes.append(list: refusals)
  }
}

extension Refusal {
  /// The bytes of the refusal in a message.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// The refusal in its bytes; nil if they are not a refusal.
  package init?(bytes: [UInt8]) {
    var reader = MessageReader(part: bytes)
    guard let refusal = try? Refusal(from: &reader), reader.isAtEnd else { return nil }
    self = refusal
  }
}

extension Refusal: MessagePart {
  private enum Kind {
    static let object: UInt8 = 0
    static let table: UInt8 = 1
    static let property: UInt8 = 2
  }

  init(from reader: inout MessageReader) throws(MessageDamage) {
    var start = reader.offset
    let kind = try reader.byte("kind of a refusal")
    let subject: Subject
    switch kind {
    case Kind.object: subject = .object(try reader.objectName("refused object"))
    case Kind.table: subject = .table(try reader.text("refused class"))
    case Kind.property:
      subject = .property(
        table: try reader.text("class of a refused property"), try reader.text("refused property"))
    default: throw reader.damage("kind of a refusal", .unknownKind(UInt64(kind)), at: start)
    }
    start = reader.offset
    let number = try reader.byte("reason of a refusal")
    guard let reason = Reason(rawValue: number) else {
      throw reader.damage("reason of a refusal", .unknownKind(UInt64(number)), at: start)
    }
    self.init(subject: subject, reason: reason)
  }

  func append(to bytes: inout [UInt8]) {
    switch subject {
    case .object(let name):
      bytes.append(Kind.object)
      bytes.append(objectName: name)
    case .table(let table):
      bytes.append(Kind.table)
      bytes.append(text: table)
    case .property(let table, let property):
      bytes.append(Kind.property)
      bytes.append(text: table)
      bytes.append(text: property)
    }
    bytes.append(reason.rawValue)
  }
}

extension DecidedBy: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      version: try reader.number("version"), stamp: try reader.stamp("stamp"),
      replica: try reader.number32("number of a replica"))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(version)
    bytes.append(stamp: stamp)
    bytes.appendVarint(UInt64(replica))
  }
}
