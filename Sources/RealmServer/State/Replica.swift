import RealmStorage

/// What the server knows of a replica, that is, of one client's file.
struct Replica: Sendable, Equatable {
  /// The number of the replica in the server's file.
  var ordinal: UInt32
  var user: String
  /// The value that the partition property has in all objects that the replica sees and creates; nil for a replica
  /// without a partition.
  var partition: Value?
  /// The version from which on the partition is an ordinary filter.
  var flexibleFrom: UInt64?
  /// The ordinals of the replicas that the same file was before.
  var predecessors: [UInt32] = []
  var isRetired = false
  var lastSequence: UInt64 = 0
  /// The hash of the last changeset; empty before the first.
  var lastHash: [UInt8] = []
  /// The greatest counter of the ids that the replica gave to elements.
  var lastElement: UInt32 = 0
  /// The stamp of the last changeset, as it was decided.
  var lastStamp = Stamp(word: 0)
  /// The objects that the replica created although their keys were in use, with the versions in which this was refused.
  /// Changes that were written on top of such a creation are refused too.
  var refusedCreations: [ObjectName: UInt64] = [:]
  /// The properties that the replica defined and the server refused, with the versions in which this was refused.
  /// Changes of such a property that the replica wrote before it was told may be refused too.
  var refusedProperties: [ObjectName: UInt64] = [:]
  var querySets: [UInt64: ClassFilters] = [:]
  /// The hashes of the messages in which the client sent the query sets, as far as they are known, by number.
  var querySetHashes: [UInt64: UInt64] = [:]

  init(ordinal: UInt32, user: String) { (self.ordinal, self.user) = (ordinal, user) }

  /// The partition that applies to changesets with a base.
  func partition(at base: UInt64) -> Value? {
    if let flexibleFrom, flexibleFrom <= base { return nil }
    return partition
  }
}
