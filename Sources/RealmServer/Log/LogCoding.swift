import RealmStorage
import RealmSync

/// The bytes of an entry of the log (FORMAT.md, "The state of a server").
extension LogRecord {
  private enum Kind {
    static let upload: UInt8 = 0
    static let register: UInt8 = 1
    static let retire: UInt8 = 2
    static let flexible: UInt8 = 3
    static let rules: UInt8 = 4
    static let querySet: UInt8 = 5
    static let trim: UInt8 = 6
    static let user: UInt8 = 7
    static let time: UInt8 = 8
    static let semantics: UInt8 = 9
    static let stateHash: UInt8 = 10
  }

  /// Reads an entry. The result is nil if the bytes are not those of an entry.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let tag = reader.integer(UInt64.self), let time = reader.varint(),
      let kind = reader.integer(UInt8.self),
      let entry = Self.entry(kind, &reader), reader.isAtEnd
    else { return nil }
    self.init(tag: tag, time: time, entry)
  }

  private static func entry(_ kind: UInt8, _ reader: inout ByteReader) -> LogEntry? {
    switch kind {
    case Kind.upload: return Upload(&reader).map { .upload($0) }
    case Kind.register: return Registration(&reader).map { .register($0) }
    case Kind.retire: return reader.integer(UInt64.self).map { .retire(replica: $0) }
    case Kind.flexible: return reader.integer(UInt64.self).map { .flexible(replica: $0) }
    case Kind.rules:
      guard let hasUser = reader.integer(UInt8.self), let user = reader.text(),
        let rules = AccessRules(&reader)
      else {
        return nil
      }
      return .rules(user: hasUser == 0 ? nil : user, rules)
    case Kind.querySet:
      guard let replica = reader.integer(UInt64.self), let number = reader.varint(),
        let oldest = reader.varint(), let hash = reader.integer(UInt64.self),
        let filters = ClassFilters(&reader)
      else { return nil }
      return .querySet(replica: replica, number: number, oldest: oldest, hash: hash, filters)
    case Kind.trim: return reader.varint().map { .trim(horizon: $0) }
    case Kind.user:
      guard let user = reader.text(), let data = UserData(&reader) else { return nil }
      return .user(user, data.values)
    case Kind.time: return .time
    case Kind.semantics: return reader.varint().map { .semantics($0) }
    case Kind.stateHash:
      guard let version = reader.varint(), let hash = reader.counted() else { return nil }
      return .stateHash(version: version, Array(hash))
    default: return nil
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendInteger(tag)
    bytes.appendVarint(time)
    switch entry {
    case .upload(let upload):
      bytes.append(Kind.upload)
      upload.append(to: &bytes)
    case .register(let registration):
      bytes.append(Kind.register)
      registration.append(to: &bytes)
    case .retire(let replica):
      bytes.append(Kind.retire)
      bytes.appendInteger(replica)
    case .flexible(let replica):
      bytes.append(Kind.flexible)
      bytes.appendInteger(replica)
    case .rules(let user, let rules):
      bytes.append(Kind.rules)
      bytes.append(user == nil ? 0 : 1)
      ValueCoding.append(user ?? "", to: &bytes)
      rules.append(to: &bytes)
    case .querySet(let replica, let number, let oldest, let hash, let filters):
      bytes.append(Kind.querySet)
      bytes.appendInteger(replica)
      bytes.appendVarint(number)
      bytes.appendVarint(oldest)
      bytes.appendInteger(hash)
      filters.append(to: &bytes)
    case .trim(let horizon):
      bytes.append(Kind.trim)
      bytes.appendVarint(horizon)
    case .user(let user, let data):
      bytes.append(Kind.user)
      ValueCoding.append(user, to: &bytes)
      UserData(values: data).append(to: &bytes)
    case .time: bytes.append(Kind.time)
    case .semantics(let number):
      bytes.append(Kind.semantics)
      bytes.appendVarint(number)
    case .stateHash(let version, let hash):
      bytes.append(Kind.stateHash)
      bytes.appendVarint(version)
      bytes.appendVarint(UInt64(hash.count))
      bytes += hash
    }
    return bytes
  }
}

/// An upload is stored as the message that brought it. Before the message stands what it does not contain: the replica,
/// the user, the hash and the numbers of the query sets.
extension Upload {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let replica = reader.integer(UInt64.self), let user = reader.text(), let hash = reader.counted(),
      let count = reader.varint(), count <= UInt64(reader.count)
    else { return nil }
    var querySets: [UInt64] = []
    for _ in 0..<count {
      guard let number = reader.varint() else { return nil }
      querySets.append(number)
    }
    guard let frame = reader.counted(), case .upload(let message)? = try? ClientMessage(bytes: Array(frame))
    else {
      return nil
    }
    self.init(
      replica: replica, user: user, sequence: message.sequence, previous: message.previous, hash: Array(hash),
      base: message.base, stamp: message.stamp, querySets: querySets, replicas: message.replicas,
      changeset: message.changeset)
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.appendInteger(replica)
    ValueCoding.append(user, to: &bytes)
    bytes.appendVarint(UInt64(hash.count))
    bytes += hash
    bytes.appendVarint(UInt64(querySets.count))
    for number in querySets { bytes.appendVarint(number) }
    let message = UploadMessage(
      sequence: sequence, previous: previous, base: base, stamp: stamp, querySet: querySets.first ?? 0,
      replicas: replicas, changeset: changeset)
    let frame = ClientMessage.upload(message).bytes
    bytes.appendVarint(UInt64(frame.count))
    bytes += frame
  }
}

extension Registration {
  private enum Flag {
    static let partition: UInt8 = 1
    static let predecessor: UInt8 = 2
    static let all: UInt8 = 3
  }

  fileprivate init?(_ reader: inout ByteReader) {
    guard let replica = reader.integer(UInt64.self), let user = reader.text(),
      let flags = reader.integer(UInt8.self), flags <= Flag.all
    else { return nil }
    self.init(replica: replica, user: user)
    if flags & Flag.partition != 0 {
      guard let partition = ValueCoding.mixed(&reader, levels: 0) else { return nil }
      self.partition = partition
    }
    if flags & Flag.predecessor != 0 {
      guard let predecessor = reader.integer(UInt64.self) else { return nil }
      self.predecessor = predecessor
    }
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.appendInteger(replica)
    ValueCoding.append(user, to: &bytes)
    bytes.append((partition == nil ? 0 : Flag.partition) | (predecessor == nil ? 0 : Flag.predecessor))
    if let partition { ValueCoding.appendMixed(partition, to: &bytes) }
    if let predecessor { bytes.appendInteger(predecessor) }
  }
}

/// The data of a user: values by name. The bytes are a count, and for each name the name and its values.
struct UserData {
  var values: [String: [Value]] = [:]

  init(values: [String: [Value]]) { self.values = values }

  init?(_ reader: inout ByteReader) {
    guard let count = reader.varint(), count <= UInt64(reader.count) else { return nil }
    for _ in 0..<count {
      guard let name = reader.text(), let many = reader.varint(), many <= UInt64(reader.count) else {
        return nil
      }
      var found: [Value] = []
      for _ in 0..<many {
        guard let value = ValueCoding.mixed(&reader, levels: 0) else { return nil }
        found.append(value)
      }
      values[name] = found
    }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(values.count))
    for (name, values) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      ValueCoding.append(name, to: &bytes)
      bytes.appendVarint(UInt64(values.count))
      for value in values { ValueCoding.appendMixed(value, to: &bytes) }
    }
  }
}
