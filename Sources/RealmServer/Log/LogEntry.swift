import RealmStorage
import RealmSync

/// An entry of the log, which orders all events. Its place in the log is its version, from 1.
package struct LogRecord: Sendable, Equatable {
  /// A random number that the writer of the entry draws. Version and tag together name one state for good, even if a
  /// server goes on from an older copy of its data.
  package var tag: UInt64
  /// The time at which the entry was appended, in milliseconds since 1970.
  package var time: UInt64
  package var entry: LogEntry

  package init(tag: UInt64, time: UInt64, _ entry: LogEntry) {
    (self.tag, self.time, self.entry) = (tag, time, entry)
  }
}

package enum LogEntry: Sendable, Equatable {
  case upload(Upload)
  case register(Registration)
  /// Retires a replica. No upload of it is accepted any more.
  case retire(replica: UInt64)
  /// Makes the partition of a replica an ordinary filter.
  case flexible(replica: UInt64)
  /// Sets the rules of a user. If `user` is nil, they apply to all users that have no rules of their own.
  case rules(user: String?, AccessRules)
  /// Sets the data of a user: the values by name. Rules may refer to these names.
  case user(String, [String: [Value]])
  /// Changes nothing. An idle server appends such an entry once in a while to note the time, so that a wrong clock can
  /// be detected.
  case time
  /// Sets the rules of merging, by their number, that apply to the entries behind this one.
  case semantics(UInt64)
  /// The hash of what a node has computed from the log up to a version. A node that has computed another hash stops.
  case stateHash(version: UInt64, [UInt8])
  /// Adds a query set to a replica, if its number is greater than those of all query sets of the replica. The query
  /// sets with numbers below `oldest` are not named any more. The hash is that of the client's message, by which a copy
  /// of its file is detected. It is 0 if it is not known.
  case querySet(replica: UInt64, number: UInt64, oldest: UInt64 = 0, hash: UInt64 = 0, ClassFilters)
  /// Makes the server forget the history of the versions up to this one. The objects themselves stay.
  case trim(horizon: UInt64)
}

/// A changeset of a replica.
package struct Upload: Sendable, Equatable {
  package var replica: UInt64
  package var user: String
  package var sequence: UInt64
  /// The hash of the changeset before this one; empty for the first changeset of the replica.
  package var previous: [UInt8]
  /// The hash of this changeset (`UploadMessage.hash`).
  package var hash: [UInt8]
  package var base: UInt64
  package var stamp: Stamp
  /// The numbers of two query sets: the newest one when the changeset was written, and the one in force when it was
  /// appended.
  package var querySets: [UInt64]
  /// The replicas that the element ids in the changeset name. An element id has an index into this list. The index 0
  /// stands for no replica.
  package var replicas: [UInt64]
  package var changeset: Changeset

  package static let hashLength = 32

  package init(
    replica: UInt64, user: String, sequence: UInt64, previous: [UInt8], hash: [UInt8], base: UInt64,
    stamp: Stamp, querySets: [UInt64], replicas: [UInt64], changeset: Changeset
  ) {
    (self.replica, self.user, self.sequence) = (replica, user, sequence)
    (self.previous, self.hash, self.base, self.stamp) = (previous, hash, base, stamp)
    (self.querySets, self.replicas, self.changeset) = (querySets, replicas, changeset)
  }
}

package struct Registration: Sendable, Equatable {
  /// The number of the new replica. It is drawn at random, and no other replica ever gets it.
  package var replica: UInt64
  package var user: String
  /// The value that the partition property has in all objects that the replica sees and creates; nil for a replica
  /// without a partition.
  package var partition: Value?
  /// The replica that the same file was before it was reset; nil if there is none.
  package var predecessor: UInt64?

  package init(replica: UInt64, user: String, partition: Value? = nil, predecessor: UInt64? = nil) {
    (self.replica, self.user) = (replica, user)
    (self.partition, self.predecessor) = (partition, predecessor)
  }
}
