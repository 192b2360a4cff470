import RealmStorage

/// What a client sends.
package enum ClientMessage: Sendable, Equatable {
  case hello(Hello)
  case start(SessionStart)
  case querySet(QuerySet)
  case upload(UploadMessage)
  case chunk(ValueChunk)
  /// Asks how long the log is. The server answers with the same number.
  case mark(request: UInt64)
  /// A file of the user is gone: the server need not keep anything for it. A server that does not know the message skips it.
  case retire(replica: UInt64)
  /// A message of a later version, by its odd number, which may be skipped.
  case skipped(number: UInt64)
}

/// What a server sends.
package enum ServerMessage: Sendable, Equatable {
  case welcome(Welcome)
  case step(Step)
  /// A query set can't be used; the one before it stays.
  case querySetRefused(number: UInt64, code: UInt32, text: String)
  case chunk(ValueChunk)
  case mark(request: UInt64, version: UInt64)
  /// The server keeps nothing any more for a file that the client has said to be gone.
  case retired(replica: UInt64)
  case error(ProtocolError)
  /// A message of a later version, by its odd number, which may be skipped.
  case skipped(number: UInt64)
}

/// The versions of the protocol that this library speaks.
package enum ProtocolVersion {
  package static let newest: UInt32 = 1
}

/// The first message of a connection.
package struct Hello: Sendable, Equatable {
  /// The versions of the protocol that the client speaks.
  package var versions: ClosedRange<UInt32>
  /// By name what the client can do beyond the version.
  package var capabilities: [String]
  /// Of a file that was registered before.
  package var replica: UInt64?
  /// The value of the partition property; nil of a replica without a partition.
  package var partition: Value?

  package init(
    versions: ClosedRange<UInt32>, capabilities: [String] = [], replica: UInt64? = nil,
    partition: Value? = nil
  ) {
    (self.versions, self.capabilities) = (versions, capabilities)
    (self.replica, self.partition) = (replica, partition)
  }
}

/// The answer to the first message.
package struct Welcome: Sendable, Equatable {
  package var version: UInt32
  package var capabilities: [String]
  /// What became of the file.
  package var answer: Answer
  package var limits: Limits
  /// Milliseconds since 1970 at the server.
  package var time: UInt64
  /// The property that tells the partition of an object, where the client has said hello with a partition.
  package var partitionProperty: String?

  package enum Answer: Sendable, Equatable {
    /// The file goes on.
    case known(sessionNumber: UInt64)
    /// The file is registered: as a new replica, from a version on.
    case registered(Registered)
    /// The file is to be reset: it is a new replica then, and what it has is replaced.
    case reset(Reset)
  }

  package struct Registered: Sendable, Equatable {
    package var replica: UInt64
    package var version: UInt64
    package var tag: UInt64
    package var mark: Stamp
    package var sessionNumber: UInt64

    package init(replica: UInt64, version: UInt64, tag: UInt64, mark: Stamp, sessionNumber: UInt64) {
      (self.replica, self.version, self.tag) = (replica, version, tag)
      (self.mark, self.sessionNumber) = (mark, sessionNumber)
    }
  }

  package struct Reset: Sendable, Equatable {
    package var registered: Registered
    /// The changesets of those that were named which are decided already.
    package var integrated: [NamedChangeset]
    /// What was refused of the old replica's and may not have been told.
    package var refusals: [Refusal]
    /// Somebody else may have used the old replica's identity: a copy of the file.
    package var isInDoubt: Bool

    package init(
      registered: Registered, integrated: [NamedChangeset] = [], refusals: [Refusal] = [], isInDoubt: Bool
    ) {
      (self.registered, self.integrated) = (registered, integrated)
      (self.refusals, self.isInDoubt) = (refusals, isInDoubt)
    }
  }

  package struct Limits: Sendable, Equatable {
    package var changesetBytes: UInt64
    package var valueBytes: UInt64
    package var querySets: UInt32
    /// Bytes that may be under way without an answer.
    package var bytesUnderWay: UInt64
    /// Milliseconds to wait before the second try of a connection; each further one waits twice as long.
    package var firstWait: UInt32
    package var longestWait: UInt32

    package init(
      changesetBytes: UInt64, valueBytes: UInt64, querySets: UInt32, bytesUnderWay: UInt64, firstWait: UInt32,
      longestWait: UInt32
    ) {
      (self.changesetBytes, self.valueBytes, self.querySets) = (changesetBytes, valueBytes, querySets)
      (self.bytesUnderWay, self.firstWait, self.longestWait) = (bytesUnderWay, firstWait, longestWait)
    }
  }

  package init(
    version: UInt32, capabilities: [String] = [], answer: Answer, limits: Limits, time: UInt64,
    partitionProperty: String? = nil
  ) {
    (self.version, self.capabilities, self.answer) = (version, capabilities, answer)
    (self.limits, self.time, self.partitionProperty) = (limits, time, partitionProperty)
  }
}

/// A changeset of a replica, by its sequence and the hash of what it says.
package struct NamedChangeset: Sendable, Equatable {
  package var sequence: UInt64
  package var hash: [UInt8]

  package init(sequence: UInt64, hash: [UInt8]) { (self.sequence, self.hash) = (sequence, hash) }
}

/// Where a client stands when it connects.
package struct SessionStart: Sendable, Equatable {
  package var version: UInt64
  package var tag: UInt64
  package var sessionNumber: UInt64
  /// The numbers of the query set that the client has, and of the newest one that it wants.
  package var querySet: UInt64
  package var wanted: UInt64
  /// The last changeset that it wrote, whether or not it was decided; nil before the first.
  package var last: NamedChangeset?
  /// Those that it does not know to be decided.
  package var pending: [NamedChangeset]
  /// The least base of them.
  package var leastBase: UInt64?

  package init(
    version: UInt64, tag: UInt64, sessionNumber: UInt64, querySet: UInt64, wanted: UInt64,
    last: NamedChangeset? = nil, pending: [NamedChangeset] = [], leastBase: UInt64? = nil
  ) {
    (self.version, self.tag, self.sessionNumber) = (version, tag, sessionNumber)
    (self.querySet, self.wanted, self.last) = (querySet, wanted, last)
    (self.pending, self.leastBase) = (pending, leastBase)
  }
}

/// The subscriptions of a replica: for each a class and a predicate in the query language.
package struct QuerySet: Sendable, Equatable {
  package struct Query: Sendable, Equatable {
    package var table: String
    /// Empty for all objects of the class.
    package var predicate: String

    package init(table: String, predicate: String) { (self.table, self.predicate) = (table, predicate) }
  }

  package var number: UInt64
  package var queries: [Query]

  package init(number: UInt64, queries: [Query]) { (self.number, self.queries) = (number, queries) }
}

/// A changeset on its way to the server.
package struct UploadMessage: Sendable, Equatable {
  package var sequence: UInt64
  /// The hash of the changeset before it; empty before the first.
  package var previous: [UInt8]
  package var base: UInt64
  package var stamp: Stamp
  /// The newest query set that there was when it was written.
  package var querySet: UInt64
  /// All of it is refused if any object of it is.
  package var isAllOrNothing: Bool
  /// The numbers of the replicas that ids of elements name, by their numbers in the changeset. The first is 0, which names none.
  package var replicas: [UInt64]
  package var changeset: Changeset

  package init(
    sequence: UInt64, previous: [UInt8], base: UInt64, stamp: Stamp, querySet: UInt64,
    isAllOrNothing: Bool = false, replicas: [UInt64], changeset: Changeset
  ) {
    (self.sequence, self.previous, self.base, self.stamp) = (sequence, previous, base, stamp)
    (self.querySet, self.isAllOrNothing) = (querySet, isAllOrNothing)
    (self.replicas, self.changeset) = (replicas, changeset)
  }
}

/// A part of a long value, which a changeset that follows names by its hash.
package struct ValueChunk: Sendable, Equatable {
  package var hash: [UInt8]
  package var offset: UInt64
  package var length: UInt64
  package var bytes: [UInt8]

  package init(hash: [UInt8], offset: UInt64, length: UInt64, bytes: [UInt8]) {
    (self.hash, self.offset, self.length, self.bytes) = (hash, offset, length, bytes)
  }
}

/// Why the server does not go on.
package struct ProtocolError: Error, Sendable, Equatable {
  /// What the client is to do.
  package enum Action: UInt8, Sendable {
    case tryLater = 1
    case logIn = 2
    case updateApp = 3
    case reset = 4
    /// It stops, and tells the app.
    case stop = 5
  }

  package var code: UInt32
  package var text: String
  package var action: Action
  /// Milliseconds to wait before another try.
  package var wait: UInt32

  package init(code: UInt32, text: String, action: Action, wait: UInt32 = 0) {
    (self.code, self.text, self.action, self.wait) = (code, text, action, wait)
  }
}
