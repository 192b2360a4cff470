import RealmStorage
import RealmSync

/// The bytes of a replica (FORMAT.md, "The state of a server"). Numbers are varints or have a fixed width. A text is
/// its length and its bytes.
extension Replica {
  private enum Flag {
    static let isRetired: UInt8 = 1
    static let hasPartition: UInt8 = 2
    static let isFlexible: UInt8 = 4
    static let all: UInt8 = 7
  }

  /// Reads a replica and its number. The result is nil if the bytes are not those of a replica.
  static func read(_ bytes: [UInt8]) -> (number: UInt64, Replica)? {
    var reader = ByteReader(bytes)
    guard let number = reader.integer(UInt64.self), let ordinal = reader.integer(UInt32.self),
      let user = reader.text(), let flags = reader.integer(UInt8.self), flags <= Flag.all
    else { return nil }
    var replica = Replica(ordinal: ordinal, user: user)
    replica.isRetired = flags & Flag.isRetired != 0
    if flags & Flag.hasPartition != 0 {
      guard let partition = ValueCoding.mixed(&reader, levels: 0) else { return nil }
      replica.partition = partition
    }
    if flags & Flag.isFlexible != 0 {
      guard let version = reader.varint() else { return nil }
      replica.flexibleFrom = version
    }
    guard replica.readRest(&reader), reader.isAtEnd else { return nil }
    return (number, replica)
  }

  private mutating func readRest(_ reader: inout ByteReader) -> Bool {
    guard let sequence = reader.varint(), let element = reader.integer(UInt32.self),
      let hash = reader.counted(),
      let stamp = reader.integer(UInt64.self),
      let count = reader.varint(), count <= UInt64(reader.count)
    else { return false }
    (lastSequence, lastHash, lastStamp) = (sequence, Array(hash), Stamp(word: stamp))
    lastElement = element
    for _ in 0..<count {
      guard let ordinal = reader.integer(UInt32.self) else { return false }
      predecessors.append(ordinal)
    }
    guard let creations = Self.refused(&reader), let properties = Self.refused(&reader) else { return false }
    (refusedCreations, refusedProperties) = (creations, properties)
    guard let sets = reader.varint(), sets <= UInt64(reader.count) else { return false }
    for _ in 0..<sets {
      guard let number = reader.varint(), let hash = reader.integer(UInt64.self),
        let filters = ClassFilters(&reader)
      else { return false }
      querySets[number] = filters
      if hash != 0 { querySetHashes[number] = hash }
    }
    return true
  }

  private static func refused(_ reader: inout ByteReader) -> [ObjectName: UInt64]? {
    guard let count = reader.varint(), count <= UInt64(reader.count) else { return nil }
    var refused: [ObjectName: UInt64] = [:]
    for _ in 0..<count {
      guard let table = reader.text(), let key = ValueCoding.mixed(&reader, levels: 0),
        let version = reader.varint()
      else { return nil }
      refused[ObjectName(table, key)] = version
    }
    return refused
  }

  private static func append(_ refused: [ObjectName: UInt64], to bytes: inout [UInt8]) {
    var entries: [[UInt8]] = []
    for (name, version) in refused {
      var entry: [UInt8] = []
      ValueCoding.append(name.table, to: &entry)
      ValueCoding.appendMixed(name.key, to: &entry)
      entry.appendVarint(version)
      entries.append(entry)
    }
    bytes.appendVarint(UInt64(entries.count))
    // The order of the entries is the same at all nodes.
    for entry in entries.sorted(by: { $0.lexicographicallyPrecedes($1) }) { bytes += entry }
  }

  func bytes(number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendInteger(number)
    bytes.appendInteger(ordinal)
    ValueCoding.append(user, to: &bytes)
    bytes.append(
      (isRetired ? Flag.isRetired : 0) | (partition == nil ? 0 : Flag.hasPartition)
        | (flexibleFrom == nil ? 0 : Flag.isFlexible))
    if let partition { ValueCoding.appendMixed(partition, to: &bytes) }
    if let flexibleFrom { bytes.appendVarint(flexibleFrom) }
    bytes.appendVarint(lastSequence)
    bytes.appendInteger(lastElement)
    bytes.appendVarint(UInt64(lastHash.count))
    bytes += lastHash
    bytes.appendInteger(lastStamp.word)
    bytes.appendVarint(UInt64(predecessors.count))
    for ordinal in predecessors { bytes.appendInteger(ordinal) }
    for refused in [refusedCreations, refusedProperties] { Self.append(refused, to: &bytes) }
    bytes.appendVarint(UInt64(querySets.count))
    for (number, filters) in querySets.sorted(by: { $0.key < $1.key }) {
      bytes.appendVarint(number)
      bytes.appendInteger(querySetHashes[number] ?? 0)
      filters.append(to: &bytes)
    }
    return bytes
  }
}

/// An entry is stored with the effects as a step (docs/sync-protocol.md) in which replicas have their ordinals.
extension HistoryEntry {
  private enum Flag {
    static let before: UInt8 = 1
    static let after: UInt8 = 2
    static let isAsWritten: UInt8 = 4
    static let all: UInt8 = 7
  }

  init?(version: UInt64, _ reader: inout ByteReader) {
    guard let replica = reader.varint().flatMap(UInt32.init(exactly:)), let length = reader.varint(),
      let frame = Int(exactly: length).flatMap({ reader.bytes($0) }),
      case .step(let step)? = try? ServerMessage(bytes: Array(frame)), let own = step.own.first
    else { return nil }
    self.init(
      version: version, replica: replica, sequence: own.sequence, hash: own.hash, base: step.from,
      stamp: own.stamp, refusals: own.refusals)
    for object in step.objects {
      guard case .effects(let all) = object.change, case .others(_, let effects)? = all.first,
        let flags = reader.integer(UInt8.self), flags <= Flag.all
      else { return nil }
      var made = ObjectHistory(
        name: object.name, effects: effects, isAsWritten: flags & Flag.isAsWritten != 0)
      if flags & Flag.before != 0 {
        guard let values = Self.values(&reader) else { return nil }
        made.before = values
      }
      if flags & Flag.after != 0 {
        guard let values = Self.values(&reader) else { return nil }
        made.after = values
      }
      objects.append(made)
    }
    guard reader.isAtEnd else { return nil }
  }

  private static func values(_ reader: inout ByteReader) -> [Value]? {
    guard let count = reader.varint(), count <= UInt64(reader.count) else { return nil }
    var values: [Value] = []
    for _ in 0..<count {
      guard let value = ValueCoding.mixed(&reader, levels: 0) else { return nil }
      values.append(value)
    }
    return values
  }

  /// - Parameter isCompressed: false for bytes that are the same at all nodes. Two programs may compress the same bytes
  ///   to different ones.
  func append(to bytes: inout [UInt8], isCompressed: Bool = true) {
    var step = Step(
      from: base, to: version, tag: 0, querySet: 0, partition: nil, mark: stamp, lastSequence: sequence)
    step.own = [
      OwnChangeset(sequence: sequence, version: version, stamp: stamp, hash: hash, refusals: refusals)
    ]
    let decided = DecidedBy(version: version, stamp: stamp, replica: 0)
    step.objects = objects.map { ObjectStep($0.name, .effects([.others(decided, $0.effects)])) }
    let frame = isCompressed ? ServerMessage.step(step).bytes : step.plainBytes
    bytes.appendVarint(UInt64(replica))
    bytes.appendVarint(UInt64(frame.count))
    bytes += frame
    for object in objects {
      bytes.append(
        (object.before == nil ? 0 : Flag.before) | (object.after == nil ? 0 : Flag.after)
          | (object.isAsWritten ? Flag.isAsWritten : 0))
      for values in [object.before, object.after].compactMap(\.self) {
        bytes.appendVarint(UInt64(values.count))
        for value in values { ValueCoding.appendMixed(value, to: &bytes) }
      }
    }
  }
}
