import RealmStorage

/// A message that a client sends.
package enum ClientMessage: Sendable, Equatable {
  case hello(Hello)
  case start(SessionStart)
  case querySet(QuerySet)
  case upload(UploadMessage)
  case chunk(ValueChunk)
  /// Asks for the version at which the log ends. The server answers with the same number.
  case mark(request: UInt64)
  /// Says that a file of the user is gone, so that the server need not keep anything for it. A server that does not
  /// know the message skips it.
  case retire(replica: UInt64)
  /// A message of a later version, by its odd number. It may be skipped.
  case skipped(number: UInt64)
}

/// A message that a server sends.
package enum ServerMessage: Sendable, Equatable {
  case welcome(Welcome)
  case step(Step)
  /// Says that a query set can't be used. The query set before it stays in force.
  case querySetRefused(number: UInt64, code: UInt32, text: String)
  case chunk(ValueChunk)
  case mark(request: UInt64, version: UInt64)
  /// Says that the server keeps nothing any more for a file that the client reported as gone.
  case retired(replica: UInt64)
  case error(ProtocolError)
  /// A message of a later version, by its odd number. It may be skipped.
  case skipped(number: UInt64)
}

/// The versions of the protocol that this library speaks.
package enum ProtocolVersion {
  package static let newest: UInt32 = 1
}

/// The first message of a channel.
package struct Hello: Sendable, Equatable {
  /// The versions of the protocol that the client speaks.
  package var versions: ClosedRange<UInt32>
  /// The names of what the client can do beyond the version.
  package var capabilities: [String]
  /// The number of the replica, of a file that was registered before; otherwise nil.
  package var replica: UInt64?
  /// The value of the partition property; nil for a replica without a partition.
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
  /// The state of the file at the server.
  package var answer: Answer
  package var limits: Limits
  /// The time of the server, in milliseconds since 1970.
  package var time: UInt64
  /// The property that tells the partition of an object, if the client has said hello with a partition.
  package var partitionProperty: String?

  package enum Answer: Sendable, Equatable {
    /// The server knows the file, and the file goes on.
    case known(sessionNumber: UInt64)
    /// The file is registered as a new replica, from a version on.
    case registered(Registered)
    /// The file has to be reset. It becomes a new replica, and its content is replaced.
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
    /// The changesets that the start named as pending and that are decided already.
    package var integrated: [NamedChangeset]
    /// The refusals of the old replica that may not have been told.
    package var refusals: [Refusal]
    /// True if somebody else may have used the identity of the old replica, that is, a copy of the file.
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
    /// The number of bytes that may be sent before a step tells that they are decided.
    package var bytesUnderWay: UInt64
    /// The milliseconds to wait before the client tries to connect again. Each further wait is twice as long, up to
    /// `longestWait`.
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

/// A changeset of a replica, by its sequence and its hash.
package struct NamedChangeset: Sendable, Equatable {
  package var sequence: UInt64
  package var hash: [UInt8]

  package init(sequence: UInt64, hash: [UInt8]) { (self.sequence, self.hash) = (sequence, hash) }
}

/// The state of a client when it connects.
package struct SessionStart: Sendable, Equatable {
  package var version: UInt64
  package var tag: UInt64
  package var sessionNumber: UInt64
  /// The number of the query set whose view the client has, and the number of the newest one, which it wants.
  package var querySet: UInt64
  package var wanted: UInt64
  /// The last changeset that the client wrote, whether or not it was decided; nil before the first.
  package var last: NamedChangeset?
  /// The changesets that the client does not know to be decided.
  package var pending: [NamedChangeset]
  /// The least base of the pending changesets.
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

/// The subscriptions of a replica. Each is a class and a predicate in the query language.
package struct QuerySet: Sendable, Equatable {
  package struct Query: Sendable, Equatable {
    package var table: String
    /// The predicate; empty for all objects of the class.
    package var predicate: String

    package init(table: String, predicate: String) { (self.table, self.predicate) = (table, predicate) }
  }

  package var number: UInt64
  package var queries: [Query]

  package init(number: UInt64, queries: [Query]) { (self.number, self.queries) = (number, queries) }
}

/// A changeset that a client sends to the server.
package struct UploadMessage: Sendable, Equatable {
  package var sequence: UInt64
  /// The hash of the changeset before it; empty for the first changeset.
  package var previous: [UInt8]
  package var base: UInt64
  package var stamp: Stamp
  /// The number of the newest query set when the changeset was written.
  package var querySet: UInt64
  /// True if the whole changeset is refused when any object of it is refused.
  package var isAllOrNothing: Bool
  /// The numbers of the replicas, by the numbers that ids of elements in the changeset use for them. The first is 0 and
  /// names no replica.
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

/// A part of a long value, which a later changeset names by its hash.
package struct ValueChunk: Sendable, Equatable {
  package var hash: [UInt8]
  package var offset: UInt64
  package var length: UInt64
  package var bytes: [UInt8]

  package init(hash: [UInt8], offset: UInt64, length: UInt64, bytes: [UInt8]) {
    (self.hash, self.offset, self.length, self.bytes) = (hash, offset, length, bytes)
  }
}

/// The reason why the server ends the session.
package struct ProtocolError: Error, Sendable, Equatable {
  /// The action that the client takes.
  package enum Action: UInt8, Sendable {
    case tryLater = 1
    case logIn = 2
    case updateApp = 3
    case reset = 4
    /// The client stops, and tells the app.
    case stop = 5
  }

  package var code: UInt32
  package var text: String
  package var action: Action
  /// The least number of milliseconds to wait before the next try.
  package var wait: UInt32

  package init(code: UInt32, text: String, action: Action, wait: UInt32 = 0) {
    (self.code, self.text, self.action, self.wait) = (code, text, action, wait)
  }
}
