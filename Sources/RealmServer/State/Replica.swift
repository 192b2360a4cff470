import RealmStorage

/// What the server knows of a replica, that is, of one client's file.
struct Replica: Sendable, Equatable {
  /// Its number in the server's file.
  var ordinal: UInt32
  var user: String
  /// The value of the partition property in all that it sees and makes.
  var partition: Value?
  /// The version from which on the partition is an ordinary filter.
  var flexibleFrom: UInt64?
  /// The ordinals of what the same file was before.
  var predecessors: [UInt32] = []
  var isRetired = false
  var lastSequence: UInt64 = 0
  /// The hash of the last changeset; empty before the first.
  var lastHash: [UInt8] = []
  /// The greatest counter of the ids that it gave to elements.
  var lastElement: UInt32 = 0
  /// The stamp of the last changeset, as it was decided.
  var lastStamp = Stamp(word: 0)
  /// Objects that it created and somebody else had, by the version in which that was refused: what was written on top of such a creation is refused too.
  var refusedCreations: [ObjectName: UInt64] = [:]
  /// Properties that it defined otherwise than they are, by the version in which that was refused: changes of them that it wrote before it was told are refused too.
  var refusedProperties: [ObjectName: UInt64] = [:]
  var querySets: [UInt64: ClassFilters] = [:]
  /// The hashes of what the client asked for with them, of those that are known.
  var querySetHashes: [UInt64: UInt64] = [:]

  init(ordinal: UInt32, user: String) { (self.ordinal, self.user) = (ordinal, user) }

  /// The partition of what was written at a base.
  func partition(at base: UInt64) -> Value? {
    if let flexibleFrom, flexibleFrom <= base { return nil }
    return partition
  }
}
