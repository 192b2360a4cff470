import RealmStorage
import RealmSync

/// An entry of the log, which orders all that happens. Its place in the log is its version, from 1.
package struct LogRecord: Sendable, Equatable {
  /// A random number, drawn by who appends the entry: with the version it names a state for good, also where a server goes on from an older copy.
  package var tag: UInt64
  /// When it was appended, in milliseconds since 1970.
  package var time: UInt64
  package var entry: LogEntry

  package init(tag: UInt64, time: UInt64, _ entry: LogEntry) {
    (self.tag, self.time, self.entry) = (tag, time, entry)
  }
}

package enum LogEntry: Sendable, Equatable {
  case upload(Upload)
  case register(Registration)
  /// A replica uploads nothing any more.
  case retire(replica: UInt64)
  /// A replica's partition becomes an ordinary filter.
  case flexible(replica: UInt64)
  /// The rules of a user, or, without one, of all users that have none of their own.
  case rules(user: String?, AccessRules)
  /// What is known of a user: rules may ask for it by name.
  case user(String, [String: [Value]])
  /// Nothing but the time: a server that was idle notes it once in a while, so that a clock that is wrong is found.
  case time
  /// The entries that follow are integrated by other rules of merging, by their number.
  case semantics(UInt64)
  /// What a node has made of the log up to a version. A node that has made something else of it stops.
  case stateHash(version: UInt64, [UInt8])
  /// A query set of a replica, which is newer than all that it has. Those older than `oldest` are not named any more. The hash is of what the client asked for, by which a copy of its file is found; 0 where it is not known.
  case querySet(replica: UInt64, number: UInt64, oldest: UInt64 = 0, hash: UInt64 = 0, ClassFilters)
  /// The server forgets what it knows of the versions up to this one, but for the state itself.
  case trim(horizon: UInt64)
}

/// A changeset of a replica.
package struct Upload: Sendable, Equatable {
  package var replica: UInt64
  package var user: String
  package var sequence: UInt64
  /// The hash of the changeset before it; empty before the first.
  package var previous: [UInt8]
  /// That of the changeset (`UploadMessage.hash`).
  package var hash: [UInt8]
  package var base: UInt64
  package var stamp: Stamp
  /// The newest query set that there was when it was written, and the one in force when it was appended.
  package var querySets: [UInt64]
  /// The replicas that element ids name, by their numbers in the changeset. The number 0 is none.
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
  /// Drawn at random, and never given twice.
  package var replica: UInt64
  package var user: String
  /// The value of the partition property in all that the replica sees and makes; nil of one without.
  package var partition: Value?
  /// The replica that the same file was before.
  package var predecessor: UInt64?

  package init(replica: UInt64, user: String, partition: Value? = nil, predecessor: UInt64? = nil) {
    (self.replica, self.user) = (replica, user)
    (self.partition, self.predecessor) = (partition, predecessor)
  }
}
