import RealmStorage
import RealmSync

/// The state of a client's file toward its server: the numbers by which the server knows it, and its position in the
/// log.
package struct ClientPosition: Sendable, Equatable {
  /// The numbers of the replicas, by their numbers in the file. The first is 0 and names no replica. A file that was
  /// never registered has the greatest number of 64 bits, so that its changes count as the latest.
  package private(set) var replicas: [UInt64] = [0, .max]
  /// For each replica the greatest counter of the element ids in the file that the replica gave.
  package private(set) var lastElements: [UInt32] = [0, 0]
  private var indexes = ReplicaIndexes()
  /// The version of the log that the file has, and the tag of that entry.
  package var version: UInt64 = 0
  package var tag: UInt64 = 0
  /// The number of the query set that is in force.
  package var querySet: UInt64 = 0
  /// The property of the partition, and its value in all objects that the file sees and makes; nil for a file without a
  /// partition.
  package var partition: MergeContext.Partition?
  /// The version from which on the partition is an ordinary filter. Changes that are written upon that version or a
  /// later one have no partition.
  package var flexibleFrom: UInt64?
  package var sessionNumber: UInt64 = 0
  /// The number of sequences that the file gave while it was another replica.
  package var earlierSequences: UInt64 = 0
  /// The sequence of the last decided changeset of the file as this replica, and its hash.
  package var decided = NamedChangeset(sequence: 0, hash: [])
  /// True if the file began as a copy of another file and has had no step since. It then shows what the other file
  /// showed at the version.
  package var isCopy = false

  package init() {}

  package static let tree = "sync.client"
  private static let key: [UInt8] = [0]
  /// The bound for counts, which none of them ever reaches.
  private static let most: UInt64 = 1 << 62

  /// Reads the position from a file. A file that was never connected has none, and gets the initial position.
  package init(_ tree: some ReadableTree) throws(StorageError) {
    guard let bytes = try tree.value(for: Self.key) else { return }
    var reader = ByteReader(bytes)
    guard let count = reader.varint(), count <= UInt64(reader.count) else { throw tree.damaged }
    (replicas, lastElements) = ([], [])
    for _ in 0..<count {
      guard let number = reader.integer(UInt64.self), let element = reader.integer(UInt32.self) else {
        throw tree.damaged
      }
      replicas.append(number)
      lastElements.append(element)
    }
    guard replicas.count > 1, let version = reader.varint(), let tag = reader.integer(UInt64.self),
      let querySet = reader.varint(), let sessionNumber = reader.varint(), let earlier = reader.varint(),
      let sequence = reader.varint(), let hash = reader.counted(), let flags = reader.integer(UInt8.self),
      flags < 8, [version, querySet, earlier, sequence].allSatisfy({ $0 < Self.most })
    else { throw tree.damaged }
    (self.version, self.tag, self.querySet) = (version, tag, querySet)
    (self.sessionNumber, earlierSequences) = (sessionNumber, earlier)
    decided = NamedChangeset(sequence: sequence, hash: Array(hash))
    isCopy = flags & 4 != 0
    if flags & 2 != 0 {
      guard let version = reader.varint() else { throw tree.damaged }
      flexibleFrom = version
    }
    if flags & 1 != 0 {
      guard let property = reader.text(), let value = ValueCoding.mixed(&reader, levels: 0) else {
        throw tree.damaged
      }
      partition = MergeContext.Partition(property: property, value: value)
    }
    guard reader.isAtEnd else { throw tree.damaged }
  }

  package func store(in tree: WritableTree) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendVarint(UInt64(replicas.count))
    for (number, element) in zip(replicas, lastElements) {
      bytes.appendInteger(number)
      bytes.appendInteger(element)
    }
    bytes.appendVarint(version)
    bytes.appendInteger(tag)
    for number in [querySet, sessionNumber, earlierSequences, decided.sequence] { bytes.appendVarint(number) }
    bytes.appendVarint(UInt64(decided.hash.count))
    bytes += decided.hash
    bytes.append((partition == nil ? 0 : 1) | (flexibleFrom == nil ? 0 : 2) | (isCopy ? 4 : 0))
    if let flexibleFrom { bytes.appendVarint(flexibleFrom) }
    if let partition {
      ValueCoding.append(partition.property, to: &bytes)
      ValueCoding.appendMixed(partition.value, to: &bytes)
    }
    try tree.set(bytes, for: Self.key)
  }

  /// The partition of a changeset that was written upon a version.
  func partition(at base: UInt64?) -> MergeContext.Partition? {
    if let base, let flexibleFrom, flexibleFrom <= base { return nil }
    return partition
  }

  /// True if the file has room for these replicas beside those that it knows.
  func hasRoom(for others: Set<UInt64>) -> Bool {
    let most = MessageLimit.stepReplicas
    if replicas.count + others.count <= most { return true }
    return replicas.count + others.subtracting(replicas).count <= most
  }

  /// The number of a replica in the file. A new replica gets the next number.
  ///
  /// - Precondition: the file has room for the replica (`hasRoom`).
  mutating func index(_ number: UInt64) -> UInt32 { indexes.index(of: number, in: replicas) ?? add(number) }

  /// Gives a replica the next number in the file.
  mutating func add(_ number: UInt64) -> UInt32 {
    let index = UInt32(replicas.count)
    replicas.append(number)
    lastElements.append(0)
    indexes.add(number, index)
    return index
  }

  /// Changes the global number of a replica that has a number in the file.
  mutating func rename(_ index: UInt32, to number: UInt64) {
    replicas[Int(index)] = number
    indexes = ReplicaIndexes()
  }

  /// Turns the position into that of a copy. The copy is a client of its own that was never connected.
  ///
  /// - Precondition: nothing is pending.
  /// - Returns: the number of the new replica in the file.
  mutating func becomeCopy(of state: ChangelogState) -> UInt32 {
    let old = Int(state.replica)
    lastElements[old] = max(lastElements[old], UInt32(clamping: state.nextElement - 1))
    (earlierSequences, sessionNumber) = (state.nextSequence - 1, 0)
    decided = NamedChangeset(sequence: 0, hash: [])
    (isCopy, flexibleFrom) = (true, nil)
    // A file without a number has made nothing that is left.
    return replicas[old] == .max ? state.replica : add(.max)
  }

  /// Notes the ids that an instruction brings.
  mutating func note(_ instruction: Instruction) {
    switch instruction {
    case .insert(_, let id, _, _, _), .move(_, _, let id, _, _):
      guard Int(id.replica) < lastElements.count else { return }
      lastElements[Int(id.replica)] = max(lastElements[Int(id.replica)], id.counter)
    default: break
    }
  }
}

/// The numbers of replicas in the file, by their global numbers. The table is made at the first search, because most
/// transactions do not search.
private struct ReplicaIndexes: Sendable, Equatable {
  /// The table; nil before the first search.
  private var found: [UInt64: UInt32]?

  /// The table depends only on the numbers of the replicas, so it does not count for equality.
  static func == (left: Self, right: Self) -> Bool { true }

  mutating func index(of number: UInt64, in replicas: [UInt64]) -> UInt32? {
    if let found { return found[number] }
    var made: [UInt64: UInt32] = [:]
    made.reserveCapacity(replicas.count)
    for (index, number) in replicas.enumerated() where made[number] == nil { made[number] = UInt32(index) }
    found = made
    return made[number]
  }

  /// - Parameter index: a number that is greater than all others.
  mutating func add(_ number: UInt64, _ index: UInt32) {
    if found != nil, found?[number] == nil { found?[number] = index }
  }
}
